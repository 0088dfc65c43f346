# SPDX-License-Identifier: Apache-2.0
"""Several runs of one command within one start of the nodes, in a stated order (docs/order.md)."""

from dataclasses import dataclass
from enum import StrEnum


class Ordering(StrEnum):
    """The order of an order experiment's values within one start."""

    ASCENDING = "ascending"
    DESCENDING = "descending"
    RANDOM = "random"


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """The runs of a trial of an order experiment: the workload with one value of an option after the other."""

    option: str
    """An option of the workload."""
    ordering: Ordering
    values: tuple[int | float, ...]
    """The option's values, in the order in which they run."""
