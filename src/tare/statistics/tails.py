# SPDX-License-Identifier: Apache-2.0
"""Ranks, and tail probabilities of sums of many terms, where enumeration would take n^2 or n^3 steps.

The chance that a sum T of whole numbers is at most c is an integral of its generating function, the mean of e^(zT),
along a line Re z = s < 0 (Helstrom, IEEE Transactions on Aerospace and Electronic Systems 14 (1978) 630-640, on such
tails). By the trapezoidal rule it is a sum of a few function values, exact except for rounding: the integrand is
analytic, and negligible far from the real axis.
"""

import math
import statistics
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tare.statistics.distributions import root

_Complex = NDArray[np.complex128]
_FROM_POLE = 3.0
"""Least distance of the line from 0, where the integrand is infinite, in inverse standard deviations."""
_STEPS = 6.0
"""Steps in the line's distance to 0: the rule's error is e^(-2 pi 6)."""
_DENSITY, _SKEWED_DENSITY = 2.0, 4.0
"""Least number of steps per inverse standard deviation; sums in which few numbers have any weight are skewed."""
_FAR = 9.0
"""Distance from the real axis beyond which nothing remains, in inverse standard deviations: e^(-81 / 2)."""
_FARTHEST = -40.0
"""Where all but the least value of a sum have negligible weight."""
_FEW = 0.02
"""At this distance from 0 few of the ranks 1 .. n have any weight, and the integrand goes all around."""
_AT_ONCE = 50_000
"""Factors computed in one call, to limit memory."""


def signed_ranks_at_most(n: int, rank_sum: int) -> float:
    """P(T <= ``rank_sum``), to a relative 1e-10: T is the sum of the ranks among 1 .. n whose coin shows heads."""
    most = n * (n + 1) // 2
    if not 0 <= rank_sum < most:
        return float(rank_sum >= most)
    if 2 * rank_sum >= most:
        return 1 - signed_ranks_at_most(n, most - 1 - rank_sum)
    ranks = np.arange(1.0, n + 1)

    def heads(s: float) -> NDArray[np.float64]:
        weights = np.exp(s * ranks)
        return np.asarray(weights / (1 + weights))

    saddle = _saddle(lambda s: float(np.sum(ranks * heads(s))), rank_sum)
    deviation = math.sqrt(float(np.sum(ranks**2 * heads(saddle) * (1 - heads(saddle)))))
    s = min(saddle, -_FROM_POLE / deviation)
    weighty = ranks[: math.ceil(_FARTHEST / s)]
    weightless = (n - weighty.size) * math.log(2)

    def log_generating(z: _Complex) -> _Complex:
        parts = np.array_split(z, math.ceil(z.size * weighty.size / _AT_ONCE))
        turns = (np.outer(part, weighty) for part in parts)
        sums = [(np.log1p(np.exp(turn)) - turn / 2 - math.log(2)).sum(axis=1) for turn in turns]
        return np.asarray(np.concatenate(sums) - weightless, dtype=np.complex128)

    above = rank_sum - float(weighty.sum()) / 2
    return _at_most(log_generating, s, deviation, above, all_around=-s > _FEW)


def draws_at_most(kinds: Mapping[tuple[int, ...], int], total: int) -> float:
    """P(sum <= ``total``), to a relative 1e-10, of so many draws from each kind's equally likely numbers."""
    least, most = (sum(count * edge(kind) for kind, count in kinds.items()) for edge in (min, max))
    if not least <= total < most:
        return float(total >= most)
    centre = sum(count * statistics.fmean(kind) for kind, count in kinds.items())
    if total + 1 / 2 > centre:
        turned = {tuple(-number for number in kind): count for kind, count in kinds.items()}
        return 1 - draws_at_most(turned, -total - 1)
    numbers = [(np.array(kind, dtype=np.float64), count) for kind, count in kinds.items()]

    def moments(s: float) -> NDArray[np.float64]:
        return sum((count * _moments(kind, s) for kind, count in numbers), np.zeros(2))

    def log_generating(z: _Complex) -> _Complex:
        parts = (
            count * np.log(np.exp(np.outer(z, kind - kind.mean())).mean(axis=1)) for kind, count in numbers
        )
        return sum(parts, np.zeros(z.size, dtype=np.complex128))

    saddle = _saddle(lambda s: float(moments(s)[0]), total)
    deviation = math.sqrt(float(moments(saddle)[1]))
    s = min(saddle, -_FROM_POLE / deviation)
    return _at_most(log_generating, s, deviation, total - centre, all_around=True)


def _moments(numbers: NDArray[np.float64], s: float) -> NDArray[np.float64]:
    """Mean and variance of one draw weighted by e^(s number)."""
    weights = np.exp(s * (numbers - numbers.min()))
    mean = float(np.average(numbers, weights=weights))
    return np.array([mean, float(np.average((numbers - mean) ** 2, weights=weights))])


def _saddle(mean: Callable[[float], float], bound: int) -> float:
    """The tilt that puts the sum's mean next to ``bound``, where the integrand varies least."""
    return root(lambda s: mean(s) - bound - 1 / 2, _FARTHEST, 0.0)


def _at_most(
    log_generating: Callable[[_Complex], _Complex],
    s: float,
    deviation: float,
    bound: float,
    *,
    all_around: bool,
) -> float:
    """P(sum <= ``bound``); both are given minus the sum's centre, so that no digits are lost to it."""
    density = _SKEWED_DENSITY if all_around else _DENSITY
    points = 2 * math.ceil(math.pi * max(_STEPS / -s, density * deviation)) + 1
    used = points // 2 if all_around else math.ceil(_FAR / deviation * points / (2 * math.pi))
    z = np.asarray(s + 2j * math.pi / points * np.arange(used + 1), dtype=np.complex128)
    terms = (np.exp(log_generating(z) - z * bound) / (1 - np.exp(z))).real
    return float(terms[0] + 2 * terms[1:].sum()) / points


def average_ranks(values: ArrayLike) -> NDArray[np.float64]:
    """Rank along the last axis, from 1; equal values share the mean of their ranks.

    Ranks with ties shared; SciPy has the same in a package that takes 0.8 s to load.
    """
    array = np.asarray(values, dtype=np.float64)
    rows = array.reshape(-1, array.shape[-1])
    count, length = rows.shape
    order = np.argsort(rows, axis=1) + (np.arange(count) * length)[:, None]
    ordered = rows.ravel()[order]
    begins = np.ones((count, length), dtype=bool)
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=begins[:, 1:])
    first = np.flatnonzero(begins)
    size = np.diff(np.append(first, count * length))
    ranks = np.empty(count * length)
    ranks[order.ravel()] = np.repeat(first % max(1, length) + (size + 1) / 2, size)
    return ranks.reshape(array.shape)
