# SPDX-License-Identifier: Apache-2.0


import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tare.analyze import overhead, verdict, verdicts
from tare.analyze.judgement import claim, margins
from tare.records import BlockValue, Cell, Direction, Estimate, Summary, Verdict, Word
from tare.statistics.estimate import lies_within

SPREAD = (0.1, -0.7, 1.0, -0.2, 0.4, -1.0, 0.7, -0.4, 0.2, -0.1)
"""In no order by which a block would depend on the one before."""


def summary_of(log_ratios: Sequence[float], control: Sequence[float] | None = None) -> Summary:
    return Summary(
        cell=Cell(workload="burn", layout="1c1p1i"),
        environment="docker",
        metric="wall_s",
        unit="s",
        direction=Direction.LESS,
        primary=True,
        blocks=tuple(
            BlockValue(block=block, native=(1.0, 1.0), environment=math.exp(log_ratio))
            for block, log_ratio in enumerate(log_ratios)
        ),
        log_ratios=tuple(log_ratios),
        control_log_ratios=tuple(control if control is not None else [0.0] * len(log_ratios)),
        dropped_blocks=0,
    )


def judged(log_ratios: Sequence[float], control: Sequence[float] | None = None) -> Verdict:
    return verdict(overhead(summary_of(log_ratios, control)), 0.01)


def around(centre: float, spread: float, n: int = 10) -> list[float]:
    return [centre + spread * SPREAD[block % len(SPREAD)] for block in range(n)]


def test_an_interval_above_zero_is_slower() -> None:
    result = judged(around(math.log(1.066), 0.02))
    assert (result.word, result.more_blocks) == (Word.SLOWER, None)


def test_an_interval_below_zero_is_faster() -> None:
    result = judged(around(math.log(0.90), 0.05))
    assert (result.word, result.more_blocks) == (Word.FASTER, None)


def test_an_interval_inside_the_margin_is_within_though_it_excludes_zero() -> None:
    result = judged(around(0.004, 0.001))
    assert result.overhead.typical.low is not None
    assert result.overhead.typical.low > 0
    assert (result.word, result.more_blocks) == (Word.WITHIN, None)


@pytest.mark.parametrize(
    ("spread", "within"), [(0.005, 0.01), (0.02, 0.02), (0.06, 0.05), (0.17, 0.1), (0.3, None)]
)
def test_the_narrowest_margin_that_holds_is_said(spread: float, within: float | None) -> None:
    result = judged(around(0.002, spread))
    assert result.within == within
    assert result.word is (Word.WITHIN if within else Word.UNDECIDED)
    assert result.more_blocks is None or not within


def test_a_difference_inside_a_wider_margin_still_says_its_range() -> None:
    result = judged(around(0.03, 0.02))
    assert (result.word, result.within) == (Word.SLOWER, 0.05)
    assert result.sentence.startswith("docker: slower by ")


def test_the_campaigns_own_margin_comes_before_a_difference() -> None:
    result = verdict(overhead(summary_of(around(0.03, 0.02))), 0.05)
    assert (result.word, result.within) == (Word.WITHIN, 0.05)


def test_a_cost_that_has_an_upper_bound_and_no_margin_is_bounded() -> None:
    result = judged(around(-0.1, 0.3))
    assert result.word is Word.BOUNDED
    assert result.at_most == result.overhead.typical.high
    assert result.sentence.startswith("docker: typically costs at most ")


def test_an_interval_over_zero_and_beyond_all_margins_is_undecided() -> None:
    result = judged(around(0.006, 0.5))
    assert result.word is Word.UNDECIDED
    deviation = 0.5 * math.sqrt(3.4 / 9)
    distance = math.log1p(0.1 - result.overhead.typical.point)
    assert result.more_blocks == math.ceil((1.96 * deviation / distance) ** 2 + 2) - 10


def test_the_advice_is_the_planning_formula_at_the_nearer_decision() -> None:
    log_ratios = around(0.0, 0.4)
    deviation = math.sqrt(sum(value**2 for value in log_ratios) / 9)
    expected = math.ceil((1.96 * deviation / math.log1p(0.1)) ** 2 + 2) - 10
    assert judged(log_ratios).more_blocks == expected


def test_hopeless_noise_promises_no_number_of_blocks() -> None:
    result = judged(around(0.0, 40.0))
    assert (result.word, result.more_blocks) == (Word.UNDECIDED, None)
    assert (
        "more blocks alone would hardly decide; a quieter machine or longer runs would help"
        in result.sentence
    )


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_fewer_than_six_blocks_never_decide_and_say_how_many_do(n: int) -> None:
    result = judged([0.5] * n)
    assert result.word is Word.UNDECIDED
    assert result.more_blocks == 6 - n
    assert f"a 95 % interval needs at least 6 blocks (n = {n})" in result.sentence


