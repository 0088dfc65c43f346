# SPDX-License-Identifier: Apache-2.0
"""An environment's excess of a signal over native, block by block, had native run as long.

A longer run collects more of everything that happens by itself. So each native value is stretched to the environment's
wall time, where that is longer, and only the excess counts. For counts driven by work this is stricter than needed, but
no signal becomes a candidate by length alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tare.analyze.attribution.known import known
from tare.records import BlockFacts, SignalEvidence, SignalSummary


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
    """Excesses of all its signals."""
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
