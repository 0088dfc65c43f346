# SPDX-License-Identifier: Apache-2.0
"""Ways to put an interval around an overhead, each for many campaigns at once; one native run per block."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.special import stdtrit

from bench.simulation import papers
from bench.simulation.intervals import Bounds
from bench.simulation.scenarios import Floats
from bench.simulation.signed_ranks import pseudo_median, signed_rank

LEVEL = 0.95
TRIM = 0.2
Interval = Callable[[Floats, Floats], Bounds]
"""ln(time) of native and of the environment, each (campaigns, blocks)."""
Estimand = Callable[[Floats, Floats], float]
"""What it estimates, from one campaign of very many blocks."""


@dataclass(frozen=True, slots=True)
class Estimator:
    name: str
    interval: Interval
    estimand: Estimand


def of_means(native: Floats, here: Floats) -> float:
    """ln of the ratio of mean times."""
    return float(np.log(np.mean(np.exp(here)) / np.mean(np.exp(native))))


def of_geometric_means(native: Floats, here: Floats) -> float:
    return float(np.mean(here) - np.mean(native))


def of_paired_pseudo_median(native: Floats, here: Floats) -> float:
    return pseudo_median(here - native, np.random.default_rng(1))


def of_paired_median(native: Floats, here: Floats) -> float:
    return float(np.median(here - native))


def of_medians(native: Floats, here: Floats) -> float:
    return float(np.median(here) - np.median(native))


def of_paired_trimmed(native: Floats, here: Floats) -> float:
    return float(stats.trim_mean((here - native).ravel(), TRIM))


def of_trimmed(native: Floats, here: Floats) -> float:
    return float(stats.trim_mean(here.ravel(), TRIM) - stats.trim_mean(native.ravel(), TRIM))


def t_interval(values: Floats) -> Bounds:
    n = values.shape[-1]
    half = float(stdtrit(n - 1, (1 + LEVEL) / 2)) * values.std(axis=-1, ddof=1) / math.sqrt(n)
    return values.mean(axis=-1) - half, values.mean(axis=-1) + half


def paired_t(native: Floats, here: Floats) -> Bounds:
    return t_interval(here - native)


def paired_signed_rank(native: Floats, here: Floats) -> Bounds:
    """Five blocks have no interval at 95 %; theirs is that at 93.75 %."""
    return signed_rank(here - native, min(LEVEL, 1 - 2.0 ** (1 - here.shape[-1])))


def welch(native: Floats, here: Floats) -> Bounds:
    return _welch(
        here.mean(axis=-1) - native.mean(axis=-1), (_squared_error(native), _squared_error(here)), here
    )


def _squared_error(values: Floats) -> Floats:
    return np.asarray(values.var(axis=-1, ddof=1) / values.shape[-1])


def _welch(point: Floats, errors: tuple[Floats, Floats], values: Floats, lost: int = 0) -> Bounds:
    """``lost``: how many values per arm were trimmed."""
    variance = errors[0] + errors[1]
    freedom = variance**2 * (values.shape[-1] - lost - 1) / (errors[0] ** 2 + errors[1] ** 2)
    half = stdtrit(freedom, (1 + LEVEL) / 2) * np.sqrt(variance)
    return point - half, point + half


def fieller(native: Floats, here: Floats, *, paired: bool) -> Bounds:
    """Of the ratio of means: Fieller, Journal of the Royal Statistical Society B 16 (1954) 175-185, as remembered."""
    below, above = np.exp(native), np.exp(here)
    n = below.shape[-1]
    x, y = below.mean(axis=-1), above.mean(axis=-1)
    both = (
        np.mean((below - x[:, None]) * (above - y[:, None]), axis=-1) / (n - 1)
        if paired
        else np.zeros_like(x)
    )
    t = float(stdtrit(n - 1 if paired else 2 * n - 2, (1 + LEVEL) / 2))
    a = x**2 - t**2 * _squared_error(below)
    b = x * y - t**2 * both
    c = y**2 - t**2 * _squared_error(above)
    root = np.sqrt(np.maximum(0.0, b**2 - a * c))
    bounded = a > 0
    low, high = ((b + sign * root) / np.where(bounded, a, 1.0) for sign in (-1, 1))
    return np.where(bounded, _log(low), -np.inf), np.where(bounded, _log(high), np.inf)


def _log(values: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(values, 1e-300)))


def fieller_unpaired(native: Floats, here: Floats) -> Bounds:
    return fieller(native, here, paired=False)


def fieller_paired(native: Floats, here: Floats) -> Bounds:
    return fieller(native, here, paired=True)


def _winsorized(values: Floats) -> tuple[Floats, Floats, int]:
    """Trimmed mean, squared standard error from winsorized values, and how many are cut in all: Yuen 1974."""
    n = values.shape[-1]
    cut = int(TRIM * n)
    ordered = np.sort(values, axis=-1)
    kept = n - 2 * cut
    mean = ordered[:, cut : n - cut].mean(axis=-1)
    clipped = np.clip(ordered, ordered[:, [cut]], ordered[:, [n - cut - 1]])
    squares = clipped.var(axis=-1, ddof=1) * (n - 1)
    return mean, np.asarray(squares / (kept * (kept - 1))), 2 * cut


def yuen_paired(native: Floats, here: Floats) -> Bounds:
    values = here - native
    mean, squared, cut = _winsorized(values)
    half = float(stdtrit(values.shape[-1] - cut - 1, (1 + LEVEL) / 2)) * np.sqrt(squared)
    return mean - half, mean + half


def yuen_unpaired(native: Floats, here: Floats) -> Bounds:
    left, squared_left, cut = _winsorized(native)
    right, squared_right, _ = _winsorized(here)
    return _welch(right - left, (squared_left, squared_right), here, cut)


def sign_test(native: Floats, here: Floats) -> Bounds:
    """Five blocks: the whole range, 93.75 %."""
    ordered = np.sort(here - native, axis=-1)
    n = ordered.shape[-1]
    tail = stats.binom.cdf(np.arange(n), n, 0.5)
    place = max(0, int(np.sum(2 * tail <= 1 - LEVEL)) - 1)
    return ordered[:, place], ordered[:, n - 1 - place]


def trimmed_t(native: Floats, here: Floats) -> Bounds:
    """The papers' arms, with a plain t interval on what is left."""
    return papers.ratio(papers.trimmed(np.exp(here)), papers.trimmed(np.exp(native)))


PLAIN = (
    Estimator("Welch's t on logarithms, unpaired", welch, of_geometric_means),
    Estimator("Fieller, unpaired (ratio of means)", fieller_unpaired, of_means),
    Estimator("Fieller, paired (ratio of means)", fieller_paired, of_means),
    Estimator("t on block log-ratios", paired_t, of_geometric_means),
    Estimator("signed ranks against one native run", paired_signed_rank, of_paired_pseudo_median),
    Estimator("20 % trimmed block log-ratios (Yuen)", yuen_paired, of_paired_trimmed),
    Estimator("20 % trimmed logarithms, unpaired (Yuen)", yuen_unpaired, of_trimmed),
    Estimator("sign test, median block ratio", sign_test, of_paired_median),
    Estimator("papers: highest and lowest left out, t", trimmed_t, of_means),
)
