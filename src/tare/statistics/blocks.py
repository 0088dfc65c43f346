# SPDX-License-Identifier: Apache-2.0
"""How many blocks an interval needs: for planning and for analysis (docs/method.md)."""

import math
from statistics import NormalDist

LEAST_BLOCKS = 6
"""No interval is given for fewer: the normal distribution does not bound the ranks of five (docs/method.md)."""


def fewest_blocks(error: float) -> int:
    """Fewest blocks for an interval that misses with a chance of ``error``: 6 for 1 %, 8 for 0.04 %.

    The interval comes from the normal distribution or from the environment's placements among the three runs of a
    block: its chance to be the slowest in all n blocks, or the fastest in all, is 2 / 3^n.
    """
    n = LEAST_BLOCKS
    while farthest(n) <= quantile(error) and 2 * 3.0**-n > error:
        n += 1
    return n


def farthest(blocks: int) -> float:
    """Least number of standard deviations that the ranks show when an environment is the slowest in every block.

    Its rank is then among the highest third, and its score (``aligned_ranks``), in units of the number of blocks, has
    mean 1 and a variance of at most (1 - blocks^-2) / 12.
    """
    return math.sqrt(blocks / (1 + (1 - blocks**-2) / 12))


def quantile(error: float) -> float:
    """Standard deviations beyond which a normal variable lies, on either side, with a total chance of ``error``."""
    return -NormalDist().inv_cdf(error / 2)
