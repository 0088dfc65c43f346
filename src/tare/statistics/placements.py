# SPDX-License-Identifier: Apache-2.0
"""How rarely chance would place an environment so far out among native's runs: a permutation test.

If nothing differs, each of a block's three runs is equally likely to be the environment's: 3^n placements, all equally
likely. The test counts the placements with a statistic at least as large. The statistic is the studentized one of
``aligned_ranks`` (Janssen, Statistics and Probability Letters 36 (1997) 9-21; Chung and Romano, Annals of Statistics 41
(2013) 484-507, on permutation tests that hold where the arms' noise is unequal).
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_MOST_EXACT = 10
"""Blocks up to which all placements are counted: 59 049."""
_DRAWS = 19_999
"""Placements drawn for more blocks; with the observed one they are 20 000."""
_GROUP = 5
"""Blocks whose placements are listed together, to need fewer draws."""
_SEED = 20_261_123
_ROUNDING = 1e-9


def share_as_far(scores: Floats) -> float:
    """Share of the placements whose studentized sum is at least as large as with the first place of each block.

    ``scores``: shape (blocks, 3), rows with the mean 0. Exact for few blocks. Among drawn placements the observed one
    counts too: (k + 1) / (m + 1) (Phipson and Smyth, Statistical Applications in Genetics and Molecular Biology 9
    (2010) 39).
    """
    own = scores[:, 0]
    spread = float(np.sum(own**2))
    if spread <= 0:
        return 1.0
    seen = float(np.sum(own)) / np.sqrt(spread) - _ROUNDING
    if len(scores) <= _MOST_EXACT:
        (sums, squared), (other, other_squared) = _listed(scores[:_GROUP]), _listed(scores[_GROUP:])
        return _share(np.add.outer(sums, other), np.add.outer(squared, other_squared), seen)
    groups = [_listed(scores[begin : begin + _GROUP]) for begin in range(0, len(scores), _GROUP)]
    places = _drawn(tuple(len(sums) for sums, _ in groups))
    both = np.zeros(_DRAWS, dtype=np.complex128)
    for (sums, squares), chosen in zip(groups, places, strict=True):
        # One look-up for two sums, without bounds checks: most of the time goes into it.
        both += (sums + 1j * squares).take(chosen, mode="clip")
    return (1 + _DRAWS * _share(both.real.copy(), both.imag.copy(), seen)) / (1 + _DRAWS)


def _share(sums: Floats, squares: Floats, seen: float) -> float:
    """Share of sums at least as large; overwrites ``squares``, since allocating arrays would take most of the time."""
    np.sqrt(squares, out=squares)
    np.multiply(squares, seen, out=squares)
    return float(np.count_nonzero(sums >= squares)) / sums.size


def _listed(scores: Floats) -> tuple[Floats, Floats]:
    """Sum and sum of squares of every placement of these blocks."""
    sums, squares = np.zeros(1), np.zeros(1)
    for block in scores:
        sums = (sums[:, None] + block).ravel()
        squares = (squares[:, None] + block**2).ravel()
    return sums, squares


@lru_cache(maxsize=32)
def _drawn(counts: tuple[int, ...]) -> list[NDArray[np.uint8]]:
    generator = np.random.default_rng(_SEED)
    return [generator.integers(0, count, _DRAWS).astype(np.uint8) for count in counts]
