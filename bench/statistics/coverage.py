# SPDX-License-Identifier: Apache-2.0
"""Coverage and width of every estimator in every scenario; boots and iterations; the papers' treatments."""

import math
from collections.abc import Callable

import numpy as np

from bench.simulation import intervals, papers
from bench.simulation.intervals import Bounds
from bench.simulation.scenarios import PLANTED, RUN, SCENARIOS, Arms, Floats, Scenario, drifting, spikes
from bench.statistics.bootstraps import RESAMPLED
from bench.statistics.estimators import PLAIN, Estimator, of_means, t_interval, welch, yuen_unpaired
from bench.statistics.markdown import percent, table

BLOCKS = (5, 10, 30)
FAR = 0.02
"""An estimate this far from the truth is worth no decision about a few percent."""
SLOW_SHARE = 0.3
MANY = 600_000
"""Blocks from which truths are taken."""


def coverage(campaigns: int, seed: int) -> str:
    rows = [["Tare: two native runs, signed ranks", *(_tare(name, campaigns, seed) for name in SCENARIOS)]]
    rows += [
        [estimator.name, *(_cell(estimator, one, campaigns, seed) for one in SCENARIOS.values())]
        for estimator in (*PLAIN, *RESAMPLED)
    ]
    apart = [
        _covered_and_width(welch(*_arms(drifting(interleaved=False), n, campaigns, seed)), PLANTED)
        for n in BLOCKS
    ]
    rows.append(["not interleaved, Welch's t on logarithms", "", "", "", _joined(apart), "", ""])
    rows.append(["t on the means of starts", "", "", "", "", "", _joined([None, *_starts(campaigns, seed)])])
    return table(["estimator", *SCENARIOS], rows)


def _arms(scenario: Scenario, n: int, campaigns: int, seed: int) -> tuple[Floats, Floats]:
    made = scenario(np.random.default_rng([seed, n]), campaigns, n)
    return made.first, made.environment


