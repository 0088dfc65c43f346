# SPDX-License-Identifier: Apache-2.0
"""The boundary of several looks: the published figures, and that all looks together keep their promise."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import stdtrit

from tare.analyze.boundary import ERROR, boundary, constant_spending, normal_boundary, spending
from tare.analyze.signed_rank import critical_value, hodges_lehmann, interval_at, walsh_averages

DEFAULT = (10, 16, 24, 32)
CAMPAIGNS = 20_000
THREE_ERRORS = 3 * math.sqrt(0.05 * 0.95 / CAMPAIGNS)
LOOKS = [DEFAULT, (6, 12, 20), (8, 10), (10, 60), (6, 7), (7, 8, 9, 10, 11, 12)]


def shares(looks: tuple[int, ...]) -> tuple[float, ...]:
    return tuple(spending(look, looks[-1]) for look in looks)


def always_covered(looks: tuple[int, ...], spent: tuple[float, ...]) -> float:
    """Share of simulated campaigns in which the interval of each look holds the truth, which is 0."""
    values = np.random.default_rng(11).normal(size=(CAMPAIGNS, looks[-1]))
    covered = np.ones(CAMPAIGNS, dtype=bool)
    for n, stage in zip(looks, boundary(looks, spent), strict=True):
        if stage.critical is not None:
            positive = positive_rank_sums(values[:, :n])
            covered &= (positive > stage.critical) & (positive < n * (n + 1) // 2 - stage.critical)
    return float(covered.mean())


def positive_rank_sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Wilcoxon's statistic of each row: how many of its Walsh averages are above 0."""
    ranks = np.argsort(np.argsort(np.abs(values), axis=1), axis=1) + 1.0
    return np.asarray((ranks * (values > 0)).sum(axis=1))


def test_the_rank_sum_counts_the_positive_walsh_averages() -> None:
    values = np.random.default_rng(1).normal(0.2, 1, size=(50, 9))
    counted = (walsh_averages(values) > 0).sum(axis=1)
    assert positive_rank_sums(values).tolist() == counted.tolist()


def test_the_default_looks_have_the_boundary_of_the_specification() -> None:
    stages = boundary(DEFAULT, shares(DEFAULT))
    assert [stage.critical for stage in stages] == [1, 19, 70, 152]
    assert [round(stage.error, 4) for stage in stages] == [0.0039, 0.0092, 0.0211, 0.0358]


def test_the_t_version_agrees_with_the_specification_to_its_last_digit_but_one() -> None:
    levels = normal_boundary(DEFAULT, shares(DEFAULT))
    found = [float(stdtrit(n - 1, 1 - level / 2)) for n, level in zip(DEFAULT, levels, strict=True)]
    assert found == pytest.approx([3.71, 3.00, 2.50, 2.21], abs=0.04)


@pytest.mark.parametrize("looks", LOOKS)
def test_the_intervals_of_all_looks_hold_together(looks: tuple[int, ...]) -> None:
    assert always_covered(looks, shares(looks)) >= 0.945


@pytest.mark.parametrize("looks", LOOKS)
def test_those_of_a_decision_hold_together_too(looks: tuple[int, ...]) -> None:
    assert always_covered(looks, constant_spending(looks)) >= 0.945


def test_the_t_intervals_of_all_looks_hold_together() -> None:
    values = np.random.default_rng(5).normal(size=(CAMPAIGNS, 32))
    covered = np.ones(CAMPAIGNS, dtype=bool)
    for n, level in zip(DEFAULT, normal_boundary(DEFAULT, shares(DEFAULT)), strict=True):
        part = values[:, :n]
        t = part.mean(axis=1) / (part.std(axis=1, ddof=1) / math.sqrt(n))
        covered &= np.abs(t) <= stdtrit(n - 1, 1 - level / 2)
    assert float(covered.mean()) == pytest.approx(0.95, abs=THREE_ERRORS + 0.003)


def test_without_a_boundary_the_same_looks_would_break_the_promise() -> None:
    values = np.random.default_rng(11).normal(size=(CAMPAIGNS, 32))
    covered = np.ones(CAMPAIGNS, dtype=bool)
    for n in DEFAULT:
        critical = critical_value(n, 0.95)
        assert critical is not None
        positive = positive_rank_sums(values[:, :n])
        covered &= (positive > critical) & (positive < n * (n + 1) // 2 - critical)
    assert float(covered.mean()) < 0.91


@settings(max_examples=40)
@given(st.integers(6, 120))
def test_a_single_look_is_the_interval_of_a_fixed_number(n: int) -> None:
    (stage,) = boundary((n,), (1.0,))
    assert stage.critical == critical_value(n, 0.95)


@given(st.integers(1, 5))
def test_below_six_values_no_look_has_an_interval(n: int) -> None:
    assert boundary((n, n + 10), (0.9, 1.0))[0].critical is None


@st.composite
def some_looks(draw: st.DrawFn) -> tuple[int, ...]:
    steps = draw(st.lists(st.integers(0, 12), min_size=1, max_size=5))
    return tuple(
        int(n) for n in np.cumsum([draw(st.integers(0, 12)), *steps]) if n
    )  # a look may bring nothing


@settings(max_examples=25)
@given(some_looks())
def test_earlier_looks_never_depend_on_later_ones(looks: tuple[int, ...]) -> None:
    if looks:
        whole = boundary(looks, shares(looks))
        for count in range(1, len(looks)):
            assert boundary(looks[:count], shares(looks)[:count]) == whole[:count]


@settings(max_examples=30)
@given(some_looks(), st.sampled_from([0.1, 0.05, 0.01]))
def test_no_look_uses_more_than_it_may_and_one_without_new_values_repeats(
    looks: tuple[int, ...], error: float
) -> None:
    if looks:
        stages = boundary(looks, shares(looks), error)
        for number, (stage, share) in enumerate(zip(stages, shares(looks), strict=True)):
            assert stage.error <= stage.nominal + 1e-12
            assert stage.nominal <= error * share + 1e-9
            if number and looks[number] == looks[number - 1]:
                assert stage == stages[number - 1]


@settings(max_examples=40)
@given(some_looks())
def test_more_permitted_error_never_widens_an_interval(looks: tuple[int, ...]) -> None:
    """Of the first look; at later ones the steps of the distribution may be spent otherwise."""
    if looks:
        loose, tight = (boundary(looks[:1], shares(looks)[:1], error)[0].critical for error in (0.1, 0.05))
        assert tight is None or (loose is not None and loose >= tight)


def test_looks_that_fall_are_refused() -> None:
    with pytest.raises(ValueError, match="must not fall"):
        boundary((10, 8), (0.5, 1.0))


@pytest.mark.parametrize("looks", LOOKS)
def test_a_decision_has_one_nominal_level_at_all_looks(looks: tuple[int, ...]) -> None:
    levels = normal_boundary(looks, constant_spending(looks))
    assert max(levels) == pytest.approx(min(levels), rel=1e-4)
    assert levels[0] < ERROR


@given(st.lists(st.floats(-1, 1), min_size=6, max_size=20))
def test_the_interval_at_its_own_critical_value_is_the_fixed_one(values: list[float]) -> None:
    critical = critical_value(len(values), 0.95)
    assert critical is not None
    assert interval_at(values, critical) == hodges_lehmann(values)
