# SPDX-License-Identifier: Apache-2.0
"""What holds of the words for all intervals and bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.analyze.published import in_quantity, joined, judged, without_sign
from tare.records import Estimate
from tare.records.published import AgreementWord, Quantity

CONTRADICTED, REPRODUCED, UNDECIDED, NOT_MEASURED = (
    AgreementWord.CONTRADICTED,
    AgreementWord.REPRODUCED,
    AgreementWord.UNDECIDED,
    AgreementWord.NOT_MEASURED,
)
ENDS = st.floats(-0.9, 5.0)
BOUNDS = st.none() | ENDS


def interval(low: float, high: float) -> Estimate:
    return Estimate(point=(low + high) / 2, low=low, high=high, level=0.95, n=10)


@given(st.tuples(ENDS, ENDS), st.tuples(ENDS, ENDS))
def test_an_interval_is_inside_outside_or_across(
    ours: tuple[float, float], bounds: tuple[float, float]
) -> None:
    (low, high), (least, most) = sorted(ours), sorted(bounds)
    word = judged(interval(low, high), least, most)
    assert (word is REPRODUCED) == (least < low and high < most)
    assert (word is CONTRADICTED) == (high < least or low > most)


@given(st.tuples(ENDS, ENDS, ENDS), ENDS, st.booleans())
def test_an_interval_that_contains_a_bound_is_undecided(
    ends: tuple[float, float, float], far: float, is_least: bool
) -> None:
    low, bound, high = sorted(ends)
    least, most = (bound, max(far, bound)) if is_least else (min(far, bound), bound)
    assert judged(interval(low, high), least, most) is UNDECIDED


@given(BOUNDS, BOUNDS)
def test_without_an_interval_nothing_is_decided(least: float | None, most: float | None) -> None:
    bare = Estimate(point=0.3, low=None, high=None, level=0.95, n=3)
    assert judged(bare, least, most) is UNDECIDED


@given(st.tuples(ENDS, ENDS), st.floats(0.0, 4.0))
def test_a_narrower_interval_never_turns_a_word_into_its_opposite(
    ours: tuple[float, float], bound: float
) -> None:
    low, high = sorted(ours)
    middle = (low + high) / 2
    wide, narrow = (
        judged(interval(middle - part, middle + part), None, bound)
        for part in ((high - low) / 2, (high - low) / 8)
    )
    assert wide in {UNDECIDED, narrow}


@given(st.tuples(ENDS, ENDS))
def test_more_time_is_a_lower_rate_and_back_again(ours: tuple[float, float]) -> None:
    low, high = sorted(ours)
    rate = in_quantity(interval(low, high), Quantity.RATE)
    assert rate.low is not None
    assert rate.high is not None
    assert rate.low <= rate.point <= rate.high
    again = in_quantity(rate, Quantity.RATE)
    assert again.low == pytest.approx(low, abs=1e-9)
    assert again.high == pytest.approx(high, abs=1e-9)
    assert in_quantity(interval(low, high), Quantity.TIME) == interval(low, high)


@given(st.tuples(ENDS, ENDS))
def test_without_its_sign_an_interval_holds_the_same_sizes(ours: tuple[float, float]) -> None:
    low, high = sorted(ours)
    bare = without_sign(interval(low, high))
    assert bare.low == (0 if low <= 0 <= high else min(abs(low), abs(high)))
    assert bare.high == max(abs(low), abs(high))


@given(st.lists(st.sampled_from(list(AgreementWord)), min_size=1))
def test_a_claim_of_several_parts_holds_if_all_do_and_falls_with_one(words: list[AgreementWord]) -> None:
    word = joined(words)
    assert (word is CONTRADICTED) == (CONTRADICTED in words)
    assert (word is REPRODUCED) == (set(words) == {REPRODUCED})
    assert (word is NOT_MEASURED) == (set(words) == {NOT_MEASURED})


def test_a_claim_of_no_parts_is_not_measured() -> None:
    assert joined([]) is NOT_MEASURED
