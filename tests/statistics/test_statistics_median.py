# SPDX-License-Identifier: Apache-2.0
import math
import random
import statistics
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.statistics.median import median_estimate

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40)


@given(VALUES)
def test_the_point_is_the_median_and_lies_in_the_interval(values: list[float]) -> None:
    estimate = median_estimate(values)
    assert (estimate.point, estimate.n) == (statistics.median(values), len(values))
    if estimate.low is not None and estimate.high is not None:
        assert estimate.low <= estimate.point <= estimate.high
        assert {estimate.low, estimate.high} <= set(values)
        assert estimate.level >= 0.95


@pytest.mark.parametrize(
    ("n", "cut"), [(6, 0), (8, 0), (9, 1), (11, 1), (12, 2), (15, 3), (17, 4), (20, 5), (30, 9)]
)
def test_the_cuts_are_those_of_the_sign_test(n: int, cut: int) -> None:
    """As tabled for the sign test at 5 %, two sides: Conover, Practical Nonparametric Statistics."""
    estimate = median_estimate([float(value) for value in range(n)])
    assert (estimate.low, estimate.high) == (cut, n - 1 - cut)
    assert estimate.level == pytest.approx(
        1 - 2 * sum(math.comb(n, below) for below in range(cut + 1)) / 2**n
    )


@given(st.integers(1, 150), st.sampled_from([0.5, 0.9, 0.95, 0.99, 0.999999]))
def test_cut_and_level_are_those_of_all_binomial_sums(n: int, level: float) -> None:
    levels = [
        1 - 2 * sum(math.comb(n, below) for below in range(cut + 1)) / 2**n for cut in range((n + 1) // 2)
    ]
    reached = [entry for entry in levels if entry >= level]
    estimate = median_estimate([float(value) for value in range(n)], level)
    assert estimate.low == (len(reached) - 1 if reached else None)
    assert estimate.level == (reached[-1] if reached else level)


def test_the_binomials_of_many_values_are_made_of_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    comb = Mock(side_effect=math.comb)
    monkeypatch.setattr(math, "comb", comb)
    for _ in range(2):
        estimate = median_estimate([float(value) for value in range(9_999)])
    assert estimate.low == 4901
    assert 1 <= comb.call_count <= 2


@pytest.mark.parametrize("n", [1, 2, 5])
def test_fewer_than_six_values_have_no_interval(n: int) -> None:
    estimate = median_estimate([1.0] * n)
    assert (estimate.low, estimate.high, estimate.level) == (None, None, 0.95)


def test_without_values_there_is_nothing_to_estimate() -> None:
    with pytest.raises(ValueError, match="no values"):
        median_estimate([])


@pytest.mark.parametrize("n", [6, 10, 30])
def test_the_interval_covers_the_median_of_a_skewed_distribution_as_often_as_it_says(n: int) -> None:
    chance, campaigns = random.Random(n), 3000  # noqa: S311 - a simulation
    truth = math.log(2)
    estimates = [median_estimate([chance.expovariate(1) for _ in range(n)]) for _ in range(campaigns)]
    covered = sum((estimate.low or 0) <= truth <= (estimate.high or 0) for estimate in estimates) / campaigns
    promised = estimates[0].level
    assert covered == pytest.approx(promised, abs=3 * math.sqrt(promised * (1 - promised) / campaigns))
