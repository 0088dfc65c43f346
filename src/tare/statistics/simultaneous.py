# SPDX-License-Identifier: Apache-2.0
"""A band around all points of a curve that holds for all of them together.

Each point is the robust mean (``huber``) of its blocks' log-ratios, a typical overhead that a rare spike hardly moves.
The band reaches the same number of standard errors to both sides everywhere. That number is the quantile of the
largest studentized mean if the environment, moved by its own overhead, were any of the three runs of its block: whoever
was "the environment" is drawn anew for each block, for all points at once, which keeps their dependence and the noise's
shape (Westfall and Young, Resampling-Based Multiple Testing, 1993; Montiel Olea and Plagborg-Moller, J. Applied
Econometrics 34 (2019) 1-17, for bands by the largest statistic). Blocks that depend on each other widen it by a factor
that all points estimate together (``common_widening``).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tare.statistics import huber
from tare.statistics.blocks import LEAST_BLOCKS
from tare.statistics.estimate import LEVEL
from tare.statistics.series import common_widening

Floats = NDArray[np.float64]
_DRAWS = 1999
_ROUNDING = 1e-9
_FLOOR = 1e-12
"""Makes the larger of two means that do not vary at all the larger one."""
_SEED = 1
"""The same blocks always give the same band."""
_MOST_NUMBERS = 1 << 22
"""Held at once."""


@dataclass(frozen=True, slots=True)
class Band:
    """One entry per point, on the scale of logarithms."""

    low: Floats
    centre: Floats
    high: Floats


def band(log_ratios: Any, controls: Any, error: float = 1 - LEVEL) -> Band | None:
    """The band that misses any of the points with a chance of ``error``; ``None`` with too few blocks.

    ``log_ratios``: of the environment against the mean of both natives, ``controls``: of the second native against the
    first; both of shape (blocks, points).
    """
    ratios, apart = (np.asarray(each, dtype=np.float64) for each in (log_ratios, controls))
    n = len(ratios)
    if n < LEAST_BLOCKS or not ratios.shape[1]:
        return None
    centre = huber.centre(ratios.T)
    values = centre.values.T
    moved = (values - values.mean(axis=0)) * np.sqrt(n / (n - 1))
    half_width = common_widening(values) * _quantile(moved, apart, error) * centre.error
    return Band(low=centre.mean - half_width, centre=centre.mean, high=centre.mean + half_width)


def exchange_p(log_ratios: Any, controls: Any) -> float | None:
    """P-value of "all robust means are 0", by the largest in standard errors; ``None`` with too few blocks.

    If they are, the three runs of a block are alike and any of them could have been "the environment". Blocks that
    depend on each other make the standard errors larger, as in ``band``, whose arguments these are.
    """
    ratios, apart = (np.asarray(each, dtype=np.float64) for each in (log_ratios, controls))
    n = len(ratios)
    if n < LEAST_BLOCKS or not ratios.shape[1]:
        return None
    centre = huber.centre(ratios.T)
    values, unmoved = centre.values.T, (centre.freedom + 1) / n
    as_it_was = [np.full((1, n), role == 0, dtype=np.float64) for role in range(3)]
    measured = float((_studentized(as_it_was, _by_role(values, apart), _FLOOR) * unmoved).max())
    as_large = _largest(values, apart, _FLOOR) >= measured / common_widening(values) * (1 - _ROUNDING)
    return float((1 + as_large.sum()) / (1 + _DRAWS))


def _quantile(moved: Floats, apart: Floats, error: float) -> float:
    """Of the largest absolute mean in standard errors."""
    return float(np.quantile(_largest(moved, apart), 1 - error, method="higher"))


def _largest(moved: Floats, apart: Floats, floor: float = 0.0) -> Floats:
    """The largest absolute mean in standard errors, in each draw of who was "the environment"."""
    n, points = moved.shape
    drawn = np.random.default_rng(_SEED).integers(0, 3, size=(_DRAWS, n))
    chosen = [(drawn == role).astype(np.float64) for role in range(3)]
    largest = np.zeros(_DRAWS)
    at_once = max(1, _MOST_NUMBERS // _DRAWS)
    for first in range(0, points, at_once):
        part = slice(first, first + at_once)
        statistic = _studentized(chosen, _by_role(moved[:, part], apart[:, part]), floor)
        np.maximum(largest, statistic.max(axis=1), out=largest)
    return largest


def _by_role(moved: Floats, apart: Floats) -> list[Floats]:
    """The log-ratio of each of a block's three runs to the mean of the other two: environment, first native, second."""
    return [moved, -0.75 * apart - moved / 2, 0.75 * apart - moved / 2]


def _studentized(chosen: list[Floats], by_role: list[Floats], floor: float = 0.0) -> Floats:
    """Absolute means in standard errors, of shape (draws, points); 0 where all values are equal.

    ``floor``: the least variance, relative to the mean square of all three runs, which no exchange of them changes.
    """
    n = len(by_role[0])
    sums = sum(who @ values for who, values in zip(chosen, by_role, strict=True))
    squares = sum(who @ values**2 for who, values in zip(chosen, by_role, strict=True))
    mean = np.asarray(sums) / n
    variance = np.maximum(np.asarray(squares) - n * mean**2, 0) / (n - 1)
    variance += floor * np.asarray(sum((values**2).mean(axis=0) for values in by_role))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(np.abs(mean) / np.sqrt(variance / n), nan=0.0, posinf=0.0)
