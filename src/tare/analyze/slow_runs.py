# SPDX-License-Identifier: Apache-2.0
"""Rare slow runs, which a typical overhead does not show, and what they may cost in the mean at most.

A sample without a slow run says little about how rare they are: where one run in twenty is slow, 60 of 100 samples of
ten show none. So their rate is bounded by Clopper and Pearson's one-sided limits (Biometrika 26 (1934) 404-413).

In turns there are two kinds. A slice is slow beside the others of its own start, and a start is slow beside the other
two of its block; neither hides or makes the other. Slices of one start share its luck, so they say nothing about how
often a start is slow: one block is one start, however many slices it has.
"""

import math
from collections.abc import Sequence
from statistics import fmean, median

from tare.records import BlockRounds, SlowRuns, Summary
from tare.statistics.distributions import beta_quantile
from tare.statistics.estimate import fraction

SLOW = 0.2
"""A run is slow if it exceeds the middle one by more than this fraction."""
ASSUMED_COST = 0.5
"""Least extra time of a slow run, as a fraction, where fewer were seen than there may be."""
_LEVEL = 0.95


def slow_runs(summary: Summary, blocks: int | None = None) -> SlowRuns:
    """Count slow runs in the blocks with numbers below ``blocks``; for arms that took turns each slice is a run."""
    rounds = [block.rounds for block in summary.blocks if blocks is None or block.block < blocks]
    known = [block for block in rounds if block is not None]
    return _slow_slices(known) if known else _slow_blocks(summary, blocks)


def slow_starts(summary: Summary, blocks: int | None = None) -> SlowRuns | None:
    """Count blocks of which an arm was typically slow, in turns; ``None`` where ``slow_runs`` counts them."""
    in_turns = any(block.rounds is not None for block in summary.blocks)
    return _slow_blocks(summary, blocks) if in_turns else None


def _slow_blocks(summary: Summary, blocks: int | None) -> SlowRuns:
    """Each arm of a block against the middle one of its three."""
    rows = zip(summary.blocks, summary.log_ratios, summary.control_log_ratios, strict=True)
    beyond = [
        _beyond_middle(log_ratio, control)
        for block, log_ratio, control in rows
        if blocks is None or block.block < blocks
    ]
    own = [row[0] for row in beyond if row[0] > SLOW]
    native = [run for row in beyond for run in row[1:] if run > SLOW]
    return SlowRuns(
        runs=len(beyond),
        slow=len(own),
        native_runs=2 * len(beyond),
        native_slow=len(native),
        by=fmean(own) if own else None,
        native_by=fmean(native) if native else None,
    )


def _beyond_middle(log_ratio: float, control_log_ratio: float) -> tuple[float, ...]:
    """How far the environment and both natives of a block exceed the middle of the three, as fractions."""
    arms = (log_ratio, -control_log_ratio / 2, control_log_ratio / 2)
    return tuple(fraction(arm - median(arms)) for arm in arms)


def _slow_slices(rounds: Sequence[BlockRounds]) -> SlowRuns:
    runs = sum(block.rounds for block in rounds)
    return SlowRuns(
        runs=runs,
        slow=sum(block.slow for block in rounds),
        native_runs=2 * runs,
        native_slow=sum(block.native_slow for block in rounds),
        by=_mean_by([(block.slow, block.slow_by) for block in rounds]),
        native_by=_mean_by([(block.native_slow, block.native_slow_by) for block in rounds]),
    )


def _mean_by(blocks: Sequence[tuple[int, float | None]]) -> float | None:
    known = [(count, by) for count, by in blocks if by is not None]
    return math.fsum(count * by for count, by in known) / sum(count for count, _ in known) if known else None


def most_cost(slow: SlowRuns) -> float:
    """What slow runs cost in the mean at most, as a fraction: the environment's, less what native's cost at least."""
    most = _upper(slow.slow, slow.runs) * max(ASSUMED_COST, slow.by or 0.0)
    return most - _lower(slow.native_slow, slow.native_runs) * (slow.native_by or 0.0)


def most_gain(slow: SlowRuns) -> float:
    """The same with the arms exchanged: what native's slow runs cost beyond the environment's at most."""
    most = _upper(slow.native_slow, slow.native_runs) * max(ASSUMED_COST, slow.native_by or 0.0)
    return most - _lower(slow.slow, slow.runs) * (slow.by or 0.0)


def _upper(count: int, runs: int) -> float:
    return beta_quantile(count + 1, runs - count, _LEVEL) if count < runs else 1.0


def _lower(count: int, runs: int) -> float:
    return beta_quantile(count, runs - count + 1, 1 - _LEVEL) if count else 0.0
