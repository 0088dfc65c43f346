# SPDX-License-Identifier: Apache-2.0
import math
import random
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tare.records import Estimate
from tare.statistics import signed_rank, tails
from tare.statistics.signed_rank import (
    MOST_LISTED,
    achieved_level,
    best_level,
    critical_value,
    fewest_values,
    hodges_lehmann,
    lower_tail,
    null_distribution,
    share_at_most,
    walsh_averages,
)
from tare.statistics.student import mean_estimate, standard_deviation

# OEIS A226330, one-tail 2.5 %, from n = 6; it agrees with the tables of statistics books.
CRITICAL_AT_95 = (
    0,
    2,
    3,
    5,
    8,
    10,
    13,
    17,
    21,
    25,
    29,
    34,
    40,
    46,
    52,
    58,
    65,
    73,
    81,
    89,
    98,
    107,
    116,
    126,
)
VALUES = st.lists(st.floats(min_value=-10, max_value=10), min_size=1, max_size=25)


def bounds(estimate: Estimate) -> tuple[float, float]:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low, estimate.high


def counts_by_integers(n: int) -> list[int]:
    """How many of the 2^n subsets of 1 .. n have each sum, without floating point."""
    counts = [1]
    for rank in range(1, n + 1):
        shifted = [0] * rank + counts
        counts = [a + b for a, b in zip(counts + [0] * rank, shifted, strict=True)]
    return counts


@pytest.mark.parametrize("n", [1, 2, 5, 20, 52])
def test_the_null_distribution_is_exact_up_to_52_values(n: int) -> None:
    assert [float(p) * 2**n for p in null_distribution(n)] == counts_by_integers(n)


def test_the_null_distribution_of_200_values_is_right_to_twelve_digits() -> None:
    exact = [count / 2**200 for count in counts_by_integers(200)]
    np.testing.assert_allclose(null_distribution(200), exact, rtol=1e-12)
    tail = list(accumulate(counts_by_integers(200)))
    critical = critical_value(200, 0.95)
    assert critical is not None
    assert tail[critical] / 2**200 <= 0.025 < tail[critical + 1] / 2**200


@pytest.mark.parametrize(("n", "critical"), list(enumerate(CRITICAL_AT_95, start=6)))
def test_critical_values_are_those_of_the_published_table(n: int, critical: int) -> None:
    assert critical_value(n, 0.95) == critical


def test_critical_values_for_the_equivalence_interval_are_those_of_the_published_table() -> None:
    assert [critical_value(n, 0.90) for n in range(4, 13)] == [None, 0, 2, 3, 5, 8, 10, 13, 17]


