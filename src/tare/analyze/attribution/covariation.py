# SPDX-License-Identifier: Apache-2.0
"""Which signals vary with the overhead from block to block? Spearman's correlation, gated over all signals together.

Both are ranked, and the effects of the block's number and the place within the block are removed from the ranks
(partial rank correlation). The overhead's residuals are then shuffled over the blocks (Freedman and Lane, Journal of
Business and Economic Statistics 1 (1983) 292-298), and each correlation is compared with the largest of any signal in
each shuffle, which keeps the chance of any false finding at the level (Westfall and Young, Resampling-Based Multiple
Testing, 1993).
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tare.records import Correlation
from tare.statistics.tails import average_ranks

FEWEST_BLOCKS = 10
SHUFFLES = 1999
_SEED = 20_261
_ROUNDING = 1e-9
_RANK = 1e-15
"""Share of the largest singular value: smaller ones are rounding, as in ``numpy.linalg.pinv``."""


def correlations(
    log_ratios: NDArray[np.float64], signals: NDArray[np.float64], order: NDArray[np.float64]
) -> list[Correlation | None]:
    """One per signal; ``None`` for a signal that never changes, and for all with too few blocks.

    ``log_ratios`` has shape (blocks,), ``signals`` (signals, blocks), ``order`` (blocks, columns). The shuffles are
    the same for the same input.
    """
    n = len(log_ratios)
    if n < FEWEST_BLOCKS or not len(signals):
        return [None] * len(signals)
    columns = _columns(order)
    own = _unit(_without(columns, average_ranks(log_ratios)))
    others = _unit(_without(columns, average_ranks(signals)))
    changing = np.any(others != 0, axis=1)
    shuffled = own[_shuffles(n)]
    values = others @ own
    largest = np.max(np.abs(_unit(_without(columns, shuffled)) @ others.T), axis=1)
    chances = (1 + (largest[:, None] >= np.abs(values) - _ROUNDING).sum(axis=0)) / (1 + SHUFFLES)
    return [
        Correlation(r=float(r), chance=float(chance), n=n) if changes else None
        for r, chance, changes in zip(values, chances, changing, strict=True)
    ]


@lru_cache(maxsize=4)
def _shuffles(n: int) -> NDArray[np.intp]:
    """Shape (shuffles, n): places in random orders, which take longer to draw than everything else here."""
    return np.random.default_rng(_SEED).permuted(np.tile(np.arange(n), (SHUFFLES, 1)), axis=1)


def _columns(order: NDArray[np.float64]) -> NDArray[np.float64]:
    """Orthonormal columns, (blocks, columns): a constant, and ``order`` as far as it varies."""
    design = np.column_stack([np.ones(len(order)), order])
    columns, sizes, _ = np.linalg.svd(design, full_matrices=False)
    varying: NDArray[np.float64] = columns[:, sizes > _RANK * sizes[0]]
    return varying


def _without(columns: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each row minus its linear part in the columns."""
    left: NDArray[np.float64] = rows - rows @ columns @ columns.T
    return left


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each row at length 1; a row of mere rounding becomes 0."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    scaled: NDArray[np.float64] = np.where(lengths > _ROUNDING, rows / np.maximum(lengths, _ROUNDING), 0.0)
    return scaled
