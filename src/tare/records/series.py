# SPDX-License-Identifier: Apache-2.0
"""Several runs of one command within one start of the nodes, in a stated order (docs/order.md)."""

from dataclasses import dataclass
from enum import StrEnum


class Ordering(StrEnum):
    """In which order the values of an order experiment follow each other within one start."""

    ASCENDING = "ascending"
    DESCENDING = "descending"
    RANDOM = "random"


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """The runs of a trial of an order experiment: the workload with one option after the other's value."""

    option: str
    """Of the workload's."""
    ordering: Ordering
    values: tuple[int | float, ...]
    """Of the option, in the order in which they run."""
