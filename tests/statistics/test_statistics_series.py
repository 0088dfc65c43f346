# SPDX-License-Identifier: Apache-2.0
import itertools
import math
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import kendalltau, kruskal
from tests.analyze.verdict_example import around

from tare.statistics import chance
from tare.statistics.chance import kendall_p
from tare.statistics.series import carry_over, common_widening, kendall, lag_limit, lag_one, widening


def test_the_autocorrelation_of_an_alternating_series_by_hand() -> None:
    assert lag_one([1.0, -1.0, 1.0, -1.0]) == pytest.approx(-3 / 4)
    assert lag_limit(16) == 0.5
    assert lag_one([2.0] * 6) == 0.0


def test_values_that_show_no_dependence_and_too_few_of_them_widen_nothing() -> None:
    assert widening([1.0, -1.0] * 5) == widening([2.0] * 10) == widening([1.0, 2.0, 3.0, 4.0, 5.0]) == 1.0


def test_many_independent_series_together_hardly_widen_anything() -> None:
    chance = np.random.default_rng(5)
    assert np.mean([common_widening(chance.normal(size=(10, 50))) for _ in range(200)]) < 1.05


def test_many_series_show_together_what_one_of_them_cannot() -> None:
    chance = np.random.default_rng(6)
    blocks = [chance.normal(size=100)]
    for _ in range(9):
        blocks.append(0.5 * blocks[-1] + math.sqrt(0.75) * chance.normal(size=100))
    series = np.array(blocks)
    assert common_widening(series) >= math.sqrt(3)
    assert np.mean([common_widening(each[:, None]) == 1 for each in series.T]) > 0.2


def test_copies_of_a_series_show_no_more_than_the_series() -> None:
    chance = np.random.default_rng(7)
    for series in chance.normal(size=(50, 12, 1)):
        assert common_widening(np.repeat(series, 40, axis=1)) == pytest.approx(common_widening(series))


@pytest.mark.parametrize("series", [np.ones((10, 3)), np.zeros((10, 0)), np.arange(5.0)[:, None]])
def test_equal_values_none_and_too_few_blocks_widen_nothing_together(series: NDArray[np.float64]) -> None:
    assert common_widening(series) == 1.0


def test_no_interval_is_widened_more_than_three_times() -> None:
    assert widening([float(block) for block in range(32)]) == pytest.approx(3.0)


def test_the_effective_number_of_blocks_is_that_of_the_corrected_autocorrelation() -> None:
    values = [1.0, 1.0, -1.0, -1.0] * 4
    assert lag_one(values) < 0.125
    assert widening(values) == 1.0
    values = [1.0, 1.0, 1.0, -1.0, -1.0, -1.0] * 2
    rho = lag_one(values) + (1 + 4 * lag_one(values)) / 12
    assert widening(values) == pytest.approx(math.sqrt((1 + rho) / (1 - rho)))


@given(st.permutations(range(9)))
def test_kendalls_p_is_scipys_exact_one(order: list[int]) -> None:
    expected = kendalltau(range(9), order, method="exact")
    tau, p = kendall([float(value) for value in order])
    assert tau == pytest.approx(expected.statistic)
    assert p == pytest.approx(expected.pvalue, abs=1e-12)


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=40))
def test_kendalls_score_counts_rising_pairs_less_falling_ones(values: list[int]) -> None:
    pairs = [(later > early) - (later < early) for early, later in itertools.combinations(values, 2)]
    tau, _ = kendall([float(value) for value in values])
    assert tau == 2 * sum(pairs) / (len(values) * (len(values) - 1))


def test_kendalls_score_is_found_by_few_passes_over_many_values(monkeypatch: pytest.MonkeyPatch) -> None:
    sought, n = Mock(side_effect=np.searchsorted), 5000
    monkeypatch.setattr(np, "searchsorted", sought)
    kendall(np.random.default_rng(1).normal(size=n).tolist())
    assert n <= sum(call.args[1].size for call in sought.call_args_list) <= 2 * 2 * n * math.log2(2 * n)


def test_kendalls_exact_distribution_is_that_of_all_orders() -> None:
    scores = [
        sum(np.sign(second - first) for first, second in itertools.combinations(order, 2))
        for order in itertools.permutations(range(5))
    ]
    for score in range(0, 11, 2):
        share = float(np.mean([abs(each) >= score for each in scores]))
        assert kendall_p(score, 5) == pytest.approx(min(1.0, share))


@pytest.mark.parametrize("score", [100, 300, 500, 700])
def test_the_normal_distribution_takes_over_without_a_step(
    score: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = kendall_p(score, 60)
    monkeypatch.setattr(chance, "_MOST_EXACT", 59)
    assert kendall_p(score, 60) == pytest.approx(exact, abs=3e-3)


def test_the_statistic_of_carry_over_is_kruskals() -> None:
    values, before = around(0.0, 0.1, 9), ["a", "b", "c"] * 3
    groups = [[value for value, name in zip(values, before, strict=True) if name == text] for text in "abc"]
    result = carry_over([value + 0.001 * place for place, value in enumerate(values)], before)
    assert result is not None
    shifted = [
        [value + 0.001 * (3 * row + column) for row, value in enumerate(group)]
        for column, group in enumerate(groups)
    ]
    assert result[0] == pytest.approx(kruskal(*shifted).statistic)


@pytest.mark.parametrize("before", [["native"] * 10, ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]])
def test_one_kind_of_predecessor_leaves_nothing_to_compare(before: list[str]) -> None:
    assert carry_over(around(0.0, 0.1), before) is None
