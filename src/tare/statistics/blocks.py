# SPDX-License-Identifier: Apache-2.0
"""How many blocks an interval needs: for those who plan and for those who analyze (docs/method.md)."""

import math
from statistics import NormalDist

LEAST_BLOCKS = 6
"""No interval is given below: the normal distribution is no bound for the ranks of five (docs/method.md)."""


def fewest_blocks(error: float) -> int:
    """How many blocks an interval needs at least that misses with a chance of ``error``: 6 for 1 %, 8 for 0.04 %.

    Either the normal distribution gives it or the placements of the environment among three runs a block do: by chance
    it is the slowest of them, or the fastest, in all n blocks with 2 / 3^n.
    """
    n = LEAST_BLOCKS
    while farthest(n) <= quantile(error) and 2 * 3.0**-n > error:
        n += 1
    return n


def farthest(blocks: int) -> float:
    """Standard deviations that so many blocks' ranks show at least when an environment is the slowest in each of them.

    There its rank is one of the highest third, and its score (``aligned_ranks``), in units of the blocks'
    number, has mean 1 and a variance of (1 - blocks^-2) / 12 at most.
    """
    return math.sqrt(blocks / (1 + (1 - blocks**-2) / 12))


def quantile(error: float) -> float:
    """Standard deviations beyond which a normal variable is, on either side, with a chance of ``error`` in all."""
    return -NormalDist().inv_cdf(error / 2)
