# SPDX-License-Identifier: Apache-2.0
"""How rare slow runs and starts are counted, and how often an unqualified claim would be false."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.analyze.looks_example import summary_of as with_controls
from tests.analyze.turns_example import CLEAN, ENVIRONMENT, NATIVES, in_turns, slices
from tests.analyze.verdict_example import MARGIN, around, summary_of

from tare.analyze import overhead, verdict
from tare.analyze.qualification import qualification
from tare.analyze.slow_runs import most_cost, most_gain, slow_runs, slow_starts
from tare.records import Direction, SlowRuns, Verdict, Word


def test_a_rate_counts_the_time_per_work_and_only_the_blocks_that_were_looked_at() -> None:
    values = [*around(0.0, 0.01), 0.4, 0.5]
    for direction in Direction:
        summary = summary_of(values, direction=direction)
        runs = slow_runs(summary)
        assert runs.by == pytest.approx(math.expm1(0.45), abs=0.01)
        assert replace(runs, by=None) == replace(CLEAN, runs=12, native_runs=24, slow=2)
        assert slow_runs(summary, 10) == CLEAN


def test_whole_runs_are_starts_of_their_own() -> None:
    assert slow_starts(summary_of(around(0.0, 0.01))) is None


def test_a_slow_start_is_one_slow_start_and_no_slow_slice() -> None:
    times = slices(1)
    times[3, ENVIRONMENT] += math.log(1.5)
    summary = in_turns(times)
    starts = slow_starts(summary)
    assert starts is not None
    assert starts.by == pytest.approx(0.5, abs=0.02)
    assert replace(starts, by=None) == replace(CLEAN, slow=1)
    assert slow_runs(summary) == replace(CLEAN, runs=220, native_runs=440)


def test_slow_slices_are_no_slow_start_and_hide_none() -> None:
    times = slices(1)
    times[:, NATIVES, ::8] += math.log(4)
    times[3, ENVIRONMENT] += math.log(1.3)
    summary = in_turns(times)
    starts, runs = slow_starts(summary), slow_runs(summary)
    assert starts is not None
    assert (starts.slow, starts.native_slow) == (1, 0)
    assert (runs.slow, runs.native_slow) == (0, 60)
    assert runs.native_by == pytest.approx(3.0, abs=0.1)


def test_native_slowness_counts_at_its_own_cost() -> None:
    """Frequent and cheap natively, rare and dear in the environment: by the rates alone the environment is better."""
    slow = SlowRuns(runs=2400, slow=48, native_runs=4800, native_slow=144, by=3.0, native_by=0.25)
    assert 0.05 < most_cost(slow) < 0.08
    assert most_gain(slow) < 0
    assert most_gain(replace(slow, by=0.25, native_by=3.0)) > 0.05


@given(st.integers(1, 400), st.data())
def test_fewer_slow_runs_cost_less_and_native_ones_excuse_more(runs: int, data: st.DataObject) -> None:
    slow, native = data.draw(st.integers(1, runs)), data.draw(st.integers(1, 2 * runs))
    counted = SlowRuns(runs=runs, slow=slow, native_runs=2 * runs, native_slow=native, by=0.5, native_by=0.5)
    cost = most_cost(counted)
    assert most_cost(replace(counted, slow=slow - 1)) < cost
    assert most_cost(replace(counted, native_slow=native - 1)) > cost


def unqualified_and_false(judged: Verdict, mean: float) -> bool:
    """``mean``: the true overhead in the mean."""
    if qualification(judged) or judged.word not in (Word.WITHIN, Word.BOUNDED):
        return False
    return mean > (judged.within or judged.at_most or 0.0) or (
        judged.word is Word.WITHIN and -mean > (judged.within or 0.0)
    )


@pytest.mark.parametrize(("n", "natively"), [(10, False), (16, False), (32, False), (32, True)])
@pytest.mark.parametrize("rate", [0.05, 0.1, 0.2])
def test_with_slow_runs_an_unqualified_margin_below_their_cost_is_said_in_one_campaign_of_twenty_at_most(
    rate: float, n: int, natively: bool
) -> None:
    generator = np.random.default_rng(n)
    false = 0
    for _ in range(150):
        runs = generator.normal(0.0, 0.003, (n, 3))
        slowed = NATIVES if natively else slice(ENVIRONMENT, 3)
        runs[:, slowed] += math.log(1.5) * (generator.random(runs[:, slowed].shape) < rate)
        log_ratios, controls = runs[:, 2] - runs[:, :2].mean(axis=1), runs[:, 1] - runs[:, 0]
        result = verdict(overhead(with_controls(log_ratios.tolist(), controls=controls.tolist())), MARGIN)
        false += unqualified_and_false(result, math.expm1((-1 if natively else 1) * rate * math.log(1.5)))
    assert false / 150 <= 0.05


def with_slow_slices(generator: np.random.Generator, times: NDArray[np.float64]) -> None:
    """2 % of the environment's take four times as long, 3 % of native's a quarter longer."""
    own, native = times[:, ENVIRONMENT], times[:, NATIVES]
    own += math.log(4) * (generator.random(own.shape) < 0.02)
    native += math.log(1.25) * (generator.random(native.shape) < 0.03)


def with_slow_starts(generator: np.random.Generator, times: NDArray[np.float64]) -> None:
    times[:, ENVIRONMENT] += math.log(1.5) * (generator.random((len(times), 1)) < 0.1)


def with_slow_native_starts(generator: np.random.Generator, times: NDArray[np.float64]) -> None:
    times[:, NATIVES] += math.log(1.5) * (generator.random((len(times), 2, 1)) < 0.1)


def with_starts_of_slow_slices(generator: np.random.Generator, times: NDArray[np.float64]) -> None:
    """In one start of ten, a fifth of the slices take four times as long."""
    own = times[:, ENVIRONMENT]
    own += math.log(4) * ((generator.random((len(own), 1)) < 0.1) & (generator.random(own.shape) < 0.2))


@pytest.mark.parametrize(
    ("slowed", "mean"),
    [
        (with_slow_slices, 0.05),
        (with_slow_starts, 0.041),
        (with_slow_native_starts, -0.04),
        (with_starts_of_slow_slices, 0.046),
    ],
)
def test_in_turns_an_unqualified_margin_below_the_mean_is_said_in_one_campaign_of_twenty_at_most(
    slowed: object, mean: float
) -> None:
    assert callable(slowed)
    false = 0
    for seed in range(60):
        times = slices(seed)
        slowed(np.random.default_rng([seed, 1]), times)
        false += unqualified_and_false(verdict(overhead(in_turns(times)), MARGIN), mean)
    assert false / 60 <= 0.05
