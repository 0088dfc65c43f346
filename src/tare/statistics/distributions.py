# SPDX-License-Identifier: Apache-2.0
"""Distribution functions and their quantiles, one value at a time, to a relative 1e-12 or better.

SciPy has the same, but is larger than all else that Tare needs. The continued fractions are those of the
NIST Digital Library of Mathematical Functions, 8.17.22 and 8.9.2, by Lentz's method (Applied Optics 15 (1976) 668-671);
the root finder is Chandrupatla's, Advances in Engineering Software 28 (1997) 145-149.
"""

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import count
from statistics import NormalDist

_TINY = 1e-300
_LARGE = 30.0
"""Where Stirling's series is right to the last digit."""
_EPSILON = 2.0**-52
_NORMAL = NormalDist()
_Point = tuple[float, float]


def normal_share(z: float) -> float:
    """Chance that a normal variable is at most ``z`` standard deviations above its mean."""
    return math.erfc(-z / math.sqrt(2)) / 2


def normal_quantile(share: float) -> float:
    """Where ``normal_share`` is ``share``, which lies between 0 and 1; ``ValueError`` where it does not."""
    return _NORMAL.inv_cdf(share)


def student_share(freedom: int, t: float) -> float:
    """Chance that Student's t with ``freedom`` degrees of freedom is at most ``t``."""
    tail = _beta_share(freedom / 2, 0.5, freedom / (freedom + t * t), t * t / (freedom + t * t)) / 2
    return tail if t < 0 else 1 - tail


@lru_cache(maxsize=1024)
def student_quantile(freedom: int, share: float) -> float:
    """Where ``student_share`` is ``share``; infinitely far for 0 and 1."""
    if share > 1 / 2:
        return -student_quantile(freedom, 1 - share)
    if share <= 0:
        return -math.inf
    farthest = _beyond(lambda t: student_share(freedom, -t) < share)
    return root(lambda t: student_share(freedom, t) - share, -farthest, 0.0)


@lru_cache(maxsize=1024)
def beta_quantile(first: float, second: float, share: float) -> float:
    """Where the distribution function of the beta distribution is ``share``."""
    return root(lambda x: _beta_share(first, second, x, 1 - x) - share, 0.0, 1.0)


def binomial_beyond(count: int, tries: int, chance: float) -> float:
    """Chance of more than ``count`` events in ``tries``, each with ``chance`` (DLMF 8.17.5)."""
    return 0.0 if count >= tries else _beta_share(count + 1, tries - count, chance, 1 - chance)


@lru_cache(maxsize=1024)
def chi_squared_quantile(freedom: int, beyond: float) -> float:
    """The value that chi-squared with ``freedom`` degrees of freedom exceeds with the chance ``beyond``.

    For a chance near 1 only the difference from 1 counts, so the result is as rough as that.
    """
    most = _beyond(lambda x: _gamma_tail(freedom / 2, x / 2) < beyond)
    return root(lambda x: _gamma_tail(freedom / 2, x / 2) - beyond, 0.0, most)


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function changes its sign between ``low`` and ``high``, to the last digits.

    ``ValueError`` if it has one sign at both ends.
    """
    newest, opposite = (low, function(low)), (high, function(high))
    for place, value in (newest, opposite):
        if value == 0:
            return place
    if (newest[1] > 0) == (opposite[1] > 0):
        raise ValueError(f"no change of sign between {low} and {high}")
    share = 1 / 2
    while True:
        place = newest[0] + share * (opposite[0] - newest[0])
        seen = (place, function(place))
        if (seen[1] > 0) == (newest[1] > 0):
            newest, older = seen, newest
        else:
            newest, opposite, older = seen, newest, opposite
        best = min(newest, opposite, key=lambda point: abs(point[1]))
        if best[1] == 0 or (least := _least_step(newest[0], opposite[0], best[0])) >= 1 / 2:
            return best[0]
        share = min(max(_step(newest, opposite, older), least), 1 - least)


def _least_step(newest: float, opposite: float, best: float) -> float:
    """A few rounding errors of the root, as a share of the remaining range."""
    return (4 * _EPSILON * abs(best) + _TINY) / abs(opposite - newest)


def _step(newest: _Point, opposite: _Point, older: _Point) -> float:
    """Where in the range to look next: at the inverse parabola's root where it can be trusted, else halfway."""
    (x, f), (other, other_f), (old, old_f) = newest, opposite, older
    xi, phi = (x - other) / (old - other), (f - other_f) / (old_f - other_f)
    if not (phi**2 < xi and (1 - phi) ** 2 < 1 - xi):
        return 1 / 2
    straight = f / (other_f - f) * (old_f / (other_f - old_f))
    return straight + (old - x) / (other - x) * (f / (old_f - f)) * (other_f / (old_f - other_f))


