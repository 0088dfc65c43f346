# SPDX-License-Identifier: Apache-2.0
"""Values in the order of their blocks: whether they depend on each other, drift, jump, or follow what ran before."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tare.statistics.chance import Floats, drawn, kendall_p, orders, share_at_least
from tare.statistics.tails import average_ranks

FEWEST_FOR_LAG = 6
_WORTH_WIDENING = 0.25
"""Share of the limit from which dependence counts: a smaller dependence costs less than its correction."""
_MOST_DEPENDENCE = 0.8
"""Widens three times. So few blocks show no more with any certainty: at autocorrelations of 0.5 and 0.7 and n = 10, 16
and 32, a limit of 0.95, which widens 6.2 times, hardly covers more often (by at most 0.2 points)."""
_OWN_SHARE = 2 / 3
"""Of the variance of a log-ratio that the environment's run has in it where all runs have the same noise."""
_FEWEST_OF_A_KIND = 2
_RARE = "something rare"
_DECIMALS = 12
"""Log-ratios that agree to so many decimals differ by rounding alone."""


@dataclass(frozen=True, slots=True)
class Jump:
    """The place where the values before and after differ most."""

    after: int
    """Number of values before it."""
    statistic: float
    p: float


def lag_one(values: Sequence[float]) -> float:
    """Autocorrelation of each value with the next; 0 when all are equal."""
    return float(_lag_one(np.asarray(values, dtype=np.float64)))


def _lag_one(values: Floats) -> Floats:
    centred = spread_of(values)
    total = np.sum(centred**2, axis=-1)
    return np.asarray(np.sum(centred[..., 1:] * centred[..., :-1], axis=-1) / np.where(total > 0, total, 1.0))


def lag_limit(n: int) -> float:
    """2 / sqrt(n): above it the values are not independent (docs/method.md, "Checks of each interval")."""
    return 2 / math.sqrt(n)


def widening(values: Sequence[float]) -> float:
    """Factor by which dependence widens an interval: sqrt(n / effective n) (Bayley and Hammersley 1946)."""
    return _widening(tuple(values))


@lru_cache(maxsize=16)
def _widening(values: tuple[float, ...]) -> float:
    """``widening``, cached: every level of a claim's intervals, its looks and its diagnosis use the same values."""
    return float(widenings(np.asarray(values, dtype=np.float64)))


def widenings(values: Floats) -> Floats:
    """``widening`` of each series: shape (..., n) to (...)."""
    rho = _dependence(values)
    return np.asarray(np.sqrt((1 + rho) / (1 - rho)))


def _dependence(values: Floats) -> Floats:
    """Autocorrelation by which an interval is widened: 0 where the values show none worth it.

    The observed value is too small by (1 + 4 rho) / n on average (Kendall, Biometrika 41 (1954) 403-404); this is
    added.
    """
    n = values.shape[-1]
    if n < FEWEST_FOR_LAG:
        return np.zeros(values.shape[:-1])
    seen = _lag_one(values)
    corrected = np.minimum(_MOST_DEPENDENCE, seen + (1 + 4 * seen) / n)
    return np.where(seen > _WORTH_WIDENING * lag_limit(n), corrected, 0.0)


def common_widening(series: Floats) -> float:
    """Factor by which dependence widens the intervals of several series of the same blocks, shape (blocks, series).

    What a single series of ten blocks cannot show, many can: their autocorrelations are averaged, and the average
    counts from where one of a single series does, in standard errors of so many independent series. A part of this
    limit, half with a single series and less with more, is put down to chance. The rest is taken for the average of
    log-ratios in which the environment alone drifts, an AR(1) beside natives that do not. They hide a third of the
    drift from each block to the next, but not from the mean, whose variance is 1 + 2 s r / (1 - r) times as large, with
    r the drift's own autocorrelation and s its share of a log-ratio's variance.
    """
    n = len(series)
    varies = (spread_of(series.T) != 0).any(axis=-1)
    if n < FEWEST_FOR_LAG or not varies.any():
        return 1.0
    centred = spread_of(series.T[varies])
    seen = float(np.mean(_lag_one(centred)))
    many = _independent(centred)
    limit = (_WORTH_WIDENING * lag_limit(n) + 1 / n) / math.sqrt(many)
    if seen + 1 / n <= limit:
        return 1.0
    drift = min(_MOST_DEPENDENCE, (seen + 1 / n - limit / (1 + many)) / (1 - 4 / n) / _OWN_SHARE)
    return math.sqrt(1 + 2 * _OWN_SHARE * drift / (1 - drift))


