# SPDX-License-Identifier: Apache-2.0
"""What is said of rare slow runs, and how often an unqualified claim would be false."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analyze.looks_example import summary_of as with_controls
from tests.analyze.verdict_example import MARGIN, around, summary_of, verdict_of

from tare.analyze import overhead, verdict
from tare.analyze.slow_runs import covers_mean, slow_runs
from tare.records import Direction, SlowRuns, Verdict, Word

CLEAN = SlowRuns(runs=10, slow=0, native_runs=20, native_slow=0, by=None)


def with_slow(count: int, blocks: int = 10) -> Verdict:
    values = around(0.0, 0.002, blocks)
    return verdict_of([value + math.log(1.5) * (place < count) for place, value in enumerate(values)])


def test_a_clean_sample_of_ten_says_how_many_it_saw() -> None:
    assert verdict_of(around(0.0, 0.002)).sentence == (
        "docker: typically within ±1 % of native; none of 10 runs was 20 % slower (n = 10)"
    )


def test_slow_runs_stand_in_the_sentence() -> None:
    result = with_slow(2, 20)
    assert result.word is Word.WITHIN
    assert result.sentence == (
        "docker: typically within ±1 % of native, but 2 of 20 runs were slower by 50 % (n = 20)"
    )


def test_slow_runs_as_frequent_as_natives_are_no_cost_of_the_environment() -> None:
    same = replace(CLEAN, slow=1, native_slow=2, by=0.4)
    judged = verdict_of(around(0.0, 0.002))
    result = verdict(replace(judged.overhead, slow=same), MARGIN)
    assert (
        "; slow runs are no more frequent than native's: 1 of 10 runs, natively 2 of 20 (" in result.sentence
    )


def test_many_runs_without_a_slow_one_make_the_claim_hold_for_the_mean() -> None:
    judged = verdict_of(around(0.0, 0.002))
    many = replace(CLEAN, runs=600, native_runs=1200)
    result = verdict(replace(judged.overhead, slow=many), MARGIN)
    assert result.sentence == "docker: within ±1 % of native (n = 10)"


def test_a_rate_counts_the_time_per_work_and_only_the_blocks_that_were_looked_at() -> None:
    values = [*around(0.0, 0.01), 0.4, 0.5]
    for direction in Direction:
        summary = summary_of(values, direction=direction)
        runs = slow_runs(summary)
        assert runs.by == pytest.approx(math.expm1(0.45), abs=0.01)
        assert replace(runs, by=None) == replace(CLEAN, runs=12, native_runs=24, slow=2)
        assert slow_runs(summary, 10) == CLEAN


@given(st.integers(1, 400), st.floats(0.01, 0.1), st.data())
def test_fewer_slow_runs_and_a_wider_bound_never_make_the_claim_weaker(
    runs: int, bound: float, data: st.DataObject
) -> None:
    slow = data.draw(st.integers(1, runs))
    counted = SlowRuns(runs=runs, slow=slow, native_runs=2 * runs, native_slow=0, by=0.5)
    assert covers_mean(counted, bound) <= covers_mean(replace(counted, slow=slow - 1), bound)
    assert covers_mean(counted, bound) <= covers_mean(counted, 2 * bound)


@pytest.mark.parametrize("n", [10, 16, 32])
@pytest.mark.parametrize("rate", [0.05, 0.1, 0.2])
def test_with_slow_runs_an_unqualified_margin_below_their_cost_is_said_in_one_campaign_of_twenty_at_most(
    rate: float, n: int
) -> None:
    generator = np.random.default_rng(n)
    false = 0
    for _ in range(150):
        runs = generator.normal(0.0, 0.003, (n, 3))
        runs[:, 0] += math.log(1.5) * (generator.random(n) < rate)
        log_ratios, controls = runs[:, 0] - runs[:, 1:].mean(axis=1), runs[:, 2] - runs[:, 1]
        result = verdict(overhead(with_controls(log_ratios.tolist(), controls=controls.tolist())), MARGIN)
        narrow = result.within is not None and result.within < rate * 0.5
        false += narrow and result.word is Word.WITHIN and "typically" not in result.sentence
    assert false / 150 <= 0.05
