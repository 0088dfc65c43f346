# SPDX-License-Identifier: Apache-2.0
"""Signals of one environment against native's, over all blocks."""

from collections.abc import Mapping
from dataclasses import dataclass

from tare.records.signals import Scope
from tare.records.treated import Cell
from tare.statistics.estimate import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalDifference:
    """One signal: how much more of it a trial here has than a native one of the same block."""

    name: str
    unit: str
    scope: Scope
    native: float
    """Median over blocks of the mean of both native slots, in ``unit``."""
    difference: Estimate
    """Median over blocks, in ``unit``, with its exact interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalTable:
    """All signals of one environment in one cell."""

    cell: Cell
    environment: str
    differences: tuple[SignalDifference, ...]
    missing: Mapping[str, str]
    """Signals that no trial of this environment has → why."""
