# SPDX-License-Identifier: Apache-2.0
"""Each check finds what it is for, and is silent on clean series about as often as it says."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.analyze.verdict_example import around

from tare.analyze.diagnostics import findings
from tare.records import Check, Effect
from tare.statistics.series import jump, widening
from tare.statistics.shape import two_groups

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


@pytest.mark.slow
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


def test_autocorrelation_alone_widens_and_normality_alone_decides_nothing() -> None:
    effects = {
        finding.check: finding.effect for finding in findings(around(0.0, 0.1), ["native"] * 5 + ["x"] * 5)
    }
    assert [check for check, effect in effects.items() if effect is Effect.WIDENS] == [Check.AUTOCORRELATION]
    assert [check for check, effect in effects.items() if effect is Effect.STORED] == [Check.NORMALITY]
    assert len(effects) == len(Check)


def test_an_overhead_that_grows_block_by_block_is_found() -> None:
    values = [0.01 * block + noise for block, noise in enumerate(around(0.0, 0.01, 12))]
    (drift,) = [each for each in findings(values, None) if each.check is Check.DRIFT]
    assert drift.found
    assert drift.sentence.startswith("the overhead rose over the blocks")


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


def test_what_ran_before_is_found_to_matter_where_it_does() -> None:
    before = ["native", "lxc"] * 8
    values = [
        value + (0.2 if name == "lxc" else 0.0)
        for value, name in zip(around(0.0, 0.05, 16), before, strict=True)
    ]
    assert found(values, Check.CARRY_OVER, before)


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
