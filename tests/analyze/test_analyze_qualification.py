# SPDX-License-Identifier: Apache-2.0
"""What a sentence says where a claim about the typical run may not hold for the mean."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.analyze.turns_example import CLEAN, ENVIRONMENT, in_turns, slices
from tests.analyze.verdict_example import MARGIN, around, verdict_of

from tare.analyze import overhead, verdict
from tare.analyze.qualification import Qualification, qualification
from tare.records import Estimate, SlowRuns, Verdict, Word
from tare.units import DASH


def with_slow(count: int, blocks: int = 10) -> Verdict:
    values = around(0.0, 0.002, blocks)
    return verdict_of([value + math.log(1.5) * (place < count) for place, value in enumerate(values)])


def with_mean(given: Verdict, low: float, high: float) -> Verdict:
    """The same claim beside another mean."""
    mean = Estimate(point=(low + high) / 2, low=low, high=high, level=0.95, n=10)
    return verdict(replace(given.overhead, mean=mean), MARGIN)


def with_counts(given: Verdict, slow: SlowRuns, starts: SlowRuns | None = None) -> Verdict:
    return verdict(replace(given.overhead, slow=slow, slow_starts=starts), MARGIN)


def test_a_clean_sample_of_ten_says_how_many_it_saw() -> None:
    assert verdict_of(around(0.0, 0.002)).sentence == (
        "docker: typically within ±1 % of native; none of 10 runs was 20 % slower (n = 10)"
    )


def test_slow_runs_and_the_mean_that_they_move_stand_in_the_sentence() -> None:
    result = with_slow(2, 20)
    assert result.word is Word.WITHIN
    assert result.sentence == (
        "docker: typically within ±1 % of native, but 2 of 20 runs were slower by 50 %; "
        "\N{MINUS SIGN}9 to +19 % in the mean (n = 20)"
    )


def test_natives_slow_runs_stand_beside_with_their_own_size() -> None:
    both = replace(CLEAN, slow=1, native_slow=2, by=0.4, native_by=0.25)
    result = with_counts(verdict_of(around(0.0, 0.002)), both)
    assert ", but 1 of 10 runs was slower by 40 % (natively 2 of 20 by 25 %) (" in result.sentence


def test_slow_native_runs_alone_qualify_within_for_then_the_environment_may_be_faster_in_the_mean() -> None:
    result = with_counts(
        verdict_of(around(0.0, 0.002)),
        replace(CLEAN, runs=200, native_runs=400, native_slow=30, native_by=0.5),
    )
    assert (
        "typically within ±1 % of native, but natively 30 of 400 runs were slower by 50 % ("
        in result.sentence
    )


def test_many_runs_without_a_slow_one_make_the_claim_hold_for_the_mean() -> None:
    many = replace(CLEAN, runs=600, native_runs=1200)
    result = with_counts(verdict_of(around(0.0, 0.002)), many)
    assert result.sentence == "docker: within ±1 % of native (n = 10)"


def test_many_slices_do_not_make_up_for_few_starts() -> None:
    result = verdict(overhead(in_turns(slices(1, rounds=44))), MARGIN)
    assert (
        result.sentence
        == "docker: typically within ±1 % of native; none of 10 starts was 20 % slower (n = 10)"
    )


def test_a_slow_start_is_said_as_a_start() -> None:
    times = slices(1)
    times[3, ENVIRONMENT] += math.log(1.5)
    sentence = verdict(overhead(in_turns(times)), MARGIN).sentence
    assert sentence.startswith("docker: typically within ±1 % of native, but 1 of 10 starts was slower by 5")
    assert " % in the mean (n = 10)" in sentence


def test_a_mean_beyond_the_margin_qualifies_whatever_the_runs_were() -> None:
    many = replace(CLEAN, runs=600, native_runs=1200)
    near = with_counts(verdict_of(around(0.0, 0.002)), many)
    assert qualification(with_mean(near, -0.005, 0.009)) is None
    assert qualification(with_mean(near, -0.005, 0.011)) is not None
    beyond = with_mean(near, 0.005, 0.025)
    assert beyond.sentence == ("docker: typically within ±1 % of native; +0.5 to +2.5 % in the mean (n = 10)")


def test_slices_that_the_means_interval_covers_qualify_nothing_and_starts_still_do() -> None:
    slow = SlowRuns(runs=2400, slow=70, native_runs=4800, native_slow=140, by=3.0, native_by=3.0)
    starts = replace(CLEAN, runs=200, native_runs=400)
    inside = with_counts(with_mean(verdict_of(around(0.0, 0.002)), -0.005, 0.005), slow, starts)
    assert qualification(inside) is None
    wide = with_mean(inside, -0.02, 0.02)
    assert qualification(wide) == Qualification(mean=wide.overhead.mean, slow=slow, slow_starts=None)
    few = with_counts(inside, slow, CLEAN)
    assert qualification(few) == Qualification(mean=None, slow=None, slow_starts=CLEAN)


def test_a_bounded_cost_is_no_claim_against_a_mean_that_is_faster() -> None:
    many = with_counts(verdict_of(around(0.0, 0.002)), replace(CLEAN, runs=600, native_runs=1200))
    faster, slower = (
        replace(with_mean(many, mean, mean), word=Word.BOUNDED, within=None, at_most=0.07)
        for mean in (-0.3, 0.3)
    )
    assert qualification(faster) is None
    assert qualification(slower) is not None


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.02, 0.05, "+2.0 to +5.0 % in the mean"),
        (-0.04, 0.16, "\N{MINUS SIGN}4 to +16 % in the mean"),
        (-0.05, -0.03, "\N{MINUS SIGN}5.0 to \N{MINUS SIGN}3.0 % in the mean"),
        (11.0, 19.0, f"12{DASH}20 times native's in the mean"),
    ],
)
def test_a_difference_says_the_mean_where_that_is_beyond_twice_its_range(
    low: float, high: float, said: str
) -> None:
    slower = verdict_of(around(0.012, 0.008))
    assert slower.word is Word.SLOWER
    claim = slower.claim.removesuffix(" (n = 10)")
    assert with_mean(slower, low, high).claim == f"typically {claim}; {said} (n = 10)"


def test_a_difference_stands_alone_where_the_mean_is_within_a_factor_of_two_of_its_range() -> None:
    for sign in (1, -1):
        judged = verdict_of(around(sign * 0.05, 0.01))
        ends = judged.overhead.typical.low, judged.overhead.typical.high
        near, far = sorted((end or 0.0 for end in ends), key=abs)
        for mean, is_qualified in (
            (near / 1.9, False),
            (1.9 * far, False),
            (near / 2.1, True),
            (2.1 * far, True),
        ):
            assert (qualification(with_mean(judged, mean, mean)) is not None) == is_qualified


def test_where_slow_runs_are_no_part_of_the_noise_no_difference_is_qualified() -> None:
    generator = np.random.default_rng(1)
    for effect in (0.0, 0.005, 0.02, -0.02):
        for _ in range(100):
            judged = verdict_of((effect + generator.normal(0.0, 0.005, 10)).tolist())
            assert judged.word not in (Word.SLOWER, Word.FASTER) or qualification(judged) is None
