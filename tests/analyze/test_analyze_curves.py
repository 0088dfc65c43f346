# SPDX-License-Identifier: Apache-2.0
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.curve_example import curve_analysis, native_time_s, true_ratio

from tare.analyze import curve_estimates
from tare.records import Cell, Curve, CurvePoint, Direction
from tare.statistics.contrasts import Blocks, estimate
from tare.statistics.estimate import as_fraction

VALUES = st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=12)


def curve(values: tuple[float, ...], log_ratios: tuple[float, ...], *, rate: bool = False) -> Curve:
    return Curve(
        cell=Cell(workload="w", layout="1c2p1i"),
        environment="docker" if log_ratios else "native",
        metric="m",
        unit="B/s" if rate else "s",
        direction=Direction.MORE if rate else Direction.LESS,
        x_unit="B",
        points=(
            CurvePoint(
                x=8.0,
                blocks=tuple(range(len(values))),
                values=values,
                log_ratios=log_ratios,
                control_log_ratios=tuple(0.0 for _ in log_ratios),
            ),
        ),
    )


@given(VALUES)
def test_a_value_lies_within_its_interval_and_among_what_was_measured(values: list[float]) -> None:
    (estimate,) = curve_estimates([curve(tuple(values), ())])
    (point,) = estimate.points
    assert point.x == 8.0
    assert point.overhead is None
    assert min(values) * (1 - 1e-9) <= point.value.point <= max(values) * (1 + 1e-9)
    assert (point.value.low is None) == (len(values) < 6)
    if point.value.low is not None and point.value.high is not None:
        assert min(values) * (1 - 1e-9) <= point.value.low <= point.value.point
        assert point.value.point <= point.value.high <= max(values) * (1 + 1e-9)


@given(VALUES)
def test_a_time_and_its_rate_are_reciprocal(values: list[float]) -> None:
    rates = tuple(1 / value for value in values)
    (time,), (rate,) = (
        curve_estimate.points
        for curve_estimate in curve_estimates([curve(tuple(values), ()), curve(rates, (), rate=True)])
    )
    assert time.value.point * rate.value.point == pytest.approx(1.0)
    if time.value.low is not None and rate.value.high is not None:
        assert time.value.low * rate.value.high == pytest.approx(1.0)


def test_the_overhead_is_estimated_as_that_of_any_metric() -> None:
    log_ratios = (0.01, 0.05, -0.02, 0.03, 0.04, 0.02, 0.06)
    (curve_estimate,) = curve_estimates([curve((1.0,) * 7, log_ratios)])
    assert curve_estimate.points[0].overhead == as_fraction(estimate(Blocks(log_ratios, (0.0,) * 7)))


def test_values_at_the_end_of_the_floats_are_survived() -> None:
    largest = 1.7976931348623157e308
    (estimate,) = curve_estimates([curve((largest,) * 6, (800.0,) * 6)])
    (point,) = estimate.points
    assert math.isfinite(point.value.point)
    assert point.overhead is not None
    assert math.isfinite(point.overhead.point)


@pytest.mark.slow
def test_planted_ratios_are_within_nearly_all_intervals() -> None:
    analysis = curve_analysis(blocks=12)
    inside = []
    for curve_estimate in analysis.curves:
        name = curve_estimate.curve.environment
        for point in curve_estimate.points:
            if point.overhead is not None:
                assert point.overhead.low is not None
                assert point.overhead.high is not None
                inside.append(point.overhead.low <= true_ratio(name, point.x) - 1 <= point.overhead.high)
    assert len(inside) == 6 * 2 * 48
    assert sum(inside) / len(inside) > 0.93


def test_native_is_estimated_too_and_first() -> None:
    first = curve_analysis(blocks=12).curves[0]
    assert first.curve.environment == "native"
    for point in first.points:
        assert point.value.n == 12
        assert point.value.point == pytest.approx(native_time_s(point.x), rel=0.1)


def test_every_point_of_a_curve_has_its_estimate() -> None:
    whole = curve((1.0, 2.0), (0.1, 0.2))
    double = replace(whole, points=(whole.points[0], replace(whole.points[0], x=16.0)))
    (estimate,) = curve_estimates([double])
    assert estimate.curve is double
    assert [point.x for point in estimate.points] == [8.0, 16.0]
