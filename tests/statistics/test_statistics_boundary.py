# SPDX-License-Identifier: Apache-2.0
"""The boundary of several looks: the published figures, and that all looks together keep their promise."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import stdtrit

from tare.statistics.aligned_ranks import Floats, log_ratios_of, statistic
from tare.statistics.blocks import fewest_blocks, quantile
from tare.statistics.boundary import ERROR, boundary, constant_spending, spending

DEFAULT = (10, 16, 24, 32)
CAMPAIGNS = 20_000
THREE_ERRORS = 3 * math.sqrt(0.05 * 0.95 / CAMPAIGNS)
LOOKS = [DEFAULT, (6, 12, 20), (8, 10), (10, 60), (6, 7), (7, 8, 9, 10, 11, 12)]


def shares(looks: tuple[int, ...]) -> tuple[float, ...]:
    return tuple(spending(look, looks[-1]) for look in looks)


def statistics(looks: tuple[int, ...]) -> dict[int, Floats]:
    """Of simulated campaigns without any overhead, at each look: shape (campaigns,)."""
    runs = np.random.default_rng(11).normal(size=(CAMPAIGNS, looks[-1], 3))
    log_ratios, controls = log_ratios_of(runs)
    return {n: statistic(log_ratios[:, :n], controls[:, :n], np.zeros(CAMPAIGNS)) for n in looks}


def always_covered(looks: tuple[int, ...], levels: tuple[float, ...]) -> float:
    """Share of simulated campaigns in which the interval of each look holds the truth, which is 0."""
    covered = np.ones(CAMPAIGNS, dtype=bool)
    for values, level in zip(statistics(looks).values(), levels, strict=True):
        if level > 0:
            covered &= np.abs(values) <= quantile(level)
    return float(covered.mean())


def test_the_default_looks_have_the_nominal_levels_of_the_specification() -> None:
    levels = boundary(DEFAULT, shares(DEFAULT))
    assert [round(level, 4) for level in levels] == [0.0049, 0.0097, 0.0213, 0.0364]


def test_the_t_version_agrees_with_the_specification_to_its_last_digit_but_one() -> None:
    levels = boundary(DEFAULT, shares(DEFAULT))
    floats = [float(stdtrit(n - 1, 1 - level / 2)) for n, level in zip(DEFAULT, levels, strict=True)]
    assert floats == pytest.approx([3.71, 3.00, 2.50, 2.21], abs=0.04)


@pytest.mark.slow
@pytest.mark.parametrize("looks", LOOKS)
def test_the_intervals_of_all_looks_hold_together(looks: tuple[int, ...]) -> None:
    assert always_covered(looks, boundary(looks, shares(looks))) >= 0.945


@pytest.mark.slow
@pytest.mark.parametrize("looks", LOOKS)
def test_those_of_a_decision_hold_together_too(looks: tuple[int, ...]) -> None:
    assert always_covered(looks, boundary(looks, constant_spending(looks))) >= 0.945


def test_the_t_intervals_of_all_looks_hold_together() -> None:
    values = np.random.default_rng(5).normal(size=(CAMPAIGNS, 32))
    covered = np.ones(CAMPAIGNS, dtype=bool)
    for n, level in zip(DEFAULT, boundary(DEFAULT, shares(DEFAULT)), strict=True):
        part = values[:, :n]
        t = part.mean(axis=1) / (part.std(axis=1, ddof=1) / math.sqrt(n))
        covered &= np.abs(t) <= stdtrit(n - 1, 1 - level / 2)
    assert float(covered.mean()) == pytest.approx(0.95, abs=THREE_ERRORS + 0.003)


def test_without_a_boundary_the_same_looks_would_break_the_promise() -> None:
    assert always_covered(DEFAULT, (0.05,) * len(DEFAULT)) < 0.91


@settings(max_examples=40)
@given(st.integers(6, 120))
def test_a_single_look_has_the_whole_error(n: int) -> None:
    assert boundary((n,), (1.0,)) == (ERROR,)


@given(st.integers(1, 5))
def test_below_six_values_no_look_has_an_interval(n: int) -> None:
    assert boundary((n, n + 10), (0.9, 1.0))[0] == 0


@given(st.integers(1, 20), st.floats(0.01, 1.0))
def test_a_look_has_a_level_exactly_when_so_many_values_can_have_an_interval_at_it(
    n: int, share: float
) -> None:
    (level, *_) = boundary((n, n + 10), (share, 1.0))
    assert (level > 0) == (n >= fewest_blocks(ERROR * share))


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
        levels = boundary(looks, shares(looks), error)
        for number, (level, share) in enumerate(zip(levels, shares(looks), strict=True)):
            assert level <= error * share + 1e-9
            if number and looks[number] == looks[number - 1]:
                assert level == levels[number - 1]


@settings(max_examples=40)
@given(some_looks())
def test_more_permitted_error_never_lowers_the_first_level(looks: tuple[int, ...]) -> None:
    if looks:
        loose, tight = (boundary(looks[:1], shares(looks)[:1], error)[0] for error in (0.1, 0.05))
        assert loose >= tight


def test_looks_that_fall_are_refused() -> None:
    with pytest.raises(ValueError, match="must not fall"):
        boundary((10, 8), (0.5, 1.0))


@pytest.mark.parametrize("looks", LOOKS)
def test_a_decision_has_one_nominal_level_at_all_looks(looks: tuple[int, ...]) -> None:
    levels = boundary(looks, constant_spending(looks))
    assert levels[-1] < ERROR
    if levels[0] > 0:  # what a look without an interval leaves unused is there for those that follow
        assert max(levels) == pytest.approx(min(levels), rel=1e-4)
