# SPDX-License-Identifier: Apache-2.0
"""The test of the aligned ranks where the normal distribution ends: placements and magnitudes together.

A studentized sum of n scores is at most sqrt(n), so with ten blocks the normal distribution shows no less than 0.2 %,
however large the difference: too much where a hundred claims must hold together. The exact share of all placements of
the environment among native's runs goes down to 3^-n. It holds where the three runs of a block are alike, but not where
the natives share something that the environment does not, for example when both were lucky in the same block: the
chance of being the slowest in all blocks is then 2^-n. So a p-value below the normal distribution's must be shown by
the placements *and* by Student's t of the log-ratios, which is unaffected by what natives share: a difference as rare
as that is also far from 0 in units of its own spread. Down to 1 % the normal distribution decides alone.
"""

import math
from functools import lru_cache

import numpy as np

from tare.statistics import aligned_ranks
from tare.statistics.blocks import LEAST_BLOCKS, farthest
from tare.statistics.distributions import normal_quantile, normal_share, student_quantile, student_share
from tare.statistics.placements import share_as_far

SHARPER = 0.005
"""One-sided p-value of the normal distribution up to which the other two may make it smaller."""
_HALVINGS = 10
"""Locate the placements' bound to a thousandth of the range, on the side that makes the interval wider."""
_BESIDE_A_TIE = 1e-10
"""Of logarithms: more than the rounding before they are ranked."""

_Values = tuple[float, ...]


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
    if normal > _sharper_from(n):
        return normal
    student = _student(log_ratios, shift)
    if student >= normal:
        return normal
    return min(normal, max(student, _placed(log_ratios, controls, shift)))


def bounds(log_ratios: _Values, controls: _Values, error: float) -> tuple[float, float] | None:
    """Give the ends of the shifts that ``one_sided`` rejects on neither side at ``error``; ``None``: no ends."""
    n = len(log_ratios)
    if n < LEAST_BLOCKS or error <= 0:
        return None
    own, control = np.asarray(log_ratios), np.asarray(controls)
    normal = aligned_ranks.bounds(own, control, 2 * error) if aligned_ranks.reaches(n, 2 * error) else None
    low, high = (-math.inf, math.inf) if normal is None else map(float, normal)
    if error < _sharper_from(n):
        low = max(low, _sharper_bound(log_ratios, controls, error))
        high = min(high, -_sharper_bound(tuple(-value for value in log_ratios), controls, error))
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


def _sharper_bound(log_ratios: _Values, controls: _Values, error: float) -> float:
    """Where the placements and Student's t both begin to reject; minus infinity if they never do."""
    limit = -normal_quantile(_sharper_from(len(log_ratios)))
    normal = aligned_ranks.lower_bound(np.asarray(log_ratios), np.asarray(controls), limit)
    start = min(normal, _student_bound(log_ratios, error))
    return _placed_bound(log_ratios, controls, error, start)


def _sharper_from(n: int) -> float:
    """One-sided p-value from which ``n`` blocks go on; with few, the normal distribution ends before ``SHARPER``."""
    return max(SHARPER, normal_share(-farthest(n)))


def _student(log_ratios: _Values, shift: float) -> float:
    mean, error = _mean_and_error(log_ratios)
    if error <= 0:
        return 0.0 if mean > shift else 1.0
    return student_share(len(log_ratios) - 1, -(mean - shift) / error)


def _student_bound(log_ratios: _Values, error: float) -> float:
    mean, standard_error = _mean_and_error(log_ratios)
    return mean + student_quantile(len(log_ratios) - 1, error) * standard_error


def _mean_and_error(log_ratios: _Values) -> tuple[float, float]:
    values = np.asarray(log_ratios)
    deviation = float(np.std(values - values[0], ddof=1))
    return math.fsum(log_ratios) / len(log_ratios), deviation / math.sqrt(len(log_ratios))


def _placed(log_ratios: _Values, controls: _Values, shift: float) -> float:
    return share_as_far(aligned_ranks.scores(np.asarray(log_ratios), np.asarray(controls), shift))


def _placed_bound(log_ratios: _Values, controls: _Values, error: float, start: float) -> float:
    """The largest shift up to ``start`` that the placements reject; minus infinity if they reject none.

    Below the shift that leaves the environment slowest in every block, no rank changes.
    """
    if _placed(log_ratios, controls, start) <= error:
        return start
    runs = aligned_ranks.runs_of(np.asarray(log_ratios), np.asarray(controls))
    low = float((runs[:, 0] - runs[:, 1:].max(axis=-1)).min()) - _BESIDE_A_TIE
    low = min(low, start)
    if _placed(log_ratios, controls, low) > error:
        return -math.inf
    high = start
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _placed(log_ratios, controls, middle) <= error else (low, middle)
    return low
