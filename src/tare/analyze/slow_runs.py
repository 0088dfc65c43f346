# SPDX-License-Identifier: Apache-2.0
"""Rare slow runs, which a typical overhead does not show, and whether a claim also holds for the mean.

A sample without a slow run says little about how rare they are: where one run in twenty is slow, 60 of 100 samples of
ten show none. So a claim of equivalence covers the mean only where the rate of slow runs is bounded too: by Clopper and
Pearson's one-sided limit (Biometrika 26 (1934) 404-413) for the environment, minus the limit for native.
"""

from collections.abc import Sequence
from statistics import median

from tare.records import BlockRounds, SlowRuns, Summary
from tare.statistics.distributions import beta_quantile
from tare.treat.aggregate import time_per_work

SLOW = 0.2
"""A run is slow if it exceeds the middle run of its block by more than this fraction."""
ASSUMED_COST = 0.5
"""Least extra time of a slow run, as a fraction, where fewer were seen than there may be."""
_LEVEL = 0.95


def slow_runs(summary: Summary, blocks: int | None = None) -> SlowRuns:
    """Count slow runs; ``blocks``: only blocks with smaller numbers. For arms that took turns each slice is a run."""
    taken = [block for block in summary.blocks if blocks is None or block.block < blocks]
    if rounds := [block.rounds for block in taken if block.rounds is not None]:
        return _slow_slices(rounds)
    rows = [
        tuple(time_per_work(value, summary.direction) for value in (block.environment, *block.native))
        for block in taken
    ]
    beyond = [[run / median(row) - 1 for run in row] for row in rows]
    own = [row[0] for row in beyond if row[0] > SLOW]
    return SlowRuns(
        runs=len(rows),
        slow=len(own),
        native_runs=2 * len(rows),
        native_slow=sum(run > SLOW for row in beyond for run in row[1:]),
        by=median(own) if own else None,
    )


def _slow_slices(rounds: Sequence[BlockRounds]) -> SlowRuns:
    runs = sum(block.rounds for block in rounds)
    by = [block.slow_by for block in rounds if block.slow_by is not None]
    return SlowRuns(
        runs=runs,
        slow=sum(block.slow for block in rounds),
        native_runs=2 * runs,
        native_slow=sum(block.native_slow for block in rounds),
        by=median(by) if by else None,
    )


def covers_mean(slow: SlowRuns, bound: float) -> bool:
    """Whether slow runs, at their highest possible rate, cost at most ``bound`` on average, as a fraction."""
    cost = max(ASSUMED_COST, slow.by or 0.0)
    return (_upper(slow.slow, slow.runs) - _lower(slow.native_slow, slow.native_runs)) * cost <= bound


def _upper(count: int, runs: int) -> float:
    return beta_quantile(count + 1, runs - count, _LEVEL) if count < runs else 1.0


def _lower(count: int, runs: int) -> float:
    return beta_quantile(count, runs - count + 1, 1 - _LEVEL) if count else 0.0
