# SPDX-License-Identifier: Apache-2.0
"""Each check finds what it is for, and is silent on clean series about as often as it says."""

import itertools
import math
from collections.abc import Sequence
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import kendalltau, kruskal, shapiro
from tests.analyze.verdict_example import around

from tare.analyze.diagnostics import findings, widening
from tare.records import Check, Effect
from tare.statistics import chance
from tare.statistics.carry_over import carry_over
from tare.statistics.chance import kendall_p
from tare.statistics.series import jump, kendall, lag_limit, lag_one, mean_ranks
from tare.statistics.shape import normality, skew, two_groups

SERIES = 600
ARMS = ("native", "other", "nothing")
Floats = NDArray[np.float64]


def lognormal(generator: np.random.Generator, n: int) -> Floats:
    return generator.normal(0.0, 0.03, (3, n))


def spiking(generator: np.random.Generator, n: int) -> Floats:
    spikes = (generator.random((3, n)) < 0.05) * np.log1p(generator.exponential(0.3, (3, n)))
    return lognormal(generator, n) + spikes


def clean(noise: object, n: int) -> list[list[float]]:
    generator = np.random.default_rng(n)
    arms = [noise(generator, n) for _ in range(SERIES)]  # type: ignore[operator]
    return [list(other - (first + second) / 2) for first, second, other in arms]


def found(values: Sequence[float], check: Check, before: Sequence[str] | None = None) -> bool:
    return next(finding.found for finding in findings(values, before) if finding.check is check)


@pytest.mark.parametrize("noise", [lognormal, spiking])
@pytest.mark.parametrize("n", [10, 32])
def test_clean_series_seldom_raise_an_alarm(noise: object, n: int) -> None:
    generator = np.random.default_rng(1)
    alarms = dict.fromkeys(Check, 0)
    for values in clean(noise, n):
        for finding in findings(values, list(generator.choice(ARMS, n))):
            alarms[finding.check] += finding.found
    limits = dict.fromkeys(Check, 0.01) | {Check.AUTOCORRELATION: 0.023, Check.NORMALITY: 1.0}
    if noise is spiking:  # spikes of an environment count twice those of a native run, so the series do lean
        limits |= {Check.SYMMETRY: 0.05, Check.MODES: 0.02}
    for check, limit in limits.items():
        assert alarms[check] / SERIES <= limit + 3 * math.sqrt(limit * (1 - limit) / SERIES), check


def test_a_walk_of_the_machine_widens_the_interval() -> None:
    generator = np.random.default_rng(2)
    walks = np.cumsum(generator.normal(0, 0.03, (100, 16)), axis=1)
    dependent = [found(list(walk), Check.AUTOCORRELATION) for walk in walks]
    assert np.mean(dependent) > 0.7
    assert all(widening(list(walk)) > 1.7 for walk, shown in zip(walks, dependent, strict=True) if shown)


def test_values_that_show_no_dependence_and_too_few_of_them_widen_nothing() -> None:
    assert widening([1.0, -1.0] * 5) == widening([2.0] * 10) == widening([1.0, 2.0, 3.0, 4.0, 5.0]) == 1.0


def test_no_interval_is_widened_more_than_three_times() -> None:
    assert widening([float(block) for block in range(32)]) == pytest.approx(3.0)


def test_the_effective_number_of_blocks_is_that_of_the_corrected_autocorrelation() -> None:
    values = [1.0, 1.0, -1.0, -1.0] * 4
    assert lag_one(values) < 0.125
    assert widening(values) == 1.0
    values = [1.0, 1.0, 1.0, -1.0, -1.0, -1.0] * 2
    rho = lag_one(values) + (1 + 4 * lag_one(values)) / 12
    assert widening(values) == pytest.approx(math.sqrt((1 + rho) / (1 - rho)))


def test_autocorrelation_alone_widens_and_normality_alone_decides_nothing() -> None:
    effects = {
        finding.check: finding.effect for finding in findings(around(0.0, 0.1), ["native"] * 5 + ["x"] * 5)
    }
    assert [check for check, effect in effects.items() if effect is Effect.WIDENS] == [Check.AUTOCORRELATION]
    assert [check for check, effect in effects.items() if effect is Effect.STORED] == [Check.NORMALITY]
    assert len(effects) == len(Check)