def _beyond(reached: Callable[[float], bool]) -> float:
    """A power of two from which ``reached`` holds."""
    return next(2.0**power for power in count() if reached(2.0**power))


def _beta_share(first: float, second: float, x: float, rest: float) -> float:
    """The regularized incomplete beta function; ``rest``: 1 - x, without the rounding of a difference."""
    if x <= 0 or rest <= 0:
        return float(rest <= 0)
    if x > (first + 1) / (first + second + 2):
        return 1 - _beta_left(second, first, rest, x)
    return _beta_left(first, second, x, rest)


def _beta_left(first: float, second: float, x: float, rest: float) -> float:
    """``_beta_share`` where the fraction converges fast; next to the mean, on both sides."""
    scale = math.exp(first * _log(x, rest) + second * _log(rest, x) - _log_beta(first, second))
    return scale / first * _fraction(_beta_terms(first, second, x))


def _log(x: float, rest: float) -> float:
    return math.log(x) if x < rest else math.log1p(-rest)


def _log_beta(first: float, second: float) -> float:
    """Logarithm of the beta function, by Stirling's series for large arguments, where subtraction loses digits."""
    small, large = sorted((first, second))
    if large < _LARGE:
        return math.lgamma(small) + math.lgamma(large) - math.lgamma(small + large)
    grown = (large - 1 / 2) * math.log1p(small / large) + small * (math.log(small + large) - 1)
    return math.lgamma(small) - grown - _stirling(small + large) + _stirling(large)


def _stirling(x: float) -> float:
    """Log-gamma minus (x - 1/2) ln x - x + ln(2 pi) / 2 (DLMF 5.11.1)."""
    return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * x * x)) / (x * x)) / (x * x)) / x


def _beta_terms(first: float, second: float, x: float) -> Iterator[_Point]:
    yield 1.0, 1.0
    for m in count():
        if m:
            yield m * (second - m) * x / ((first + 2 * m - 1) * (first + 2 * m)), 1.0
        both = first + m
        yield -both * (both + second) * x / ((first + 2 * m) * (first + 2 * m + 1)), 1.0


def _gamma_tail(shape: float, x: float) -> float:
    """The regularized upper incomplete gamma function."""
    if x <= 0:
        return 1.0
    scale = math.exp(shape * math.log(x) - x - math.lgamma(shape))
    if x > shape + 1:
        return scale * _fraction(_gamma_terms(shape, x))
    return 1 - scale * _gamma_series(shape, x)


def _gamma_terms(shape: float, x: float) -> Iterator[_Point]:
    yield 1.0, x + 1 - shape
    for k in count(1):
        yield -k * (k - shape), x + 2 * k + 1 - shape


def _gamma_series(shape: float, x: float) -> float:
    total = term = 1 / shape
    for k in count(1):
        term *= x / (shape + k)
        total += term
        if term < total * _EPSILON:
            return total
    raise AssertionError


def _fraction(terms: Iterator[_Point]) -> float:
    """The continued fraction a / (b + a' / (b' + ...)) of numerators and denominators, by Lentz's method."""
    value = upper = _TINY
    lower = 0.0
    for numerator, denominator in terms:
        lower = 1 / (denominator + numerator * lower or _TINY)
        upper = denominator + numerator / upper or _TINY
        value *= upper * lower
        if not abs(upper * lower - 1) > 4 * _EPSILON:
            break
    return value
