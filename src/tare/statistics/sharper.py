# SPDX-License-Identifier: Apache-2.0
"""The test of the aligned ranks where the normal distribution ends: placements and magnitudes together.

A studentized sum of n scores is at most sqrt(n), so with ten blocks the normal distribution shows no less than 0.2 %,
however large the difference: too much where a hundred claims must hold together. The exact share of all placements of
the environment among native's runs goes down to 3^-n. It holds where the three runs of a block are alike, but not where
the natives share something that the environment does not, for example when both were lucky in the same block: the
chance of being the slowest in all blocks is then 2^-n. So a p-value below the normal distribution's must be shown by
the placements *and* by the magnitudes, Student's t of the log-ratios' robust mean (``huber``), which is unaffected by
what natives share: a difference as rare as that is also far from 0 in units of its own spread. One slow block can hide
it from neither: where ``huber`` moves a log-ratio, the placements are of the moved one. Down to 5 % the normal
distribution decides alone.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tare.statistics import aligned_ranks, huber
from tare.statistics.blocks import LEAST_BLOCKS, farthest
from tare.statistics.distributions import normal_quantile, normal_share, student_quantile, student_share

SHARPER = 0.025
"""One-sided p-value of the normal distribution up to which the other two may make it smaller."""
_SMALL = 0.005
"""One-sided p-value from which on the other two are asked."""
_HALVINGS = 10
"""Locate the placements' bound to a thousandth of the range, on the side that makes the interval wider."""
_BESIDE_A_TIE = 1e-10
"""Of logarithms: more than the rounding before they are ranked."""

_Values = tuple[float, ...]
Floats = NDArray[np.float64]
_MOST_EXACT = 10
"""Blocks up to which all placements are counted: 59 049."""
_DRAWS = 19_999
"""Placements drawn for more blocks; with the observed one they are 20 000."""
_GROUP = 5
"""Blocks whose placements are listed together, to need fewer draws."""
_SEED = 20_261_123
_ROUNDING = 1e-9


@lru_cache(maxsize=65536)
def one_sided(log_ratios: _Values, controls: _Values, shift: float) -> float:
    """P-value of "the environment is not slower than ``shift``", a logarithm; one half with too few blocks."""
    n = len(log_ratios)
    if n < LEAST_BLOCKS:
        return 0.5
    own, control = np.asarray(log_ratios), np.asarray(controls)
    most = farthest(n)
    statistic = float(aligned_ranks.statistic(own, control, np.asarray(shift)))
    normal = normal_share(-min(most, max(-most, statistic)))
    limit = min(normal, _small(n))
    if normal > SHARPER or _student_share(log_ratios, shift) >= limit:
        return normal
    sharper = max(_student_share(log_ratios, shift), _placed(log_ratios, controls, shift))
    return sharper if sharper <= limit else normal


def bounds(log_ratios: _Values, controls: _Values, error: float) -> tuple[float, float] | None:
    """Give the ends of the shifts that ``one_sided`` rejects on neither side at ``error``; ``None``: no ends."""
    n = len(log_ratios)
    if n < LEAST_BLOCKS or error <= 0:
        return None
    own, control = np.asarray(log_ratios), np.asarray(controls)
    normal = aligned_ranks.bounds(own, control, 2 * error) if aligned_ranks.reaches(n, 2 * error) else None
    low, high = (-math.inf, math.inf) if normal is None else map(float, normal)
    if error < SHARPER:
        small = min(error, _small(n))
        low = max(low, _sharper_bound(log_ratios, controls, small))
        high = min(high, -_sharper_bound(tuple(-value for value in log_ratios), controls, small))
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


