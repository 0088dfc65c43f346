# SPDX-License-Identifier: Apache-2.0
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.drawing.axis import LINEAR_UP_TO, overhead_axis, value_axis


@given(st.lists(st.floats(-0.95, 500), max_size=20), st.floats(0.001, 0.2), st.floats(150, 800))
def test_an_overhead_axis_holds_all_values_zero_and_the_margin(
    values: list[float], margin: float, width_px: float
) -> None:
    axis = overhead_axis(values, margin, width_px)
    for value in (*values, 0.0, -margin, margin):
        assert -1e-9 <= axis.position(value) <= 1 + 1e-9
    assert 0.0 in axis.ticks
    assert all(axis.low <= tick <= axis.high for tick in axis.ticks)
    assert len(axis.labels) == len(axis.ticks)


@given(st.lists(st.floats(-0.9, 90), max_size=20), st.floats(200, 800))
def test_tick_labels_never_touch(values: list[float], width_px: float) -> None:
    axis = overhead_axis(values, 0.01, width_px)
    middles = [axis.position(tick) * width_px for tick in axis.ticks]
    halves = [7 * len(label) / 2 for label in axis.labels]
    edges = [(at - half, at + half) for at, half in zip(middles, halves, strict=True)]
    assert all(left[1] + 5 <= right[0] for left, right in pairwise(edges))


@given(st.lists(st.floats(-LINEAR_UP_TO, LINEAR_UP_TO), max_size=20), st.floats(150, 800))
def test_a_straight_axis_never_has_a_single_tick_which_would_be_no_scale(
    values: list[float], width_px: float
) -> None:
    assert len(overhead_axis(values, 0.01, width_px).ticks) >= 2


def test_small_overheads_are_drawn_to_a_straight_scale() -> None:
    axis = overhead_axis([-0.01, 0.06], 0.01, 480)
    assert axis.constant is None
    assert axis.position((axis.low + axis.high) / 2) == pytest.approx(0.5)


def test_a_large_overhead_leaves_room_for_the_small_ones() -> None:
    axis = overhead_axis([0.0, 10 * LINEAR_UP_TO], 0.01, 480)
    assert axis.position(0.01) - axis.position(0.0) > 0.04


@given(st.lists(st.floats(1e-9, 1e15), min_size=1, max_size=20))
def test_a_value_axis_holds_its_values_and_has_readable_ticks(values: list[float]) -> None:
    axis = value_axis(values)
    assert axis.low < min(values) <= max(values) < axis.high
    assert 1 <= len(axis.ticks) <= 12
    assert len(set(axis.labels)) == len(axis.labels)


def test_values_that_differ_in_their_last_digits_are_drawn_as_equal() -> None:
    axis = value_axis([1.0000000000000003e-09, 1e-09])
    assert axis.low < 1e-09 < axis.high
    assert len(set(axis.labels)) == len(axis.labels)


def test_equal_values_still_have_an_axis() -> None:
    axis = value_axis([5.0, 5.0])
    assert axis.low < 5.0 < axis.high
    assert axis.ticks
