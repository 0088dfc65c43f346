# SPDX-License-Identifier: Apache-2.0
"""Samples as columns, for results too large for records; not exported by ``tare.records``, as numpy loads slowly."""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tare.records.measured import Coordinate, Direction

NONE = -1
"""In a column of integers: no value."""
Record = TypeVar("Record")


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleKind:
    """What the samples of one metric have in common."""

    name: str
    unit: str
    direction: Direction
    coordinates: tuple[Coordinate, ...]
    first: bool
    """Whether it is the first of several iterations, which is never mixed with the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleColumns:
    """The samples of whole trials, one row each, ordered by trial, kind, iteration and instance."""

    trial: NDArray[np.int32]
    """Index of the outcome, in the journal's order."""
    kind: NDArray[np.int32]
    """Index of the ``SampleKind``; within a trial in the order in which the workload reported them."""
    iteration: NDArray[np.int32]
    """``NONE``: there was one."""
    instance: NDArray[np.int32]
    """``NONE``: for the whole trial."""
    value: NDArray[np.float64]


def filled(kind: type[Record], columns: Mapping[str, Iterable[object]], count: int) -> list[Record]:
    """Build ``count`` records with these fields, in a fraction of the time that their constructor takes.

    Nothing is checked: the values belong to records that were checked when they were read.
    """
    made = list(map(object.__new__, repeat(kind, count)))
    for name, values in columns.items():
        deque(map(getattr(kind, name).__set__, made, values), maxlen=0)
    return made
