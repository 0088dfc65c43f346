# SPDX-License-Identifier: Apache-2.0
"""CPU time against wall time, as the nodes report them (Luszczek and others 2012; docs/method.md)."""

from dataclasses import dataclass

from tare.records.treated import Cell
from tare.statistics.estimate import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerSummary:
    """One environment in one cell, block by block; only blocks in which all three trials are known."""

    cell: Cell
    environment: str
    log_ratios: tuple[float, ...]
    """ln(rho here) - mean of the natives' ln(rho); rho is the CPU time that the node reports over the wall time of its
    processors minus their known waiting time."""
    control_log_ratios: tuple[float, ...]
    """The same for native's second trial against its first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerAgreement:
    """Whether CPU time relates to wall time as on native."""

    summary: TimerSummary
    difference: Estimate
    """Rho against native's, as a fraction."""
    band: Estimate
    """Native against native."""
    disagrees: bool
    """The whole interval of the difference lies outside the band's."""