def test_the_autocorrelation_of_an_alternating_series_by_hand() -> None:
    assert lag_one([1.0, -1.0, 1.0, -1.0]) == pytest.approx(-3 / 4)
    assert lag_limit(16) == 0.5
    assert lag_one([2.0] * 6) == 0.0


def test_an_overhead_that_grows_block_by_block_is_found() -> None:
    values = [0.01 * block + noise for block, noise in enumerate(around(0.0, 0.01, 12))]
    (drift,) = [each for each in findings(values, None) if each.check is Check.DRIFT]
    assert drift.found
    assert drift.sentence.startswith("the overhead rose over the blocks")


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


def test_a_jump_is_found_where_it_is() -> None:
    values = [*around(0.0, 0.02, 10), *around(0.3, 0.02, 10)]
    place = jump(values)
    assert place.after == 10
    assert place.p <= 0.01
    assert found(values, Check.CHANGE_POINT)


def test_two_modes_are_found_and_both_are_named() -> None:
    values = [0.2 + value if block % 3 == 0 else value for block, value in enumerate(around(0.0, 0.02, 18))]
    (modes,) = [each for each in findings(values, None) if each.check is Check.MODES]
    assert modes.found
    groups = two_groups(values)
    assert groups.lower == pytest.approx(0.0, abs=0.01)
    assert groups.upper == pytest.approx(0.2, abs=0.01)
    assert groups.smaller_share == pytest.approx(1 / 3)
    assert f"{100 * math.expm1(groups.upper):.3g} %" in modes.sentence


def test_one_spike_is_no_second_mode() -> None:
    values = around(0.0, 0.02, 15)
    values[4] = 0.8
    assert not found(values, Check.MODES)


def test_a_long_tail_is_called_asymmetric_and_its_mirror_leans_the_other_way() -> None:
    tail = [float(value) for value in np.expm1(np.linspace(0, 5, 32))]
    np.random.default_rng(4).shuffle(tail)
    statistic, p = skew(tail)
    mirrored, same_p = skew([-value for value in tail])
    assert p <= 0.01
    assert mirrored == pytest.approx(-statistic)
    assert same_p == p


def test_what_ran_before_is_found_to_matter_where_it_does() -> None:
    before = ["native", "lxc"] * 8
    values = [
        value + (0.2 if name == "lxc" else 0.0)
        for value, name in zip(around(0.0, 0.05, 16), before, strict=True)
    ]
    assert found(values, Check.CARRY_OVER, before)


def test_the_statistic_of_carry_over_is_kruskals() -> None:
    values, before = around(0.0, 0.1, 9), ["a", "b", "c"] * 3
    groups = [[value for value, name in zip(values, before, strict=True) if name == one] for one in "abc"]
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


def test_normality_agrees_with_shapiro_and_wilk() -> None:
    generator = np.random.default_rng(9)
    ours, theirs = [], []
    for _ in range(200):
        values = generator.normal(0, 1, 20)
        ours.append(normality(list(values))[1])
        theirs.append(float(shapiro(values).pvalue))
    assert float(np.corrcoef(ours, theirs)[0, 1]) > 0.85
    assert np.mean(np.array(ours) <= 0.05) == pytest.approx(0.05, abs=0.05)
    assert normality(list(np.exp(3 * generator.normal(0, 1, 20))))[1] < 0.001


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=40))
def test_no_series_upsets_the_checks(values: list[float]) -> None:
    for finding in findings(values, ["native"] * len(values)):
        assert math.isfinite(finding.statistic)
        assert finding.p is None or 0 <= finding.p <= 1
        assert bool(finding.sentence) == (finding.found and finding.effect is not Effect.STORED)


@pytest.mark.parametrize("n", [6, 12])
def test_values_all_alike_raise_no_alarm(n: int) -> None:
    assert not any(finding.found for finding in findings([0.05] * n, ["native", "other"] * (n // 2)))


def test_few_values_are_not_checked() -> None:
    assert findings([0.1] * 4, None) == ()
    assert {finding.check for finding in findings(around(0.0, 0.1, 9), None)} == {
        Check.AUTOCORRELATION,
        Check.NORMALITY,
    }


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_ranks_add_up_whatever_ties_there_are(values: list[int]) -> None:
    n = len(values)
    assert float(np.sum(mean_ranks(np.array(values, dtype=float)))) == pytest.approx(n * (n + 1) / 2)
