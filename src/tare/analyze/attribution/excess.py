# SPDX-License-Identifier: Apache-2.0
"""What an environment had of a signal beyond native, block by block, had native run as long.

A longer run collects more of everything that comes by itself. So each native value is stretched to the environment's
wall time, where that is longer, and only what lies beyond counts. Work-driven counts are thereby held to more than they
need to be; no signal becomes a candidate by length alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tare.analyze.attribution.known import known
from tare.records import BlockFacts, SignalEvidence, SignalSummary


@dataclass(frozen=True, slots=True, eq=False)
class Excess:
    """One signal, in the blocks that have it; in its unit per trial, sums over threads divided by these."""

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
        """(blocks,): environment less the mean of the stretched natives."""
        difference: NDArray[np.float64] = self.environment - self.native.mean(axis=1)
        return difference


def excess_of(signal: SignalSummary, evidence: SignalEvidence) -> Excess:
    facts = {block.block: block for block in evidence.blocks}
    own = [facts[block.block] for block in signal.blocks]
    divisors, native_divisors = _divisors(signal, own)
    native = np.array([block.native for block in signal.blocks]).reshape(-1, 2) / native_divisors
    return Excess(
        signal=signal,
        environment=np.array([block.environment for block in signal.blocks]) / divisors,
        native=native * _stretch(signal, own),
        lost_s=np.array([lost_s(block) for block in own]),
        native_values=native,
    )


def lost_s(block: BlockFacts) -> float:
    """Wall time beyond the mean of the natives'."""
    return block.environment.wall_s - (block.native[0].wall_s + block.native[1].wall_s) / 2


def _stretch(signal: SignalSummary, blocks: Sequence[BlockFacts]) -> NDArray[np.float64]:
    """(blocks, 2): how much longer the environment ran than each native; 1 where it did not."""
    if known(signal.name).level:
        return np.ones((len(blocks), 2))
    walls_s = np.array([[run.wall_s for run in block.native] for block in blocks]).reshape(-1, 2)
    own_s = np.array([block.environment.wall_s for block in blocks])[:, None]
    stretch: NDArray[np.float64] = np.maximum(own_s / walls_s, 1.0)
    return stretch


def _divisors(
    signal: SignalSummary, blocks: Sequence[BlockFacts]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of the environment (blocks,) and of the natives (blocks, 2)."""
    if not (signal.lost_time and known(signal.name).summed):
        return np.ones(len(blocks)), np.ones((len(blocks), 2))
    own = np.array([block.environment.runnable_threads for block in blocks])
    native = np.array([[run.runnable_threads for run in block.native] for block in blocks]).reshape(-1, 2)
    return own, native
