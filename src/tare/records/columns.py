# SPDX-License-Identifier: Apache-2.0
"""Samples as columns, for results with too many to be records; no part of ``tare.records``, as numpy loads slowly."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tare.records.measured import Direction

NONE = -1
"""In a column of whole numbers: there is no such number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleKind:
    """What the samples of one metric have in common."""

    name: str
    unit: str
    direction: Direction
    x: float | None
    x_unit: str | None
    first: bool
    """Of the first of several iterations, which is never mixed with the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleColumns:
    """The samples of whole trials: a row each, trial by trial, kind by kind, iteration by iteration, by instance."""

    trial: NDArray[np.int32]
    """Which outcome, in the journal's order."""
    kind: NDArray[np.int32]
    """Which ``SampleKind``; within a trial in the order in which the workload reported them."""
    iteration: NDArray[np.int32]
    """``NONE``: there was one."""
    instance: NDArray[np.int32]
    """``NONE``: of the whole trial."""
    value: NDArray[np.float64]
