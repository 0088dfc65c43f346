# SPDX-License-Identifier: Apache-2.0
"""The shift between an environment's run and the two native runs of its block, whatever the noise is like.

The ranks are those of Hodges and Lehmann, "Rank methods for combination of independent experiments in analysis of
variance", Annals of Mathematical Statistics 33 (1962) 482-497: a shift is subtracted from the environment's run, the
median of a block's three runs is subtracted from each of them, all runs of all blocks are ranked together, and the
environment's rank is compared with the mean rank of its block. If the shift is right, this score has mean 0 in every
block: when the three runs have the same noise, however skewed, because each was equally likely to be the environment's;
and when each has symmetric noise, even if the environment's differs.

The sum of the scores is divided by the root of the sum of their squares, not by its standard deviation for exchangeable
runs, so that an environment noisier than native does not get too narrow an interval (Janssen, Statistics and
Probability Letters 36 (1997) 9-21, on studentized permutation statistics). This self-normalized sum is compared with
the normal distribution, whose tails are heavier (Efron, Journal of the American Statistical Association 64 (1969)
1278-1302). ``sharper`` continues where that ends. docs/statistics.md shows the results of both.
"""

import math

import numpy as np
from numpy.typing import NDArray

from tare.statistics.blocks import LEAST_BLOCKS, farthest, quantile
from tare.statistics.tails import average_ranks

Floats = NDArray[np.float64]
_SHIFTS = 8
"""Tried at once: for a single sample, calling numpy costs more than the computation."""
_FEW = 64
"""Samples up to which that holds; for more, halving the range computes a third as much. Both find the same only where
the statistic changes its sign: the sum of the environment's ranks never rises, so there is one crossing."""
PRECISION = 1e-10
"""Of a bound, as a share of the range in which it may lie."""
_DECIMALS = 13
"""To which logarithms are compared: equal times must not be ranked by the rounding of their logarithms."""
_AT_ONCE = 50_000
"""Values ranked in one call: they and the intermediate results fit into a processor's cache."""


def statistic(log_ratios: Floats, controls: Floats, shifts: Floats) -> Floats:
    """Standardized sum of scores after subtracting a shift: above 0 where the environment is slower than that.

    ``log_ratios`` and ``controls``: as in ``Summary``, shape (..., blocks). ``shifts``: shape (...). 0 if all runs are
    alike.
    """
    return _statistic(runs_of(log_ratios, controls), np.asarray(shifts, dtype=np.float64))


def points(log_ratios: Floats, controls: Floats, precision: float = PRECISION) -> Floats:
    """Estimate each row's shift: where the statistic changes its sign."""
    low, high = _ends(log_ratios, controls, 0.0, precision)
    return (low + high) / 2


def bounds(
    log_ratios: Floats, controls: Floats, error: float, precision: float = PRECISION
) -> tuple[Floats, Floats]:
    """Give the ends of each row's interval, which misses with a chance of ``error``, both sides together.

    Raises ``ValueError`` for fewer blocks than the normal distribution needs (``reaches``).
    """
    if not reaches(log_ratios.shape[-1], error):
        raise ValueError(f"{log_ratios.shape[-1]} blocks give no interval that misses in {error:.2g}")
    return _ends(log_ratios, controls, quantile(error), precision)


def lower_bound(log_ratios: Floats, controls: Floats, limit: float) -> float:
    """Give the least shift of one sample whose statistic is at most ``limit``."""
    return float(_least(runs_of(log_ratios, controls)[None], limit, PRECISION)[0])


def reaches(blocks: int, error: float) -> bool:
    """Whether the scores of ``blocks`` blocks can exceed the normal distribution's quantile for this ``error``."""
    return error > 0 and blocks >= LEAST_BLOCKS and farthest(blocks) > quantile(error)


def runs_of(log_ratios: Floats, controls: Floats) -> Floats:
    """Each block's three runs up to a common constant, shape (..., blocks, 3), the environment's first."""
    return np.stack([np.asarray(log_ratios), -np.asarray(controls) / 2, np.asarray(controls) / 2], axis=-1)


def log_ratios_of(runs: Floats) -> tuple[Floats, Floats]:
    """Log-ratios and controls, as ``runs_of`` takes them, from the logarithms of runs, shape (..., blocks, 3)."""
    return runs[..., 0] - runs[..., 1:].mean(axis=-1), runs[..., 2] - runs[..., 1]


def scores(log_ratios: Floats, controls: Floats, shift: float) -> Floats:
    """Each run's rank minus the mean rank of its block, for one sample: shape (blocks, 3), the environment's first."""
    return _scores(runs_of(log_ratios, controls), np.asarray(shift, dtype=np.float64))


def _statistic(runs: Floats, shifts: Floats) -> Floats:
    own = _scores(runs, shifts)[..., 0]
    squares = np.sqrt(np.sum(own**2, axis=-1))
    return np.asarray(own.sum(axis=-1) / np.where(squares > 0, squares, 1.0))


def _scores(runs: Floats, shifts: Floats) -> Floats:
    here = runs[..., 0] - shifts[..., None]
    values, other = runs[..., 1], runs[..., 2]
    smaller, larger = np.minimum(values, other), np.maximum(values, other)
    middle = np.maximum(smaller, np.minimum(larger, here))
    aligned = np.stack([here - middle, values - middle, other - middle], axis=-1).round(_DECIMALS)
    flat = aligned.reshape(*aligned.shape[:-2], -1)
    ranks = average_ranks(flat).reshape(aligned.shape)
    return np.asarray(ranks - ranks.mean(axis=-1, keepdims=True))


def _ends(log_ratios: Floats, controls: Floats, limit: float, precision: float) -> tuple[Floats, Floats]:
    """The least and the largest shift whose statistic is within ±``limit``."""
    runs = runs_of(log_ratios, controls)
    flat = runs.reshape(-1, *runs.shape[-2:])
    both = np.concatenate([flat, -flat])
    per_call = max(1, _AT_ONCE // (_SHIFTS * flat[0].size))
    values = [
        _least(both[begin : begin + per_call], limit, precision) for begin in range(0, len(both), per_call)
    ]
    low, mirrored = np.concatenate(values).reshape(2, *runs.shape[:-2])
    return low, -mirrored


def _least(runs: Floats, limit: float, precision: float) -> Floats:
    """The least shift of each sample whose statistic is at most ``limit``, by repeatedly dividing the range.

    The statistic falls as the shift grows, except for small steps, because the squares change too. Of several crossings
    it takes the lowest it finds, which makes the interval wider.
    """
    differences = runs[..., :1] - runs[..., 1:]
    low, high = differences.min(axis=(-2, -1)), differences.max(axis=(-2, -1))
    margin = PRECISION * np.maximum(1.0, high - low)
    low, high = low - margin, high + margin
    shifts = 1 if limit == 0 and len(runs) > _FEW else _SHIFTS
    inner = np.arange(1, shifts + 1) / (shifts + 1)
    rows = np.arange(len(runs))
    for _ in range(math.ceil(-math.log(precision) / math.log(shifts + 1))):
        tried = low[:, None] + (high - low)[:, None] * inner
        reached = _statistic(runs[:, None], tried) <= limit
        place = np.where(reached.any(axis=1), reached.argmax(axis=1), shifts)
        edges = np.concatenate([low[:, None], tried, high[:, None]], axis=1)
        low, high = edges[rows, place], edges[rows, place + 1]
    return np.asarray((low + high) / 2).round(_DECIMALS - 1)
