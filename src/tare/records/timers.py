# SPDX-License-Identifier: Apache-2.0
"""CPU time against wall time, as the nodes tell them (Luszczek and others 2012; docs/method.md)."""

from dataclasses import dataclass

from tare.records.treated import Cell
from tare.statistics.estimate import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerSummary:
    """One environment in one cell, block by block; blocks in which all three trials are known."""

    cell: Cell
    environment: str
    log_ratios: tuple[float, ...]
    """ln(rho here) - mean of the natives' ln(rho); rho is the CPU time that the node reports over the wall time
    that its processors had, less what they are known to have waited."""
    control_log_ratios: tuple[float, ...]
    """The same of native's second trial against its first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerAgreement:
    """Whether CPU time stands to wall time as it does natively."""

    summary: TimerSummary
    difference: Estimate
    """Of rho against native's, as a fraction."""
    band: Estimate
    """Native against native."""
    disagrees: bool
    """The whole interval of the difference lies outside of the band's."""
