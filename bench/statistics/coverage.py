# SPDX-License-Identifier: Apache-2.0
"""Coverage and width of every estimator in every scenario; boots and iterations; the papers' treatments."""

import math
from collections.abc import Callable

import numpy as np

from bench.simulation import intervals, papers
from bench.simulation.intervals import Bounds
from bench.simulation.scenarios import PLANTED, RUN, SCENARIOS, Arms, Floats, Scenario, drifting, spikes
from bench.simulation.signed_ranks import pseudo_median, signed_rank
from bench.statistics.bootstraps import RESAMPLED
from bench.statistics.estimators import PLAIN, Estimator, of_means, t_interval, welch, yuen_unpaired
from bench.statistics.markdown import percent, table
from tare.statistics.blocks import LEAST_BLOCKS

BLOCKS = (5, 10, 30)
UNLIKE = "S3"
"""Where the arms' noise differs in shape, so that each estimator estimates something of its own."""
FAR = 0.02
"""An estimate this far from the truth is worth no decision about a few percent."""
SLOW_SHARE = 0.3
MANY = 600_000
"""Blocks from which truths are taken."""


def coverage(campaigns: int, seed: int) -> str:
    own = ("**Tare: aligned ranks, studentized**", _tare), ("signed ranks against the mean of both", _former)
    rows = [[name, *(row(text, campaigns, seed) for text in SCENARIOS)] for name, row in own]
    for estimators, count in ((PLAIN, campaigns), (RESAMPLED, campaigns // 2)):
        rows += [
            [estimator.name, *(_cell(estimator, item, count, seed) for item in SCENARIOS.values())]
            for estimator in estimators
        ]
    apart = [
        _covered_and_width(welch(*_arms(drifting(interleaved=False), n, campaigns, seed)), PLANTED)
        for n in BLOCKS
    ]
    rows.append(_only("S4", "not interleaved, Welch's t on logarithms", _joined(apart)))
    rows.append(_only("S6", "t on the means of starts", _joined([None, *_starts(campaigns, seed)])))
    return table(["estimator", *SCENARIOS], rows)


def _only(scenario: str, name: str, cell: str) -> list[str]:
    return [name, *(cell if text == scenario else "" for text in SCENARIOS)]


def _arms(scenario: Scenario, n: int, campaigns: int, seed: int) -> tuple[Floats, Floats]:
    made = scenario(np.random.default_rng([seed, n]), campaigns, n)
    return made.first, made.environment


def _many(scenario: Scenario, n: int) -> Arms:
    return scenario(np.random.default_rng(99), MANY // n, n)


def _cell(estimator: Estimator, scenario: Scenario, campaigns: int, seed: int) -> str:
    collected = []
    for n in BLOCKS:
        large = _many(scenario, n)
        truth = estimator.estimand(large.first, large.environment)
        collected.append(_covered_and_width(estimator.interval(*_arms(scenario, n, campaigns, seed)), truth))
    return _joined(collected)


def _tare(name: str, campaigns: int, seed: int) -> str:
    """Two native runs; the truth is what is planted wherever the runs' noise is alike or symmetric."""
    result: list[tuple[float, float] | None] = [None]
    for n in BLOCKS[1:]:
        truth = intervals.centre(SCENARIOS[name], n) if name == UNLIKE else PLANTED
        arms = SCENARIOS[name](np.random.default_rng([seed, n]), campaigns, n)
        result.append(_covered_and_width(intervals.bounds(arms), truth))
    return _joined(result)


def _former(name: str, campaigns: int, seed: int) -> str:
    """What Tare showed before, against the same truths."""
    result: list[tuple[float, float] | None] = [None]
    for n in BLOCKS[1:]:
        own = pseudo_median(_many(SCENARIOS[name], n).log_ratios, np.random.default_rng(1))
        rows = SCENARIOS[name](np.random.default_rng([seed, n]), campaigns, n).log_ratios
        result.append(_covered_and_width(signed_rank(rows), own if name == UNLIKE else PLANTED))
    return _joined(result)


def _starts(campaigns: int, seed: int) -> list[tuple[float, float]]:
    """S6 judged by its starts, of which each serves five blocks."""
    collected = []
    for n in BLOCKS[1:]:
        native, here = _arms(SCENARIOS["S6"], n, campaigns, seed)
        means = (here - native).reshape(campaigns, n // 5, 5).mean(axis=2)
        collected.append(_covered_and_width(t_interval(means), PLANTED))
    return collected


def _covered_and_width(bounds: Bounds, truth: float) -> tuple[float, float]:
    covered = float(np.mean(intervals.covers(bounds, truth)))
    with np.errstate(over="ignore"):
        return covered, 100 * float(np.median(np.exp(bounds[1]) - np.exp(bounds[0])))


def _joined(intervals: list[tuple[float, float] | None] | list[tuple[float, float]]) -> str:
    shares = "/".join("-" if entry is None else f"{100 * entry[0]:.0f}" for entry in intervals)
    widths = "/".join(
        "-" if entry is None or not math.isfinite(entry[1]) else f"{entry[1]:.1f}" for entry in intervals
    )
    return f"{shares} · {widths}"


def iterations(campaigns: int, seed: int) -> str:
    """Thirty runs of the environment, as starts times iterations: starts 2 % apart, iterations 1 %."""
    rows = [
        [f"{starts} x {each}", *_of_starts(starts, each, campaigns, seed)]
        for starts, each in ((3, 10), (6, 5), (10, 3), (30, 1))
    ]
    return table(
        ["starts x iterations", "all runs pooled, t", "means of starts, t", "hierarchical bootstrap", "Tare"],
        rows,
    )


def _of_starts(starts: int, each: int, campaigns: int, seed: int) -> list[str]:
    """Against two native runs per start, of as many iterations each; native's starts are alike."""
    generator = np.random.default_rng([seed, starts])
    own = generator.normal(0.0, 0.02, (campaigns, starts, 1))
    runs = own + generator.normal(0.0, 0.01, (campaigns, starts, each))
    first, second = generator.normal(0.0, 0.01 / math.sqrt(each), (2, campaigns, starts))
    arms = Arms(first, second, runs.mean(axis=2))
    against = runs - ((first + second) / 2)[..., None]
    result = [
        t_interval(against.reshape(campaigns, -1)),
        t_interval(arms.log_ratios),
        hierarchical(arms.log_ratios, against, generator),
    ]
    if starts >= LEAST_BLOCKS:
        result.append(intervals.bounds(arms))
    figures = [_covered_and_width(entry, 0.0) for entry in result]
    cells = [f"{percent(share)}, {width:.1f}" for share, width in figures]
    return cells if starts >= LEAST_BLOCKS else [*cells, "none is given"]


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
                    percent(np.mean(intervals.covers(papers.ratio(*entry), truth)), 1)
                    for entry in (trimmed, plain)
                ),
                percent(np.mean(intervals.covers(yuen_unpaired(below, above), truth)), 1),
                f"{100 * float(np.median(best)):.1f} %; {percent(far)}",
            ]
        )
    head = ["noise (true ratio of means)", "B16, B17: estimate", "…with a t interval, covers", "R15: covers"]
    return table([*head, "Yuen 20 %: covers", "L12, best of five: estimate; off by more than 2 points"], rows)
