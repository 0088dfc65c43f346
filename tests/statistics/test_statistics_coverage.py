# SPDX-License-Identifier: Apache-2.0
"""Simulated campaigns with a planted truth: do both kinds of intervals hold what they promise?"""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from tare.statistics import aligned_ranks
from tare.statistics.blocks import quantile
from tare.statistics.signed_rank import achieved_level, critical_value, walsh_averages

CAMPAIGNS = 4000
PLANTED = math.log(1.05)
Floats = NDArray[np.float64]
Noise = Callable[[np.random.Generator, tuple[int, ...]], Floats]


def lognormal(generator: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return generator.normal(0.0, 0.03, shape)


def with_spikes(generator: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    spiked = generator.random(shape) < 0.05
    return lognormal(generator, shape) + spiked * np.log1p(generator.exponential(0.30, shape))


def only_delays(generator: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return generator.exponential(0.1, shape)


def campaigns(noise: Noise, n: int) -> tuple[Floats, Floats]:
    """Log-ratios and controls of campaigns of n blocks with two native slots, as treat pairs them."""
    generator = np.random.default_rng(20250101 + n)
    first, second, other = (noise(generator, (CAMPAIGNS, n)) for _ in range(3))
    return PLANTED + other - (first + second) / 2, second - first


def missed(noise: Noise, n: int, error: float = 0.05) -> float:
    """The share of the intervals that do not hold what is planted."""
    values = aligned_ranks.statistic(*campaigns(noise, n), np.full(CAMPAIGNS, PLANTED))
    return float(np.mean(np.abs(values) > quantile(error)))


def three_deviations(probability: float) -> float:
    return 3 * math.sqrt(probability * (1 - probability) / CAMPAIGNS)


def promised_level(n: int) -> float:
    critical = critical_value(n, 0.95)
    assert critical is not None
    return achieved_level(n, critical)


@pytest.mark.parametrize("noise", [lognormal, with_spikes, only_delays])
@pytest.mark.parametrize(("n", "error"), [(6, 0.05), (10, 0.05), (30, 0.05), (10, 0.01), (30, 0.01)])
def test_the_interval_misses_a_planted_overhead_no_oftener_than_it_says(
    noise: Noise, n: int, error: float
) -> None:
    assert missed(noise, n, error) <= error + three_deviations(error)


@pytest.mark.parametrize("noise", [lognormal, with_spikes, only_delays])
def test_the_interval_misses_nearly_as_often_as_it_says_so_it_is_not_wider_than_it_must_be(
    noise: Noise,
) -> None:
    assert missed(noise, 30) >= 0.04 - three_deviations(0.04)


@pytest.mark.parametrize("noise", [lognormal, with_spikes, only_delays])
@pytest.mark.parametrize("n", [6, 10, 30])
def test_native_against_native_looks_different_exactly_as_often_as_signed_ranks_say(
    noise: Noise, n: int
) -> None:
    generator = np.random.default_rng(n)
    first, second = (noise(generator, (CAMPAIGNS, n)) for _ in range(2))
    averages = walsh_averages(second - first)
    critical = critical_value(n, 0.95)
    assert critical is not None
    different = float(np.mean((averages[:, critical] > 0) | (averages[:, -1 - critical] < 0)))
    said = 1 - promised_level(n)
    assert different == pytest.approx(said, abs=three_deviations(said))


@pytest.mark.parametrize(("n", "widest"), [(10, 0.07), (30, 0.035)])
def test_the_interval_is_no_wider_than_the_noise_calls_for(n: int, widest: float) -> None:
    log_ratios, controls = campaigns(lognormal, n)
    low, high = aligned_ranks.bounds(log_ratios[:400], controls[:400], 0.05, 1e-4)
    assert float(np.median(high - low)) < widest
