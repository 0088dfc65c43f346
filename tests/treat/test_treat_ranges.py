# SPDX-License-Identifier: Apache-2.0
"""A range of a curve is one figure: the geometric mean of its points, or nothing."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.curve_example import curve_analysis, true_ratio

from tare.records import Coordinate, Direction, Outcome, Range, Sample
from tare.treat import summaries, with_ranges

SIZES = (1, 1024, 1 << 20)
SMALL = Range(name="small messages", metric="latency_s", bounds={"size": (None, 1024.0)})
RANGES = {"netpipe": (SMALL,)}


def outcomes() -> list[Outcome]:
    """Three blocks without noise."""
    return list(curve_analysis(blocks=3, environments=("gvisor",), sizes=SIZES, variation=0.0).outcomes)


def figures(outcome: Outcome, name: str = SMALL.name) -> list[Sample]:
    return [sample for sample in outcome.samples if sample.name == name]


def test_a_range_gets_a_summary_with_the_mean_of_its_points_ratios() -> None:
    (summary,) = [
        each
        for each in summaries(with_ranges(outcomes(), RANGES), {"netpipe": (SMALL.name,)})
        if each.metric == SMALL.name
    ]
    truth = math.sqrt(true_ratio("gvisor", 1) * true_ratio("gvisor", 1024))
    assert summary.primary
    assert summary.log_ratios == pytest.approx([math.log(truth)] * 3)
    assert summary.unit == "s"


def test_points_outside_and_other_metrics_and_workloads_change_nothing() -> None:
    plain = outcomes()
    for ranges in ({}, {"other": (SMALL,)}, {"netpipe": (replace(SMALL, bounds={"size": (9e9, None)}),)}):
        assert list(with_ranges(plain, ranges)) == plain
    assert [len(figures(outcome)) for outcome in with_ranges(plain, RANGES)] == [1] * len(plain)


def test_a_trial_that_lacks_a_point_has_no_figure() -> None:
    plain = outcomes()
    plain[0] = replace(
        plain[0],
        samples=tuple(
            each for each in plain[0].samples if not each.coordinates or each.coordinates[0].value > 1
        ),
    )
    joined = with_ranges(plain, RANGES)
    assert figures(joined[0]) == []
    assert all(figures(outcome) for outcome in joined[1:])


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=6))
def test_a_time_and_its_rate_have_reciprocal_figures(times_s: Sequence[float]) -> None:
    samples = [
        Sample(
            name=name,
            value=value,
            unit=unit,
            direction=direction,
            coordinates=(Coordinate("n", place, None),),
        )
        for place, time_s in enumerate(times_s)
        for name, value, unit, direction in (
            ("time", time_s, "s", Direction.LESS),
            ("rate", 1 / time_s, "1/s", Direction.MORE),
        )
    ]
    whole = {"n": (0.0, None)}
    ranges = tuple(Range(name=f"all {metric}", metric=metric, bounds=whole) for metric in ("time", "rate"))
    (joined, *_) = with_ranges([replace(outcomes()[0], samples=tuple(samples))], {"netpipe": ranges})
    (time,), (rate,) = figures(joined, "all time"), figures(joined, "all rate")
    assert time.value * rate.value == pytest.approx(1)
    assert min(times_s) * (1 - 1e-9) <= time.value <= max(times_s) * (1 + 1e-9)


def test_instances_and_rounds_are_joined_each_by_itself() -> None:
    (first, *_) = outcomes()
    points = [each for each in first.samples if each.name == "latency_s"]
    several = [
        replace(each, value=each.value * (1 + instance + 2 * number), instance=instance, round=number)
        for each in points
        for instance in (0, 1)
        for number in (0, 1)
    ]
    (joined,) = with_ranges([replace(first, samples=tuple(several))], RANGES)
    alone = figures(with_ranges([first], RANGES)[0])[0].value
    assert {(each.instance, each.round): each.value / alone for each in figures(joined)} == pytest.approx(
        {(0, 0): 1, (1, 0): 2, (0, 1): 3, (1, 1): 4}
    )
