# SPDX-License-Identifier: Apache-2.0
"""Checks of the values behind an interval, and of CPU time against wall time (docs/method.md)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from tare.records.treated import Cell
from tare.statistics.estimate import Estimate


class Check(StrEnum):
    """What may be wrong with the log-ratios of the blocks."""

    AUTOCORRELATION = "autocorrelation"
    DRIFT = "drift"
    CHANGE_POINT = "change point"
    CARRY_OVER = "carry-over"
    MODES = "two modes"
    SYMMETRY = "symmetry"
    NORMALITY = "normality"


class Effect(StrEnum):
    """What follows when a check finds something."""

    WIDENS = "widens the interval"
    QUALIFIES = "qualifies the verdict"
    STORED = "decides nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The outcome of one check on one summary."""

    check: Check
    effect: Effect
    """The consequence of a positive finding."""
    statistic: float
    limit: float | None
    """The largest unremarkable statistic; ``None`` where ``p`` decides."""
    p: float | None
    n: int
    found: bool
    sentence: str
    """What was found; empty when nothing was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Predecessors:
    """What ran before each trial of one environment."""

    cell: Cell
    environment: str
    before: Mapping[int, str]
    """Block → the environment whose whole run ended just before, in whichever cell; "nothing": none did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSpeed:
    """How fast a host of the campaign's list is, by a fixed work on all its processors."""

    host: str
    slower: Estimate
    """How much more time it takes than the median of the others, as a fraction; a negative one is faster."""
    is_slow: bool
    """Whether it is certainly slower by more than 5 %, judged with all hosts together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTime:
    """What the hosts of one native run took, both natives of the block together."""

    cell: Cell
    block: int
    hosts: tuple[str, ...]
    """All that had a part in it, in the order of their names."""
    log_time: float
    """ln(time per work)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTimes:
    """A primary metric of a workload by hosts, over all cells."""

    workload: str
    metric: str
    times: tuple[HostTime, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostEffect:
    """How a host of the campaign's list differs from the others in one metric of a workload."""

    workload: str
    metric: str
    host: str
    slower: Estimate
    """How much more time a run takes with it in place of one of the others, as a fraction."""
    is_slow: bool
    """Whether that is certainly more than 5 %, judged with all hosts together."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class HostExcess:
    """A signal of which one host of the campaign's list certainly has more than the others, over all trials."""

    host: str
    signal: str
    unit: str
    """``1``: of the time of its processors in the trials; ``1/s``: events per second."""
    own: float
    """Mean over the blocks."""
    excess: Estimate
    """Beyond the median of the other hosts; judged with all hosts and signals together (Bonferroni)."""
