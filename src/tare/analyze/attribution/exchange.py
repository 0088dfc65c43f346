# SPDX-License-Identifier: Apache-2.0
"""Does a signal stand out against both native slots? An exact test that takes the A/A arm as its null.

If the environment were a third native, its value would be as likely the first, second or third of its block's three.
The sum over blocks of its rank among the three is then a sum of independent uniform ranks, whose distribution is
computed exactly, given the ties: a randomization test in blocks of three (Friedman, Journal of the American Statistical
Association 32 (1937) 675-701, for one treatment).
"""

import numpy as np
from numpy.typing import NDArray

from tare.analyze.ranks import average_ranks


def chance_above(environment: NDArray[np.float64], native: NDArray[np.float64]) -> float:
    """Chance of a sum of ranks at least as high if all three were alike; 1 without a block.

    ``environment`` has shape (blocks,), ``native`` (blocks, 2). Ties have the mean of their ranks.
    """
    if not len(environment):
        return 1.0
    doubled = np.rint(2 * average_ranks(np.column_stack([environment, native]))).astype(int)
    distribution = np.ones(1)
    for ranks in doubled:
        distribution = np.convolve(distribution, np.bincount(ranks) / ranks.size)
    return float(min(1.0, distribution[doubled[:, 0].sum() :].sum()))


def holm(chances: list[float]) -> list[float]:
    """Adjusted for all of them (Holm, Scandinavian Journal of Statistics 6 (1979) 65-70), in the same order."""
    adjusted = [1.0] * len(chances)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(chances)), key=chances.__getitem__)):
        largest = max(largest, min(1.0, (len(chances) - rank) * chances[place]))
        adjusted[place] = largest
    return adjusted
