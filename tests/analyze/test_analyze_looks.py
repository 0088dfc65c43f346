# SPDX-License-Identifier: Apache-2.0
"""Looks replayed: when an arm stops and why, and that stopping costs the intervals nothing."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.analyze.looks_example import CELL, noisy_summary, summary_of

from tare.analyze import courses, overhead, stopped_arms, verdict
from tare.analyze.contrasts import contrast_of
from tare.analyze.looks import control_course, repeated
from tare.records import Cell, Course, Design, Overhead, Stop, Summary

LOOKS = (10, 16, 24, 32)
DESIGN = Design(looks=LOOKS, margin=0.01)
ARM = (CELL, "docker")
CAMPAIGNS = 300
"""Of Tare's own functions; test_analyze_simulation claims the same of thousands, by arrays proved equal to these."""
THREE_ERRORS = 3 * math.sqrt(0.05 * 0.95 / CAMPAIGNS)


def course_of(summary: Summary, done: int, design: Design = DESIGN, *, ended: bool = False) -> Course:
    return courses([summary], {ARM: done}, design, ended=ended)[ARM]


def seen(summary: Summary, done: int, design: Design = DESIGN, *, ended: bool = False) -> Overhead:
    return overhead(summary, course_of(summary, done, design, ended=ended))


def noisy(seed: int, spread: float, effect: float = 0.0, blocks: int = 32) -> list[float]:
    draws = np.random.default_rng(seed).normal(math.log1p(effect), spread, size=blocks)
    return [float(value) for value in draws]


@pytest.mark.parametrize(
    ("spread", "effect", "stop", "blocks"),
    [
        (0.002, 0.0, Stop.EQUIVALENT, 10),
        (0.002, 0.05, Stop.PRECISE, 10),
        (0.02, 0.30, Stop.PRECISE, 10),
        (0.3, 0.0, Stop.OUT_OF_BLOCKS, 32),
    ],
)
def test_an_arm_stops_when_it_is_known_well_enough(
    spread: float, effect: float, stop: Stop, blocks: int
) -> None:
    result = seen(summary_of(noisy(1, spread, effect)), 32)
    assert (result.stopped, result.looks[-1].blocks) == (stop, blocks)
    assert result.typical == result.looks[-1].estimate


def test_how_precise_is_enough_is_the_campaigns_to_say() -> None:
    summary = summary_of(noisy(1, 0.02, 0.05))
    strict = Design(looks=LOOKS, margin=0.01, precise_absolute=0.0, precise_relative=0.0)
    lax = Design(looks=LOOKS, margin=0.01, precise_absolute=0.2)
    assert course_of(summary, 32, strict).stop is Stop.OUT_OF_BLOCKS
    assert course_of(summary, 32, lax) == Course(looks=(10,), total=32, stop=Stop.PRECISE)


def test_sharing_cells_have_one_look_at_their_end() -> None:
    design = Design(looks=LOOKS, margin=0.01, whole=frozenset({CELL}))
    summary = summary_of(noisy(1, 0.002))
    assert course_of(summary, 31, design) == Course(looks=(), total=32)
    result = seen(summary, 32, design)
    assert (result.typical, result.looks[0].spent) == (overhead(summary).typical, 1.0)


def test_one_look_is_the_interval_of_a_fixed_number() -> None:
    summary = summary_of(noisy(3, 0.05, blocks=10))
    design = Design(looks=(10,), margin=0.01)
    fixed, looked = overhead(summary), seen(summary, 10, design)
    assert (looked.typical, looked.mean, looked.noise_floor) == (fixed.typical, fixed.mean, fixed.noise_floor)
    assert looked.stopped is Stop.OUT_OF_BLOCKS


def test_blocks_after_the_last_look_reached_are_not_told_yet() -> None:
    values = noisy(1, 0.3)
    result = seen(summary_of([*values[:16], *(9.0 for _ in range(7))]), 23)
    assert (result.typical.n, result.stopped) == (16, None)
    assert result.typical == seen(summary_of(values[:16]), 16).typical


def test_before_the_first_look_the_interval_uses_up_only_its_share() -> None:
    design = Design(looks=(8,), margin=0.01)
    (look,) = seen(summary_of(noisy(1, 0.3, blocks=7)), 7, design).looks
    assert look.n == 7
    assert look.spent == pytest.approx((7 / 8) ** 2)
    assert look.level >= 1 - 0.05 * (7 / 8) ** 2


def test_a_dropped_block_makes_n_smaller_and_not_the_look_later() -> None:
    summary = summary_of(noisy(1, 0.3), missing=frozenset({2, 5, 12}))
    assert [(look.blocks, look.n) for look in seen(summary, 32).looks] == [
        (10, 8),
        (16, 13),
        (24, 21),
        (32, 29),
    ]
    assert seen(summary, 32).looks[-1].spent == 1.0