def test_five_blocks_that_agree_with_native_are_still_too_few() -> None:
    assert judged([0.0] * 5).word is Word.UNDECIDED


def test_one_block_gives_no_advice() -> None:
    result = judged([0.5])
    assert (result.word, result.more_blocks) == (Word.UNDECIDED, None)
    assert result.sentence == "docker: undecided: a 95 % interval needs at least 6 blocks (n = 1)"


def test_values_without_any_spread_are_decided() -> None:
    assert judged([0.0] * 6).word is Word.WITHIN
    slower = judged([math.log(1.05)] * 6)
    assert (slower.word, slower.sentence) == (Word.SLOWER, "docker: slower by 5.00 % (n = 6)")
    assert not slower.overhead.tail_cost


def test_a_difference_as_small_as_native_against_native_is_below_the_noise_floor() -> None:
    result = judged(around(0.02, 0.005), around(0.0, 0.08))
    assert (result.word, result.below_noise_floor) == (Word.SLOWER, True)
    assert "native against native" in result.sentence


def test_a_difference_beyond_the_noise_floor_is_not_called_below_it() -> None:
    result = judged(around(0.05, 0.005), around(0.0, 0.06))
    assert (result.word, result.below_noise_floor) == (Word.SLOWER, False)
    assert "native against native" not in result.sentence


def test_without_a_noise_floor_nothing_lies_below_it() -> None:
    assert not judged([0.0] * 4).below_noise_floor


def test_summaries_without_blocks_get_no_verdict() -> None:
    result = verdicts([summary_of([]), summary_of([0.1] * 6)], 0.01)
    assert [each.word for each in result] == [Word.SLOWER]


@given(st.lists(st.floats(min_value=-700, max_value=700), min_size=1, max_size=20), st.floats(0.0001, 0.5))
@example(log_ratios=[0.0, 0.0, -53.0, -131.0, 0.0, 39.0, 0.0], margin=0.5)
def test_each_word_means_what_the_interval_shows(log_ratios: list[float], margin: float) -> None:
    summary = summary_of(log_ratios)
    result = verdict(overhead(summary), margin)
    low, high = result.overhead.typical.low, result.overhead.typical.high
    assert (result.word is Word.WITHIN) <= (result.within is not None)
    assert (result.word is Word.BOUNDED) == (result.at_most is not None)
    assert (result.word is Word.WITHIN) >= lies_within(result.overhead.typical, margin)
    if low is None or high is None:
        assert result.word is Word.UNDECIDED
    elif result.word is Word.SLOWER:
        assert low > 0
    elif result.word is Word.FASTER:
        assert high < 0
    else:
        assert low <= 0 <= high or result.within is not None
    assert result.more_blocks is None or (result.word is Word.UNDECIDED and result.more_blocks >= 1)


@given(st.lists(st.floats(min_value=-3, max_value=3), min_size=6, max_size=20))
def test_swapped_arms_swap_slower_and_faster(log_ratios: list[float]) -> None:
    swapped = {Word.SLOWER: Word.FASTER, Word.FASTER: Word.SLOWER}
    forward = verdict(overhead(summary_of(log_ratios)), 1e-9)
    backward = verdict(overhead(summary_of([-value for value in log_ratios])), 1e-9)
    for result, other in ((forward, backward), (backward, forward)):
        assert other.word is swapped.get(result.word, other.word)


SURE = Estimate(point=0.02, low=0.01, high=0.03, level=0.95, n=10)


def test_the_campaigns_margin_joins_the_others_and_the_widest_comes_first() -> None:
    assert margins(0.01) == (0.1, 0.05, 0.02, 0.01)
    assert margins(0.2) == (0.2, 0.1, 0.05, 0.02, 0.01)
    assert margins(0.03) == (0.1, 0.05, 0.03, 0.02, 0.01)


@pytest.mark.parametrize(
    ("low", "high", "word", "within"),
    [
        (0.001, 0.009, Word.WITHIN, 0.01),
        (0.01, 0.03, Word.SLOWER, 0.05),
        (-0.03, -0.01, Word.FASTER, 0.05),
        (-0.01, 0.03, Word.WITHIN, 0.05),
        (0.01, 0.2, Word.SLOWER, None),
        (-0.2, 0.03, Word.BOUNDED, None),
        (-0.2, 0.1, Word.UNDECIDED, None),
        (-0.0499, 0.0, Word.WITHIN, 0.05),
        (-0.05, 0.0, Word.WITHIN, 0.1),
    ],
)
def test_the_word_is_the_strongest_that_the_interval_permits(
    low: float, high: float, word: Word, within: float | None
) -> None:
    result = claim(replace(SURE, low=low, high=high), 0.01)
    assert (result.word, result.within) == (word, within)
    assert result.at_most == (high if word is Word.BOUNDED else None)


def test_a_missing_interval_is_undecided() -> None:
    assert claim(replace(SURE, low=None, high=None), 0.01).word is Word.UNDECIDED