@pytest.mark.parametrize("n", [6, 40, 201])
def test_the_integral_gives_the_chances_that_counting_gives(n: int) -> None:
    counted = lower_tail(n)
    sums = [*range(25), *range(25, len(counted), 1 + len(counted) // 60)]
    signed_ranks = [tails.signed_ranks_at_most(n, rank_sum) for rank_sum in sums if rank_sum < len(counted)]
    np.testing.assert_allclose(
        signed_ranks, [counted[rank_sum] for rank_sum in sums[: len(signed_ranks)]], rtol=1e-10
    )


@pytest.mark.parametrize("n", [201, 202, 233, 399])
def test_beyond_what_is_counted_the_critical_values_are_those_of_counting(n: int) -> None:
    for level in (0.9, 0.95, 0.9995, 0.9999999):
        counted = int(np.searchsorted(lower_tail(n), (1 - level) / 2, side="right")) - 1
        assert critical_value(n, level) == counted
        assert achieved_level(n, counted) == pytest.approx(float(1 - 2 * lower_tail(n)[counted]), rel=1e-13)


@pytest.mark.parametrize("n", [199, 200, 201, 300])
def test_the_estimate_of_many_values_is_that_of_all_their_averages(n: int) -> None:
    values = np.random.default_rng(n).normal(0.05, 0.04, n).round(3)
    estimate, averages = hodges_lehmann(values.tolist()), walsh_averages(values)
    critical = critical_value(n, 0.95)
    assert critical is not None
    assert bounds(estimate) == (averages[critical], averages[-1 - critical])
    assert estimate.point == np.median(averages)


def test_of_many_values_no_distribution_is_counted_and_no_average_is_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def too_much(*_: object) -> None:
        raise AssertionError("grows as n^2 or n^3")

    for name in ("null_distribution", "walsh_averages"):
        monkeypatch.setattr(signed_rank, name, too_much)
    values = np.random.default_rng(1).normal(size=20 * MOST_LISTED).tolist()
    low, high = bounds(hodges_lehmann(values))
    assert low < 0 < high
    assert 0.025 < share_at_most(len(values), signed_rank.count_at_most(values, 0.0)) < 0.975


def test_ninety_five_percent_needs_six_values_and_five_reach_93_75() -> None:
    assert critical_value(5, 0.95) is None
    assert best_level(5) == 0.9375
    assert fewest_values(0.95) == 6
    assert critical_value(5, 0.9375) == 0
    assert achieved_level(6, 0) == 0.96875


def test_five_values_have_a_point_and_no_bounds() -> None:
    estimate = hodges_lehmann([1.0, 2.0, 3.0, 4.0, 5.0])
    assert estimate == Estimate(point=3.0, low=None, high=None, level=0.95, n=5)


def test_no_values_are_refused() -> None:
    with pytest.raises(ValueError, match="no values"):
        hodges_lehmann([])
    with pytest.raises(ValueError, match="no values"):
        mean_estimate([])


def test_identical_values_have_an_interval_of_width_zero() -> None:
    estimate = hodges_lehmann([0.05] * 8)
    assert (estimate.point, estimate.low, estimate.high) == (0.05, 0.05, 0.05)


@pytest.mark.parametrize("n", [6, 9, 10, 17, 30])
@pytest.mark.parametrize("level", [0.90, 0.95])
def test_the_interval_is_what_the_exact_test_of_scipy_does_not_reject(n: int, level: float) -> None:
    values = np.random.default_rng(n).normal(0.05, 0.04, n)
    estimate = hodges_lehmann([float(value) for value in values], level)
    low, high = bounds(estimate)

    def p_value(shift: float) -> float:
        return float(stats.wilcoxon(values - shift, method="exact").pvalue)

    assert p_value(low - 1e-9) <= 1 - level < p_value(low + 1e-9)
    assert p_value(high + 1e-9) <= 1 - level < p_value(high - 1e-9)
    assert estimate.level == pytest.approx(1 - p_value(low - 1e-9), abs=1e-12)


@given(VALUES)
def test_walsh_averages_are_all_pairs_in_order(values: list[float]) -> None:
    pairs = [(a + b) / 2 for i, a in enumerate(values) for b in values[i:]]
    assert list(walsh_averages(values)) == sorted(pairs)


@given(VALUES, st.randoms(use_true_random=False))
def test_the_order_of_blocks_is_irrelevant(values: list[float], shuffler: random.Random) -> None:
    shuffled = list(values)
    shuffler.shuffle(shuffled)
    assert hodges_lehmann(shuffled) == hodges_lehmann(values)


@given(VALUES)
def test_negated_values_negate_the_estimate(values: list[float]) -> None:
    forward, backward = hodges_lehmann(values), hodges_lehmann([-value for value in values])
    assert backward.point == pytest.approx(-forward.point)
    if forward.low is not None and forward.high is not None:
        assert bounds(backward) == pytest.approx((-forward.high, -forward.low))


@given(VALUES, st.floats(min_value=-5, max_value=5))
def test_a_shift_of_all_values_shifts_the_estimate(values: list[float], shift: float) -> None:
    plain, shifted = hodges_lehmann(values), hodges_lehmann([value + shift for value in values])
    assert shifted.point == pytest.approx(plain.point + shift, abs=1e-9)
    if plain.low is not None and plain.high is not None:
        assert bounds(shifted) == pytest.approx((plain.low + shift, plain.high + shift), abs=1e-9)


@given(st.lists(st.floats(min_value=-10, max_value=10), min_size=6, max_size=25))
def test_the_point_lies_in_the_interval_and_a_higher_level_is_wider(values: list[float]) -> None:
    narrow, wide = hodges_lehmann(values, 0.90), hodges_lehmann(values, 0.95)
    assert bounds(wide)[0] <= bounds(narrow)[0] <= wide.point <= bounds(narrow)[1] <= bounds(wide)[1]
    assert 0.95 <= wide.level < 1


@pytest.mark.parametrize("n", [2, 5, 30])
def test_the_t_interval_is_that_of_scipy(n: int) -> None:
    values = [float(value) for value in np.random.default_rng(n).normal(size=n)]
    expected = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    estimate = mean_estimate(values)
    assert bounds(estimate) == pytest.approx((expected.low, expected.high))
    assert estimate.point == pytest.approx(math.fsum(values) / n)


def test_one_value_has_a_mean_without_bounds_or_deviation() -> None:
    estimate = mean_estimate([0.3])
    assert (estimate.point, estimate.low, estimate.high) == (0.3, None, None)
    assert standard_deviation([0.3]) is None