def test_a_look_without_any_complete_block_shows_and_stops_nothing() -> None:
    summary = summary_of(noisy(1, 0.001), missing=frozenset(range(12)))
    result = seen(summary, 16)
    assert [(look.blocks, look.n) for look in result.looks] == [(16, 4)]
    assert (result.typical.low, result.stopped) == (None, None)


def test_the_end_of_the_budget_is_a_last_look_that_may_use_up_all_error() -> None:
    summary = summary_of(noisy(1, 0.3, blocks=20))
    result = seen(summary, 20, ended=True)
    assert (result.stopped, result.looks[-1].blocks, result.looks[-1].spent) == (Stop.OUT_OF_BUDGET, 20, 1.0)
    assert result.typical.low is not None


def test_only_early_stops_leave_the_following_blocks() -> None:
    early, late = summary_of(noisy(1, 0.002)), summary_of(noisy(1, 0.3), environment="lxc")
    result = courses([early, late], {ARM: 32, (CELL, "lxc"): 32}, DESIGN, ended=False)
    (stopped,) = stopped_arms(result)
    assert (stopped.environment, stopped.blocks, stopped.stop) == ("docker", 10, Stop.EQUIVALENT)
    assert control_course(result, CELL) == result[CELL, "lxc"]
    assert control_course(result, Cell(workload="other", layout="1c1p1i")) is None


def test_metrics_beside_the_primary_one_follow_it() -> None:
    primary = summary_of(noisy(1, 0.002))
    other = summary_of(noisy(2, 0.4), metric="cpu_s", primary=False)
    (course,) = courses([primary, other], {ARM: 32}, DESIGN, ended=False).values()
    assert overhead(other, course).typical.n == 10


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.sampled_from([0.004, 0.012, 0.03]), st.sampled_from([0.0, 0.03, 0.2]))
def test_what_comes_later_never_changes_an_earlier_decision(seed: int, spread: float, effect: float) -> None:
    values = noisy(seed, spread, effect)
    whole = course_of(summary_of(values), 32)
    for done in range(33):
        part = course_of(summary_of(values[:done]), done)
        assert part.looks == tuple(look for look in whole.looks if look <= done)
        assert part.stop is (whole.stop if whole.looks[-1] <= done else None)


@pytest.mark.parametrize(("spread", "effect"), [(0.012, 0.0), (0.012, 0.05), (0.04, 0.2)])
def test_at_the_stop_the_interval_holds_the_truth_as_often_as_promised(spread: float, effect: float) -> None:
    missed = wrong = early = 0
    for seed in range(CAMPAIGNS):
        result = seen(noisy_summary(seed, spread, effect), 32)
        low, high = result.typical.low, result.typical.high
        assert low is not None
        assert high is not None
        missed += not low <= effect <= high
        wrong += effect == 0 and not low <= 0 <= high
        early += result.looks[-1].blocks < 32
    assert missed / CAMPAIGNS <= 0.06
    assert wrong / CAMPAIGNS <= 0.05 + THREE_ERRORS
    assert early > CAMPAIGNS / 10, "it hardly ever stopped, so this shows nothing"


def test_at_the_margin_itself_within_is_said_in_one_campaign_of_twenty_at_most() -> None:
    summaries = (noisy_summary(seed, 0.008, 0.01) for seed in range(CAMPAIGNS))
    margins = [verdict(seen(summary, 32), 0.01).within for summary in summaries]
    assert margins.count(0.01) / CAMPAIGNS <= 0.05 + THREE_ERRORS


def test_the_repeated_interval_for_a_share_of_the_error_is_wider() -> None:
    result = seen(summary_of(noisy(1, 0.3)), 32)
    blocks = contrast_of(result.summary)
    alone, shared = repeated(result.looks, blocks), repeated(result.looks, blocks, 0.05 / 5)
    assert alone == result.typical
    assert alone.low is not None
    assert shared.low is not None
    assert shared.low < alone.low


def test_an_arm_stops_only_when_all_its_primary_metrics_are_known_well_enough() -> None:
    precise, noisy_one = summary_of(noisy(1, 0.002)), summary_of(noisy(2, 0.3), metric="cpu_s")
    result = courses([precise, noisy_one], {ARM: 32}, DESIGN, ended=False)
    assert result[ARM].stop is Stop.OUT_OF_BLOCKS
    slower = summary_of(noisy(2, 0.002, 0.1), metric="cpu_s")
    assert courses([precise, slower], {ARM: 32}, DESIGN, ended=False)[ARM].stop is Stop.PRECISE
    assert courses([precise, precise], {ARM: 32}, DESIGN, ended=False)[ARM].stop is Stop.EQUIVALENT
