# SPDX-License-Identifier: Apache-2.0
"""One signal through the gates: its share of the lost time, and whether it is a candidate."""

import statistics
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tare.analyze.attribution.excess import Excess
from tare.analyze.attribution.known import known, may_cause, title_of
from tare.records import Clue, Correlation, Estimate, Ground
from tare.statistics.median import median_estimate

LEAST_SHARE = 0.05
"""Of the lost time: a signal with a smaller share is no candidate."""
LEVEL = 0.05
_SECONDS = "s"
_HERTZ = "Hz"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """Scale by which the signals of one environment are measured."""

    established: bool
    """Whether there is an overhead to explain."""
    accountable: bool
    """Whether a loss of wall time is certain, so that shares of it are meaningful."""
    lost_s: float
    """Approximate loss per trial, to dismiss what cannot have mattered."""
    timeout_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Chances:
    """P-values of one signal under the null hypothesis."""

    alone: float
    """By its ranks among the natives, unadjusted."""
    adjusted: float
    """Adjusted over all signals."""
    correlation: Correlation | None


def clue_of(excess: Excess, gauge: Gauge, chances: Chances) -> Clue:
    signal = excess.signal
    share = _share(excess, gauge)
    return Clue(
        signal=signal.name,
        title=title_of(signal.name, signal.scope),
        unit=signal.unit,
        scope=signal.scope,
        excess=median_estimate(excess.beyond.tolist()),
        native=_usual(excess),
        chance=chances.adjusted,
        share=share,
        correlation=chances.correlation,
        grounds=tuple(_grounds(excess, gauge, chances, share)) if gauge.established else (),
    )


def times_s(excess: Excess, gauge: Gauge) -> NDArray[np.float64] | None:
    """The lost time that it accounts for, block by block; ``None`` when unknown."""
    if excess.signal.lost_time:
        return excess.beyond
    return gauge.timeout_s * excess.beyond if known(excess.signal.name).timeout else None


def _usual(excess: Excess) -> float:
    """The natives' median; numpy's own loads all of its masked arrays first."""
    return statistics.median(excess.native_values.ravel().tolist())


def _share(excess: Excess, gauge: Gauge) -> Estimate | None:
    """Median over the blocks that lost time: the exact interval of a median holds for ratios, whatever their tails."""
    values = times_s(excess, gauge)
    losing = excess.lost_s > 0
    if values is None or not gauge.accountable or not losing.any():
        return None
    return median_estimate((values[losing] / excess.lost_s[losing]).tolist())


def _grounds(excess: Excess, gauge: Gauge, chances: Chances, share: Estimate | None) -> Iterator[Ground]:
    if not may_cause(excess.signal.name, excess.signal.unit) or not _is_material(excess, gauge):
        return
    beyond_null = chances.adjusted <= LEVEL
    if beyond_null and share is not None and _is_accepted(share):
        yield Ground.TIME
    if beyond_null and share is None:
        yield Ground.EVENTS
    if chances.alone <= LEVEL and _goes_along(
        chances.correlation, falling=known(excess.signal.name).less_is_worse
    ):
        yield Ground.SPREAD


def _is_accepted(share: Estimate) -> bool:
    return share.point > LEAST_SHARE and share.low is not None and share.low > 0


def _goes_along(correlation: Correlation | None, *, falling: bool) -> bool:
    if correlation is None or correlation.chance > LEVEL:
        return False
    return correlation.r < 0 if falling else correlation.r > 0


def _is_material(excess: Excess, gauge: Gauge) -> bool:
    """Whether it can have cost ``LEAST_SHARE`` of the loss at its highest cost per event."""
    about = known(excess.signal.name)
    if excess.signal.unit == _HERTZ:
        return _usual(excess) > 0
    mean = float(np.mean(excess.beyond))  # events that explain spikes are in few blocks
    if excess.signal.unit == _SECONDS:
        return mean > LEAST_SHARE * gauge.lost_s
    most_event_s = about.most_event_s
    return mean > 0 and (most_event_s is None or mean * most_event_s > LEAST_SHARE * gauge.lost_s)
