# SPDX-License-Identifier: Apache-2.0
import pytest

from tare.statistics.variance import MOST_ITERATIONS, MeanSquare, best_iterations, combined


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