def bounds_of_many(
    log_ratios: Floats, controls: Floats, error: float, precision: float
) -> tuple[Floats, Floats] | None:
    """Give the ends of an interval for each row, which misses with a chance of ``error``; ``None``: no ends.

    They are nearly those of ``bounds`` in normal noise, where the placements ask for hardly more than the normal
    distribution at ``_SMALL``. ``precision`` is a share of an end's possible range.
    """
    n = log_ratios.shape[-1]
    levels = [level for level in (error, 2 * _SMALL) if aligned_ranks.reaches(n, level)]
    if not levels:
        return None
    ends = [aligned_ranks.bounds(log_ratios, controls, level, precision) for level in levels]
    if error >= 2 * _SMALL:
        return ends[0]
    centre = huber.centre(log_ratios)
    quantiles = np.array([student_quantile(freedom, 1 - error / 2) for freedom in range(1, n)])
    half_width = quantiles[centre.freedom - 1] * centre.error
    low = np.minimum(ends[-1][0], centre.mean - half_width)
    high = np.maximum(ends[-1][1], centre.mean + half_width)
    return (np.maximum(low, ends[0][0]), np.minimum(high, ends[0][1])) if len(ends) > 1 else (low, high)


def _sharper_bound(log_ratios: _Values, controls: _Values, error: float) -> float:
    """Where the placements and the magnitudes both begin to reject; minus infinity if they never do."""
    limit = -normal_quantile(SHARPER)
    normal = aligned_ranks.lower_bound(np.asarray(log_ratios), np.asarray(controls), limit)
    start = min(normal, _student_bound(log_ratios, error))
    return _placed_bound(log_ratios, controls, error, start)


def _small(n: int) -> float:
    """``_SMALL``; with few blocks the normal distribution ends before it."""
    return max(_SMALL, normal_share(-farthest(n)))


def _student_share(log_ratios: _Values, shift: float) -> float:
    centre = _centre(log_ratios)
    mean, error = float(centre.mean), float(centre.error)
    if error <= 0:
        return 0.0 if mean > shift else 1.0
    return student_share(int(centre.freedom), -(mean - shift) / error)


def _student_bound(log_ratios: _Values, error: float) -> float:
    centre = _centre(log_ratios)
    return float(centre.mean) + student_quantile(int(centre.freedom), error) * float(centre.error)


@lru_cache(maxsize=1024)
def _centre(log_ratios: _Values) -> huber.Centre:
    return huber.centre(np.asarray(log_ratios))


def _placed(log_ratios: _Values, controls: _Values, shift: float) -> float:
    return share_as_far(aligned_ranks.scores(_centre(log_ratios).values, np.asarray(controls), shift))


def _placed_bound(log_ratios: _Values, controls: _Values, error: float, start: float) -> float:
    """The largest shift up to ``start`` that the placements reject; minus infinity if they reject none.

    Below the shift that leaves the environment slowest in every block, no rank changes.
    """
    if _placed(log_ratios, controls, start) <= error:
        return start
    runs = aligned_ranks.runs_of(_centre(log_ratios).values, np.asarray(controls))
    low = float((runs[:, 0] - runs[:, 1:].max(axis=-1)).min()) - _BESIDE_A_TIE
    low = min(low, start)
    if _placed(log_ratios, controls, low) > error:
        return -math.inf
    high = start
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _placed(log_ratios, controls, middle) <= error else (low, middle)
    return low


def share_as_far(scores: Floats) -> float:
    """Share of the placements whose studentized sum is at least as large as with the first place of each block.

    ``scores``: shape (blocks, 3), rows with the mean 0. Exact for few blocks. Among drawn placements the observed one
    counts too: (k + 1) / (m + 1) (Phipson and Smyth, Statistical Applications in Genetics and Molecular Biology 9
    (2010) 39).

    How rarely chance would place an environment so far out among native's runs: a permutation test.

    If nothing differs, each of a block's three runs is equally likely to be the environment's: 3^n placements, all
    equally likely. The test counts the placements with a statistic at least as large. The statistic is the
    studentized one of ``aligned_ranks`` (Janssen, Statistics and Probability Letters 36 (1997) 9-21; Chung and
    Romano, Annals of Statistics 41 (2013) 484-507, on permutation tests that hold where the arms' noise is
    unequal).
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
