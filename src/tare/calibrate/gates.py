# SPDX-License-Identifier: Apache-2.0
"""Gates from counts and intervals: the forms that phases share, and the number of misses that a gate forgives."""

from collections.abc import Callable
from dataclasses import dataclass

from tare.calibrate.evidence import Evidence, Series, experiments
from tare.records import Estimate, Gate, Passing
from tare.statistics.contrasts import Contrast, joined
from tare.statistics.distributions import binomial_beyond
from tare.statistics.estimate import as_fraction

POOLED_LEVEL = 0.99
LEVEL = 0.95
MISS = 0.05
"""Chance of a miss for an interval that keeps its 95 %."""
FALSE_ALARM = 0.01
"""Largest chance that a sound interval fails a gate."""


def most_misses(experiments: int, miss: float = MISS, false_alarm: float = FALSE_ALARM) -> int:
    """Find the smallest c with P(X > c) <= ``false_alarm`` for X binomial with ``experiments`` tries of ``miss``.

    6 of 40, 7 of 60, 11 of 100, 12 of 120, 18 of 200. ``ValueError`` without experiments.
    """
    if experiments < 1:
        raise ValueError("no experiments to count misses in")
    allowed = int(experiments * miss)  # the expected number, beyond which lies about half of the chance
    while binomial_beyond(allowed, experiments, miss) > false_alarm:
        allowed += 1
    return allowed


@dataclass(frozen=True, slots=True)
class Named:
    """Identity and claim of a gate."""

    phase: str
    name: str
    claim: str

    def passed(self, good: bool, seen: str) -> Gate:
        """Give a gate about figures."""
        return self._gate(Passing.PASSED if good else Passing.FAILED, seen)

    def noted(self, seen: str) -> Gate:
        """Give figures without a requirement."""
        return self._gate(Passing.NOTED, seen)

    def not_run(self, why: str) -> Gate:
        """Give a gate that has nothing to judge."""
        return self._gate(Passing.NOT_RUN, why)

    def counted(self, count: int, of: int, allowed: int, beside: str = "") -> Gate:
        """Give a gate about a number of events."""
        return Gate(
            phase=self.phase,
            name=self.name,
            claim=self.claim,
            passing=Passing.PASSED if count <= allowed else Passing.FAILED,
            seen=f"{count} of {of}{beside}",
            count=count,
            of=of,
            allowed=allowed,
        )

    def _gate(self, passing: Passing, seen: str) -> Gate:
        return Gate(phase=self.phase, name=self.name, claim=self.claim, passing=passing, seen=seen)


def misses(named: Named, evidence: Evidence, series: Series, truth: float) -> Gate:
    """Count the experiments whose 95 % interval does not contain ``truth``, a fraction."""

    def missed(contrast: Contrast) -> bool:
        return not holds(as_fraction(evidence.estimator.interval(contrast, 1 - LEVEL)), truth)

    return count(named, series, missed)


def count(named: Named, series: Series, happened: Callable[[Contrast], bool]) -> Gate:
    """Count the experiments in which ``happened`` holds; as many as a rate of 5 % can give are forgiven."""
    cut = experiments(series)
    if not cut:
        return named.not_run("too few complete blocks for an experiment")
    return named.counted(sum(map(happened, cut)), len(cut), most_misses(len(cut)))


def pooled_estimate(evidence: Evidence, series: Series) -> Estimate | None:
    """The estimate of all blocks together with its 99 % interval; ``None`` with too few blocks."""
    contrast = joined(series)
    if not contrast.log_ratios:
        return None
    estimate = as_fraction(evidence.estimator.interval(contrast, 1 - POOLED_LEVEL))
    return None if estimate.low is None else estimate


def holds(estimate: Estimate, truth: float) -> bool:
    """Whether the interval exists and contains ``truth``."""
    return estimate.low is not None and estimate.high is not None and estimate.low <= truth <= estimate.high


def meets(estimate: Estimate, low: float, high: float) -> bool:
    """Whether the interval and the range from ``low`` to ``high`` overlap."""
    return (
        estimate.low is not None
        and estimate.high is not None
        and estimate.low <= high
        and low <= estimate.high
    )


def lies_within(estimate: Estimate, low: float, high: float) -> bool:
    """Whether the whole interval lies inside the range."""
    return (
        estimate.low is not None
        and estimate.high is not None
        and low <= estimate.low
        and estimate.high <= high
    )


def percent(fraction: float) -> str:
    """For example ``+4.92 %``."""
    return f"{fraction * 100:+.2f} %"


def told(estimate: Estimate) -> str:
    """Point, interval, level and count."""
    if estimate.low is None or estimate.high is None:
        return f"{percent(estimate.point)}, no interval (n = {estimate.n})"
    level = f"{estimate.level * 100:.3g} %"
    return f"{percent(estimate.point)}, {level}: {percent(estimate.low)} to {percent(estimate.high)} (n = {estimate.n})"
