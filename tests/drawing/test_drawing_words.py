# SPDX-License-Identifier: Apache-2.0
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.drawing.words import (
    NO_VALUE,
    STYLE,
    interval_percent,
    least_level,
    moment,
    point_percent,
    quantity,
    quantity_interval,
    unbreakable,
)
from tare.records import Estimate, Word
from tare.units import DASH, MINUS

TIMES = "\N{MULTIPLICATION SIGN}"


def estimate(
    point: float, low: float | None, high: float | None, level: float = 0.95, n: int = 10
) -> Estimate:
    return Estimate(point=point, low=low, high=high, level=level, n=n)


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.052, 0.081, f"5.2{DASH}8.1 %"),
        (-0.008, 0.021, f"{MINUS}0.8 to +2.1 %"),
        (-0.081, -0.052, f"{MINUS}8.1 to {MINUS}5.2 %"),
        (0.9, 1.4, f"90{DASH}140 %"),
        (0.0, 0.004, f"0.00{DASH}0.40 %"),
        (-0.0, -0.0, f"0.00{DASH}0.00 %"),
        (8.9, 9.9, f"890{DASH}990 %"),
        (9.0, 31.4, f"{TIMES}10{DASH}33"),
        (None, None, "none (n = 10)"),
    ],
)
def test_an_interval_has_true_signs_and_as_many_digits_as_its_width_carries(
    low: float | None, high: float | None, text: str
) -> None:
    assert interval_percent(estimate(0.01, low, high)) == text


def test_a_bound_just_beside_zero_keeps_its_side() -> None:
    assert interval_percent(estimate(0.01, 0.0002, 0.03)) == f"0.02{DASH}3.0 %"
    assert interval_percent(estimate(0.01, -0.0002, 0.03)) == f"{MINUS}0.1 to +3.0 %"


def test_point_and_interval_of_one_estimate_are_both_per_cent_or_both_multiples() -> None:
    assert point_percent(estimate(12.0, 8.0, 15.0)) == "+1200 %"
    assert point_percent(estimate(76.2, 54.0, 118.0)) == f"{TIMES}77"
    assert point_percent(estimate(76.2, None, None)) == f"{TIMES}77"


@given(st.floats(-0.9, 5), st.floats(0, 5))
def test_an_interval_never_shows_a_hyphen_for_minus_and_always_its_unit(low: float, width: float) -> None:
    text = interval_percent(estimate(low, low, low + width))
    assert "-" not in text
    assert text.endswith(" %")
    assert (MINUS in text) <= (low < 0)


def test_a_point_is_signed_and_a_rounded_zero_is_not() -> None:
    assert point_percent(estimate(0.066, 0.06, 0.07)) == "+6.6 %"
    assert point_percent(estimate(-0.066, -0.07, -0.06)) == f"{MINUS}6.6 %"
    assert point_percent(estimate(-0.0001, -0.02, 0.02)) == "0.0 %"
    assert point_percent(estimate(math.nan, None, None)) == NO_VALUE


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (93.21e9, "flop/s", "93.21 Gflop/s"),
        (2.3e-7, "s", "230 ns"),
        (75.0, "s", "75 s"),
        (0.0, "s", "0 s"),
        (12.5, "widget", "12.5 widget"),
        (9999.4, "widget", "9999 widget"),
        (12345, "widget", "12.35 thousand widget"),
        (8.686e8, "1/s", "868.6 million/s"),
        (-2.5e10, "1", "\N{MINUS SIGN}25 billion 1"),
        (3e15, "", "3000 trillion"),
        (math.inf, "s", NO_VALUE),
    ],
)
def test_a_quantity_takes_a_prefix_only_where_that_is_customary(value: float, unit: str, text: str) -> None:
    assert quantity(value, unit) == text


@given(st.floats(1e-9, 1e14), st.sampled_from(["s", "B/s", "1/s", "", "widget"]))
def test_a_large_quantity_has_no_exponent(value: float, unit: str) -> None:
    assert "e+" not in quantity(value, unit)


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (1.2958, 1.2999, f"1.296{DASH}1.300 s"),
        (0.9987, 1.0004, f"0.999{DASH}1.000 s"),
        (1.75e-3, 2.15e-3, f"1.75{DASH}2.15 ms"),
        (1.3, 1.3, f"1.3{DASH}1.3 s"),
    ],
)
def test_the_ends_of_an_interval_are_told_apart(low: float, high: float, text: str) -> None:
    assert quantity_interval(estimate(low, low, high), "s") == text


@given(st.floats(1e-6, 1e6), st.floats(1e-5, 1.0))
def test_an_interval_with_a_width_never_looks_like_a_point(low: float, width: float) -> None:
    shown = quantity_interval(estimate(low, low, low * (1 + width)), "s")
    left, right = shown.split()[0].split(DASH)
    assert float(left) < float(right)


def test_a_bound_that_is_zero_to_the_last_digit_does_not_pretend_to_more_of_them() -> None:
    assert interval_percent(estimate(-0.01, -0.1336, 3.6e-10)) == f"{MINUS}14 to 0 %"


def test_a_bound_of_a_cost_is_not_praised_by_a_colour() -> None:
    assert STYLE[Word.BOUNDED] not in {STYLE[Word.WITHIN], STYLE[Word.FASTER]}
    assert STYLE[Word.UNDECIDED] not in {STYLE[Word.WITHIN], STYLE[Word.FASTER]}


def test_the_level_is_rounded_down_so_that_it_holds_for_all() -> None:
    assert least_level([estimate(0, 0, 0, 0.9609), estimate(0, 0, 0, 0.9512)]) == "95 %"
    assert least_level([estimate(0, 0, 0, 0.95)]) == "95 %"
    assert least_level([]) == NO_VALUE


def test_a_range_with_its_unit_and_count_stays_on_one_line() -> None:
    kept = unbreakable(f"slower by 5.2{DASH}8.1 % (n = 10)")
    assert kept.split(" ") == ["slower", "by", f"5.2{DASH}\u20608.1\u00a0%", "(n\u00a0=\u00a010)"]


@pytest.mark.parametrize(
    "text", ["2025-03-07T14:00:00Z", "20250307T140000.283136Z", "2025-03-07T16:00:00+02:00"]
)
def test_a_time_is_told_in_universal_time(text: str) -> None:
    assert moment(text) == "2025-03-07 14:00 UTC"


def test_what_is_no_time_is_left_as_it_is() -> None:
    assert moment("yesterday") == "yesterday"
