# SPDX-License-Identifier: Apache-2.0
import math
import random

import pytest

from tare.statistics.variance import MOST_ITERATIONS, MeanSquare, best_iterations, combined, variation


@pytest.mark.parametrize(
    ("starts", "iterations", "best"),
    [(0.02, 0.01, 1), (0.005, 0.02, 7)],
)
def test_the_advice_is_that_of_method_md(starts: float, iterations: float, best: int) -> None:
    """R12: a start of 30 s and an iteration of 10 s; m* is 0.9 and 6.9."""
    assert best_iterations(30.0, 10.0, starts**2, iterations**2) == best


def test_starts_that_do_not_differ_call_for_iterations_alone() -> None:
    assert best_iterations(30.0, 10.0, -1e-6, 1e-4) == MOST_ITERATIONS
    assert best_iterations(30.0, 10.0, 0.0, 0.0) == 1


def test_unknown_costs_give_no_advice() -> None:
    assert best_iterations(30.0, 0.0, 1e-4, 1e-4) is None


def test_one_mean_square_has_the_interval_of_chi_square() -> None:
    estimate = combined([MeanSquare(1.0, 2.0, 10)], 11)
    assert estimate.low == pytest.approx(2 * 10 / 20.483, rel=1e-3)
    assert estimate.high == pytest.approx(2 * 10 / 3.247, rel=1e-3)


def test_an_interval_of_a_variance_does_not_go_below_zero() -> None:
    estimate = combined([MeanSquare(1.0, 1.0, 9), MeanSquare(-1.0, 1.5, 9)], 10)
    assert estimate.point == -0.5
    assert estimate.low == 0.0
    assert estimate.high is not None
    assert estimate.high > 0


def test_a_coefficient_of_variation_is_covered_as_often_as_its_interval_says() -> None:
    chance = random.Random(5)  # noqa: S311 - samples, not secrets
    campaigns = 2000
    spread = math.sqrt(math.log1p(0.05**2))
    estimates = [variation([chance.gauss(3.0, spread) for _ in range(10)]) for _ in range(campaigns)]
    covered = sum((each.low or 1) <= 0.05 <= (each.high or 0) for each in estimates) / campaigns
    assert covered == pytest.approx(0.95, abs=3 * math.sqrt(0.95 * 0.05 / campaigns))


def test_few_values_have_a_coefficient_of_variation_without_an_interval() -> None:
    few = variation([0.0, 0.1, 0.2, 0.1, 0.0])
    assert few.point == pytest.approx(math.sqrt(math.expm1(0.007)))
    assert (few.low, few.high, few.n) == (None, None, 5)


def test_equal_values_do_not_vary_and_absurd_ones_give_a_finite_number() -> None:
    assert variation([1.0] * 8).point == 0.0
    assert math.isfinite(variation([-700.0, 700.0] * 4).point)
