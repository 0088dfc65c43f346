# SPDX-License-Identifier: Apache-2.0
"""Simulated campaigns with a planted truth: does the interval hold what it promises?"""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from tare.analyze.signed_rank import achieved_level, critical_value, walsh_averages

CAMPAIGNS = 4000
PLANTED = math.log(1.05)
Floats = NDArray[np.float64]
Noise = Callable[[np.random.Generator, tuple[int, ...]], Floats]


def lognormal(generator: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return generator.normal(0.0, 0.03, shape)


def with_spikes(generator: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    spiked = generator.random(shape) < 0.05
    return lognormal(generator, shape) + spiked * np.log1p(generator.exponential(0.30, shape))


def intervals(noise: Noise, n: int, planted: float) -> tuple[Floats, Floats]:
    """Low and high of each campaign of n blocks with two native slots, as treat pairs them."""
    generator = np.random.default_rng(20250101 + n)
    first, second, other = (noise(generator, (CAMPAIGNS, n)) for _ in range(3))
    averages = walsh_averages(planted + other - (first + second) / 2)
    critical = critical_value(n, 0.95)
    assert critical is not None
    return averages[:, critical], averages[:, -1 - critical]


def three_deviations(probability: float) -> float:
    return 3 * math.sqrt(probability * (1 - probability) / CAMPAIGNS)


def promised_level(n: int) -> float:
    critical = critical_value(n, 0.95)
    assert critical is not None
    return achieved_level(n, critical)


@pytest.mark.parametrize("n", [6, 10, 30])
def test_the_interval_covers_a_planted_overhead_exactly_as_often_as_it_says(n: int) -> None:
    low, high = intervals(lognormal, n, PLANTED)
    covered = float(np.mean((low <= PLANTED) & (high >= PLANTED)))
    assert covered == pytest.approx(promised_level(n), abs=three_deviations(promised_level(n)))


@pytest.mark.parametrize("n", [6, 10, 30])
def test_spikes_in_all_arms_cost_at_most_one_point_of_coverage(n: int) -> None:
    low, high = intervals(with_spikes, n, PLANTED)
    covered = float(np.mean((low <= PLANTED) & (high >= PLANTED)))
    assert covered >= promised_level(n) - 0.01 - three_deviations(promised_level(n))


@pytest.mark.parametrize("noise", [lognormal, with_spikes])
@pytest.mark.parametrize("n", [6, 10, 30])
def test_native_against_native_looks_different_in_at_most_one_campaign_of_twenty(
    noise: Noise, n: int
) -> None:
    generator = np.random.default_rng(n)
    first, second = (noise(generator, (CAMPAIGNS, n)) for _ in range(2))
    averages = walsh_averages(second - first)
    critical = critical_value(n, 0.95)
    assert critical is not None
    different = float(np.mean((averages[:, critical] > 0) | (averages[:, -1 - critical] < 0)))
    assert different <= 0.05 + three_deviations(0.05)


@pytest.mark.parametrize(("n", "widest"), [(10, 0.06), (30, 0.03)])
def test_the_interval_is_no_wider_than_the_noise_calls_for(n: int, widest: float) -> None:
    low, high = intervals(lognormal, n, PLANTED)
    assert float(np.median(high - low)) < widest


@pytest.mark.parametrize("n", [10, 30])
def test_an_overhead_at_the_margin_is_called_within_in_at_most_one_campaign_of_twenty(n: int) -> None:
    generator = np.random.default_rng(n)
    averages = walsh_averages(math.log(1.01) + generator.normal(0.0, 0.003, (CAMPAIGNS, n)))
    critical = critical_value(n, 0.90)
    assert critical is not None
    low, high = averages[:, critical], averages[:, -1 - critical]
    within = float(np.mean((low > math.log(0.99)) & (high < math.log(1.01))))
    assert 0.02 < within <= 0.05 + three_deviations(0.05)
