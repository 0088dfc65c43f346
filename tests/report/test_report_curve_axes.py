# SPDX-License-Identifier: Apache-2.0
"""The axes of curves: which places, values and ratios they reach, and labels that do not touch."""

import itertools
import math
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from tare.drawing.axis import Axis
from tare.records import Dimension
from tare.report.curve_axes import PlaceScale, place_axis, ratio_axis, value_axis
from tare.report.curve_chart import WIDE
from tests.report.curve_example import SIZE, SIZES

OVERHEADS = st.lists(st.floats(-0.99, 1e4), min_size=1, max_size=40)


def axis_of(places: Iterable[float], dimension: Dimension) -> Axis:
    known = list(places)
    return place_axis(PlaceScale.of(known, dimension), known, WIDE.label_px, WIDE.plot_px)


def test_sizes_are_labelled_in_powers_of_two_and_other_places_in_tens() -> None:
    sizes = axis_of(map(float, SIZES), SIZE)
    assert sizes.labels[:3] == ("1 B", "4 B", "16 B")
    assert sizes.labels[-1] == "16 MiB"
    tens = axis_of([1.0, 10.0, 1000.0], Dimension("rate", "Hz"))
    assert tens.labels == ("1 Hz", "10 Hz", "100 Hz", "1 kHz")
    assert axis_of([8.0], SIZE).labels == ("8 B",)


def test_nothing_has_a_place_of_its_own_before_the_least() -> None:
    axis = axis_of([0.0, 4.0, 8.0, 1024.0], SIZE)
    assert axis.labels[0] == "0 B"
    assert axis.ticks[1] - axis.ticks[0] >= 1
    assert axis.low < axis.ticks[0] < 2.0
    counted = axis_of([0.0, 1.0, 10.0], Dimension("ranks", None))
    assert counted.labels == ("0", "1", "10")
    assert axis_of([0.0], SIZE).labels == ("0 B",)


@given(st.lists(st.floats(1e-12, 1e12), min_size=1, max_size=30))
def test_a_value_axis_shows_every_value_and_its_labels_do_not_touch(values: list[float]) -> None:
    axis = value_axis(values, "s", WIDE.values_px)
    assert all(axis.low <= math.log10(value) <= axis.high for value in values)
    assert len(axis.ticks) <= WIDE.values_px / 17
    check_ticks(axis, WIDE.values_px, 17)


@given(OVERHEADS, OVERHEADS)
def test_a_ratio_axis_shows_1_and_every_point_and_its_labels_do_not_touch(
    points: list[float], ends: list[float]
) -> None:
    axis = ratio_axis(points, ends, 0.01, WIDE.strip_px, 13)
    assert all(axis.low <= point <= axis.high for point in (*points, 0.0))
    assert axis.low >= -1
    assert "1" in axis.labels
    check_ticks(axis, WIDE.strip_px, 13)


def check_ticks(axis: Axis, height_px: float, label_px: float) -> None:
    places = sorted(axis.position(tick) * height_px for tick in axis.ticks)
    assert all(later - earlier > label_px * 0.99 for earlier, later in itertools.pairwise(places))
    assert len(axis.labels) == len(axis.ticks)


def test_small_ratios_get_an_even_axis_and_large_ones_a_logarithmic_one() -> None:
    near = ratio_axis([-0.05, 0.08], [], 0.01, 60, 13)
    assert near.constant is None
    assert near.labels == ("0.95", "1", "1.05")
    far = ratio_axis([0.0, 50.0], [], 0.01, 120, 13)
    assert far.constant is not None
    assert {"1", "10", "50"} <= set(far.labels)


def test_a_few_wide_intervals_do_not_flatten_the_rest() -> None:
    ends = [0.05, -0.05] * 100
    assert ratio_axis([0.0], [*ends, 1e6], 0.01, 60, 13) == ratio_axis([0.0], ends, 0.01, 60, 13)