def _many(scenario: Scenario, n: int) -> Arms:
    return scenario(np.random.default_rng(99), MANY // n, n)


def _cell(estimator: Estimator, scenario: Scenario, campaigns: int, seed: int) -> str:
    found = []
    for n in BLOCKS:
        large = _many(scenario, n)
        truth = estimator.estimand(large.first, large.environment)
        found.append(_covered_and_width(estimator.interval(*_arms(scenario, n, campaigns, seed)), truth))
    return _joined(found)


def _tare(name: str, campaigns: int, seed: int) -> str:
    found: list[tuple[float, float] | None] = [None]
    for n in BLOCKS[1:]:
        truth = intervals.pseudo_median(_many(SCENARIOS[name], n).log_ratios, np.random.default_rng(1))
        rows = SCENARIOS[name](np.random.default_rng([seed, n]), campaigns, n).log_ratios
        found.append(_covered_and_width(intervals.signed_rank(rows), truth))
    return _joined(found)


def _starts(campaigns: int, seed: int) -> list[tuple[float, float]]:
    """S6 judged by its starts, of which each serves five blocks."""
    found = []
    for n in BLOCKS[1:]:
        native, here = _arms(SCENARIOS["S6"], n, campaigns, seed)
        means = (here - native).reshape(campaigns, n // 5, 5).mean(axis=2)
        found.append(_covered_and_width(t_interval(means), PLANTED))
    return found


def _covered_and_width(bounds: Bounds, truth: float) -> tuple[float, float]:
    covered = float(np.mean(intervals.covers(bounds, truth)))
    with np.errstate(over="ignore"):
        return covered, 100 * float(np.median(np.exp(bounds[1]) - np.exp(bounds[0])))


def _joined(found: list[tuple[float, float] | None] | list[tuple[float, float]]) -> str:
    shares = "/".join("-" if one is None else f"{100 * one[0]:.0f}" for one in found)
    widths = "/".join("-" if one is None or not math.isfinite(one[1]) else f"{one[1]:.1f}" for one in found)
    return f"{shares} · {widths}"


def iterations(campaigns: int, seed: int) -> str:
    """Thirty runs of the environment, as starts times iterations: starts 2 % apart, iterations 1 %."""
    rows = []
    for starts, each in ((3, 10), (6, 5), (10, 3), (30, 1)):
        generator = np.random.default_rng([seed, starts])
        runs = generator.normal(0.0, 0.02, (campaigns, starts, 1)) + generator.normal(
            0, 0.01, (campaigns, starts, each)
        )
        means = runs.mean(axis=2)
        whole = hierarchical(means, runs, generator)
        found = [t_interval(runs.reshape(campaigns, -1)), t_interval(means), whole]
        cells = [
            f"{percent(share)}, {width:.1f}"
            for share, width in (_covered_and_width(one, 0.0) for one in found)
        ]
        if starts > intervals.LOOKS[0] // 2:
            share, width = _covered_and_width(intervals.signed_rank(means), 0.0)
            cells.append(f"{percent(share)}, {width:.1f}")
        else:
            cells.append("none is given")
        rows.append([f"{starts} x {each}", *cells])
    return table(
        ["starts x iterations", "all runs pooled, t", "means of starts, t", "hierarchical bootstrap", "Tare"],
        rows,
    )


def hierarchical(means: Floats, runs: Floats, generator: np.random.Generator) -> Bounds:
    """Resample starts, then iterations within each."""
    campaigns, starts, each = runs.shape
    draws = np.empty((campaigns, 300))
    rows = np.arange(campaigns)[:, None, None]
    for draw in range(draws.shape[1]):
        chosen = generator.integers(0, starts, (campaigns, starts, 1))
        inner = generator.integers(0, each, (campaigns, starts, each))
        draws[:, draw] = runs[rows, chosen, inner].mean(axis=(1, 2))
    assert means.shape == (campaigns, starts)
    low, high = np.quantile(draws, [0.025, 0.975], axis=1)
    return low, high


def _both(deviation: float) -> Callable[[np.random.Generator, tuple[int, int]], Floats]:
    return lambda generator, shape: generator.normal(0.0, deviation, shape)


def _spiking(rate: float) -> Callable[[np.random.Generator, tuple[int, int]], Floats]:
    return lambda generator, shape: generator.normal(0.0, RUN, shape) + spikes(generator, shape, rate)


def _two_modes(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return generator.normal(0.0, RUN, shape) + np.where(
        generator.random(shape) < SLOW_SHARE, math.log(1.2), 0.0
    )


NOISES = {
    "lognormal, 3 %": (_both(RUN), _both(RUN)),
    "spikes in 5 % of both": (_spiking(0.05), _spiking(0.05)),
    "spikes: environment 10 %, native 2 %": (_spiking(0.02), _spiking(0.10)),
    "environment 6 %, native 1 %": (_both(0.01), _both(0.06)),
    "environment with two modes (30 % of runs +20 %)": (_both(RUN), _two_modes),
}


def of_papers(campaigns: int, seed: int) -> str:
    """Thirty-two runs of each arm, unpaired, by the papers' treatments."""
    rows = []
    for name, (native, here) in NOISES.items():
        generator = np.random.default_rng(seed)
        shape = (campaigns, 32)
        below, above = native(generator, shape), PLANTED + here(generator, shape)
        large = native(generator, (1, 2_000_000)), PLANTED + here(generator, (1, 2_000_000))
        truth = of_means(*large)
        trimmed = papers.trimmed(np.exp(above)), papers.trimmed(np.exp(below))
        plain = papers.plain_t(np.exp(above)), papers.plain_t(np.exp(below))
        best = papers.best_of_five(np.exp(above)) / papers.best_of_five(np.exp(below)) - 1
        far = np.mean(np.abs(best - math.expm1(truth)) > FAR)
        rows.append(
            [
                f"{name} ({100 * math.expm1(truth):.1f} %)",
                f"{100 * float(np.median(trimmed[0].mean / trimmed[1].mean - 1)):.1f} %",
                *(
                    percent(np.mean(intervals.covers(papers.ratio(*one), truth)), 1)
                    for one in (trimmed, plain)
                ),
                percent(np.mean(intervals.covers(yuen_unpaired(below, above), truth)), 1),
                f"{100 * float(np.median(best)):.1f} %; {percent(far)}",
            ]
        )
    head = ["noise (true ratio of means)", "B16, B17: estimate", "…with a t interval, covers", "R15: covers"]
    return table([*head, "Yuen 20 %: covers", "L12, best of five: estimate; off by more than 2 points"], rows)
