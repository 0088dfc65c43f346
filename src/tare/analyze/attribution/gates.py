# SPDX-License-Identifier: Apache-2.0
"""One signal through the gates: its share of the lost time, and whether it is a candidate."""

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tare.analyze.attribution.known import known, may_cause, title_of
from tare.records import BlockFacts, Clue, Correlation, Estimate, Ground, SignalEvidence, SignalSummary
from tare.statistics.median import median_estimate

LEAST_SHARE = 0.05
"""Of the lost time: a signal with a smaller share is no candidate."""
LEVEL = 0.05
_SECONDS = "s"
_HERTZ = "Hz"


@dataclass(frozen=True, slots=True, eq=False)
class Excess:
    """One signal, in the blocks that have it; in its unit per trial, sums over threads divided by their number."""

    signal: SignalSummary
    environment: NDArray[np.float64]
    """(blocks,)"""
    native: NDArray[np.float64]
    """(blocks, 2): the two native slots, stretched."""
    lost_s: NDArray[np.float64]
    """(blocks,): wall time beyond native, in the same blocks."""
    native_values: NDArray[np.float64]
    """(blocks, 2): unstretched."""

    @property
    def beyond(self) -> NDArray[np.float64]:
        """(blocks,): environment minus the mean of the stretched natives."""
        difference: NDArray[np.float64] = self.environment - self.native.mean(axis=1)
        return difference


def excesses_of(evidence: SignalEvidence) -> list[Excess]:
    """Excesses of all its signals.

    A longer run collects more of everything that happens by itself. So each native value is stretched to the
    environment's wall time, where that is longer, and only the excess counts. For counts driven by work this is
    stricter than needed, but no signal becomes a candidate by length alone.
    """
    runs = _Runs.of(evidence.blocks)
    places = {block.block: place for place, block in enumerate(evidence.blocks)}
    return [
        _excess(signal, runs.at([places[block.block] for block in signal.blocks]))
        for signal in evidence.signals
    ]


def lost_s(block: BlockFacts) -> float:
    """Wall time beyond the natives' mean."""
    return block.environment.wall_s - (block.native[0].wall_s + block.native[1].wall_s) / 2


@dataclass(frozen=True, slots=True, eq=False)
class _Runs:
    """Facts on the runs of some blocks: environment (blocks,), natives (blocks, 2)."""

    wall_s: NDArray[np.float64]
    native_wall_s: NDArray[np.float64]
    threads: NDArray[np.float64]
    native_threads: NDArray[np.float64]
    lost_s: NDArray[np.float64]

    @classmethod
    def of(cls, blocks: Sequence[BlockFacts]) -> "_Runs":
        native = [run for block in blocks for run in block.native]
        return cls(
            wall_s=np.array([block.environment.wall_s for block in blocks]),
            native_wall_s=np.array([run.wall_s for run in native]).reshape(-1, 2),
            threads=np.array([block.environment.runnable_threads for block in blocks]),
            native_threads=np.array([run.runnable_threads for run in native]).reshape(-1, 2),
            lost_s=np.array([lost_s(block) for block in blocks]),
        )

    def at(self, places: Sequence[int]) -> "_Runs":
        own = np.array(places, dtype=np.intp)
        return _Runs(
            wall_s=self.wall_s[own],
            native_wall_s=self.native_wall_s[own],
            threads=self.threads[own],
            native_threads=self.native_threads[own],
            lost_s=self.lost_s[own],
        )


def _excess(signal: SignalSummary, runs: _Runs) -> Excess:
    own = np.array([block.environment for block in signal.blocks])
    native = np.array([block.native for block in signal.blocks]).reshape(-1, 2)
    if signal.lost_time and known(signal.name).summed:
        own, native = own / runs.threads, native / runs.native_threads
    return Excess(
        signal=signal,
        environment=own,
        native=native * _stretch(signal, runs),
        lost_s=runs.lost_s,
        native_values=native,
    )


def _stretch(signal: SignalSummary, runs: _Runs) -> NDArray[np.float64]:
    """(blocks, 2): factor by which the environment ran longer than each native; 1 where it did not."""
    if known(signal.name).level:
        return np.ones_like(runs.native_wall_s)
    stretch: NDArray[np.float64] = np.maximum(runs.wall_s[:, None] / runs.native_wall_s, 1.0)
    return stretch


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