def _independent(centred: Floats) -> float:
    """How many independent series have so exact a mean autocorrelation as these; shape (series, blocks).

    The autocorrelations of two series correlate as the square of the series' own correlation, which is 1 / (blocks - 1)
    by chance where they are independent.
    """
    count, n = centred.shape
    unit = centred / np.linalg.norm(centred, axis=-1, keepdims=True)
    between = float(np.sum((unit.T @ unit) ** 2)) - count
    by_chance = count * (count - 1) / (n - 1)
    return float(count**2 / (count + max(0.0, between - by_chance) * (n - 1) / (n - 2)))


def spread_of(values: Floats) -> Floats:
    """Distances to the mean; mere rounding errors become 0, so that they do not pass for a pattern."""
    apart = np.round(values - values[..., :1], _DECIMALS)
    centred: Floats = apart - np.mean(apart, axis=-1, keepdims=True)
    return centred


def kendall(values: Sequence[float]) -> tuple[float, float]:
    """Kendall's tau of the values with their order, and its two-sided p-value; ties make that larger."""
    array = spread_of(np.asarray(values))
    n = array.size
    score = _descents(array[::-1]) - _descents(array)
    return 2 * score / (n * (n - 1)), kendall_p(score, n)


def _descents(values: Floats) -> int:
    """Number of falling pairs, by merging ordered halves: n log^2 n steps."""
    ranks = np.searchsorted(np.sort(values), values)
    size, descents = 1, 0
    padded = np.full(1 << (ranks.size - 1).bit_length(), ranks.size)
    padded[: ranks.size] = ranks
    while size < padded.size:
        halves = padded.reshape(-1, 2, size)
        apart = np.arange(len(halves))[:, None] * (ranks.size + 1)
        left, right = np.sort(halves[:, 0] + apart).ravel(), (halves[:, 1] + apart).ravel()
        through = size * np.repeat(np.arange(1, len(halves) + 1), size)
        descents += int(np.sum(through - np.searchsorted(left, right, side="right")))
        size *= 2
    return descents


def jump(values: Sequence[float]) -> Jump:
    """Find the most likely single change point, by ranks: Pettitt, Applied Statistics 28 (1979) 126-135.

    The p-value comes from random orders of the ranks, so it is right for any distribution and any n.
    """
    ranks = average_ranks(spread_of(np.asarray(values)))
    path = np.abs(_path(ranks[None, :])[0])
    after = int(np.argmax(path)) + 1
    statistic = float(path[after - 1])
    return Jump(after, statistic, share_at_least(drawn(_largest, orders, ranks.size), statistic))


def _path(ranks: Floats) -> Floats:
    """Shape (..., n) to (..., n - 1): distance of the ranks so far from their expectation without a change."""
    n = ranks.shape[-1]
    path: Floats = 2 * np.cumsum(ranks, axis=-1)[..., :-1] - np.arange(1, n) * (n + 1)
    return path


def _largest(orders_drawn: Floats) -> Floats:
    largest: Floats = np.max(np.abs(_path(orders_drawn + 1)), axis=-1)
    return largest


def carry_over(values: Sequence[float], before: Sequence[str]) -> tuple[float, float] | None:
    """Kruskal and Wallis's H of the values by each one's predecessor, and its p-value by random relabelling.

    Predecessors that occur once together form one kind. ``None`` with fewer than two kinds: nothing to compare.
    Kruskal and Wallis, Journal of the American Statistical Association 47 (1952) 583-621.
    """
    counts = Counter(before)
    kinds = [name if counts[name] >= _FEWEST_OF_A_KIND else _RARE for name in before]
    names = sorted(set(kinds))
    if len(names) < _FEWEST_OF_A_KIND:
        return None
    member = np.array([[kind == name for name in names] for kind in kinds], dtype=np.float64)
    ranks = average_ranks(spread_of(np.asarray(values)))
    statistic = float(_between(ranks[None, :], member)[0])
    return statistic, share_at_least(_between(ranks[orders(ranks.size)], member), statistic)


def _between(ranks: Floats, member: Floats) -> Floats:
    """H without the correction for ties, which is the same for every order of the same ranks."""
    n = ranks.shape[-1]
    sums, sizes = ranks @ member, np.sum(member, axis=0)
    values: Floats = 12 / (n * (n + 1)) * np.sum(sums**2 / sizes, axis=-1) - 3 * (n + 1)
    return values
