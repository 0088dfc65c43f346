# SPDX-License-Identifier: Apache-2.0
"""How often the interval of a spread without the highest and the lowest run holds what it is taken for.

    python -m bench.simulation.spreads

Prints a row for each kind of noise and number of runs: docs/papers-views.md has them. Takes two seconds.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from bench.simulation.scenarios import RUN, Floats, autoregressive, spikes
from tare.statistics.variance import MeanSquare, combined

RUNS = (12, 32)
CAMPAIGNS = 20_000
SEED = 1
Noise = Callable[[np.random.Generator, int, int], Floats]
"""Generator, campaigns, runs \N{RIGHTWARDS ARROW} ln(time)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """Of many campaigns with one kind of noise."""

    trimmed: float
    """Root of the mean variance of what is left: the spread that a paper prints, on average."""
    whole: float
    """The spread of all runs of all campaigns."""
    holds_trimmed: float
    """Share of the campaigns whose interval holds the first."""
    holds_whole: float


def normal(generator: np.random.Generator, campaigns: int, runs: int) -> Floats:
    return generator.normal(0.0, RUN, (campaigns, runs))


def heavy(generator: np.random.Generator, campaigns: int, runs: int) -> Floats:
    """Student's t with five degrees of freedom."""
    return np.asarray(RUN * np.sqrt(3 / 5) * generator.standard_t(5, (campaigns, runs)))


def spiked(generator: np.random.Generator, campaigns: int, runs: int) -> Floats:
    """One run in thirty is slow."""
    return normal(generator, campaigns, runs) + spikes(generator, (campaigns, runs), 0.03)


def dependent(generator: np.random.Generator, campaigns: int, runs: int) -> Floats:
    """Each run resembles the one before."""
    return autoregressive(generator, campaigns, runs)


NOISES: Mapping[str, Noise] = {
    "normal": normal,
    "heavy tails": heavy,
    "3 % slow runs": spiked,
    "neighbours alike": dependent,
}


def simulated(noise: Noise, runs: int, campaigns: int = CAMPAIGNS) -> Covered:
    """Trim and judge every campaign as ``analyze.arms.spread_of`` does."""
    times = noise(np.random.default_rng(SEED), campaigns, runs)
    own = np.sort(times, axis=1)[:, 1:-1].var(axis=1, ddof=1)
    low, high = factors(runs - 2)
    trimmed, whole = own.mean(), times.var()
    return Covered(
        trimmed=float(np.sqrt(trimmed)),
        whole=float(np.sqrt(whole)),
        holds_trimmed=float(((low * own < trimmed) & (trimmed < high * own)).mean()),
        holds_whole=float(((low * own < whole) & (whole < high * own)).mean()),
    )


def factors(left: int) -> tuple[float, float]:
    """Ends of Tare's interval over the variance of so many values: they are in proportion to it."""
    estimate = combined([MeanSquare(1.0, 1.0, left - 1)], left)
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low, estimate.high


def rows() -> Iterator[str]:
    """The table, in Markdown."""
    yield "| noise | runs | all runs vary by | without the extremes | interval holds the latter | holds the former |"
    yield "|---|---|---|---|---|---|"
    for name, noise in NOISES.items():
        for runs in RUNS:
            own = simulated(noise, runs)
            yield (
                f"| {name} | {runs} | {own.whole:.2%} | {own.trimmed:.2%} | {own.holds_trimmed:.1%} "
                f"| {own.holds_whole:.1%} |"
            )


if __name__ == "__main__":
    for row in rows():
        print(row)
