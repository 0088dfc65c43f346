# SPDX-License-Identifier: Apache-2.0
"""Does a signal stand out against both native slots? An exact test that takes the A/A arm as its null.

If the environment were a third native, its value would be equally likely the first, second or third of its block. The
sum over blocks of its rank among the three is then a sum of independent uniform ranks, whose distribution, given the
ties, is computed exactly: a randomization test in blocks of three (Friedman, Journal of the American Statistical
Association 32 (1937) 675-701, for one treatment).
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tare.statistics.tails import average_ranks, draws_at_most

MOST_ADDED = 200
"""Blocks up to which all sums are enumerated, in n^2 steps; for more, a chance is an integral (``tails``)."""
_APART = 7
"""Base above the largest doubled rank, so that three ranks make one number."""


def chance_above(environment: NDArray[np.float64], native: NDArray[np.float64]) -> float:
    """Chance of a sum of ranks at least as high if all three were alike; 1 without a block.

    ``environment`` has shape (blocks,), ``native`` (blocks, 2). Ties have the mean of their ranks.
    """
    if not len(environment):
        return 1.0
    doubled = np.rint(2 * average_ranks(np.column_stack([environment, native]))).astype(int)
    total = int(doubled[:, 0].sum())
    if len(doubled) > MOST_ADDED:
        return min(1.0, draws_at_most(_kinds(-np.sort(doubled, axis=1)), -total))
    distribution = _distribution(np.sort(doubled, axis=1).astype(np.uint8).tobytes())
    return float(min(1.0, distribution[total:].sum()))


@lru_cache(maxsize=1024)
def _distribution(ranks: bytes) -> NDArray[np.float64]:
    """Chance of each sum of doubled ranks; three bytes per block. Signals without ties share one distribution."""
    distribution = np.ones(1)
    for begin in range(0, len(ranks), 3):
        distribution = np.convolve(distribution, _of_block(ranks[begin : begin + 3]))
    return distribution


@lru_cache(maxsize=64)
def _of_block(ranks: bytes) -> NDArray[np.float64]:
    """Chance of each doubled rank of one block; blocks differ only in their ties."""
    return np.bincount(np.frombuffer(ranks, dtype=np.uint8)) / len(ranks)


def _kinds(rows: NDArray[np.int_]) -> dict[tuple[int, ...], int]:
    """How often each row occurs."""
    _, places, counts = np.unique(rows @ (_APART**2, _APART, 1), return_index=True, return_counts=True)
    return dict(zip(map(tuple, rows[places].tolist()), counts.tolist(), strict=True))
