# SPDX-License-Identifier: Apache-2.0


import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.curve_example import curve_analysis, native_time_s, true_ratio

from tare.analyze import controls, curve_estimates, overhead
from tare.records import CONTROL_NAME, BlockValue, Cell, Curve, CurvePoint, Dimension, Direction, Summary
from tare.statistics.contrasts import Blocks, estimate
from tare.statistics.estimate import as_fraction

LESS, MORE = Direction.LESS, Direction.MORE
TIMES = st.lists(st.tuples(*[st.floats(min_value=1e-6, max_value=1e6)] * 3), min_size=1, max_size=15)


def summary_of(
    triples: Sequence[tuple[float, float, float]], direction: Direction = LESS, environment: str = "docker"
) -> Summary:
    """Blocks of (native, native, environment) as times, kept as rates for ``MORE``."""
    sign = 1 if direction is LESS else -1
    return Summary(
        cell=Cell(workload="burn", layout="1c1p1i"),
        environment=environment,
        metric="wall_s",
        unit="s",
        direction=direction,
        primary=True,
        blocks=tuple(
            BlockValue(block=block, native=(first**sign, second**sign), environment=other**sign)
            for block, (first, second, other) in enumerate(triples)
        ),
        log_ratios=tuple(
            math.log(other) - (math.log(first) + math.log(second)) / 2 for first, second, other in triples
        ),
        control_log_ratios=tuple(math.log(second) - math.log(first) for first, second, _ in triples),
        dropped_blocks=0,
    )


def test_an_environment_twice_as_slow_has_an_overhead_of_one() -> None:
    result = overhead(summary_of([(1.0, 1.0, 2.0)] * 6))
    assert (result.typical.point, result.typical.low, result.typical.high) == pytest.approx((1.0, 1.0, 1.0))
    assert (result.mean.point, result.mean.low, result.mean.high) == pytest.approx((1.0, 1.0, 1.0))
    assert (result.noise_floor.low, result.noise_floor.high) == (0.0, 0.0)
    assert not result.tail_cost


def test_a_summary_without_blocks_is_refused() -> None:
    with pytest.raises(ValueError, match=r"docker, wall_s: no complete block"):
        overhead(summary_of([]))


@pytest.mark.parametrize("n", [1, 2, 5])
def test_too_few_blocks_have_a_point_and_no_typical_bounds(n: int) -> None:
    result = overhead(summary_of([(1.0, 1.0, 1.1)] * n))
    assert (result.typical.low, result.typical.high, result.typical.n) == (None, None, n)
    assert result.typical.point == pytest.approx(0.1)
    assert not result.tail_cost


def test_spikes_are_runs_beyond_1_2_times_their_own_arms_median() -> None:
    result = overhead(summary_of([(1.0, 1.0, 2.0)] * 7 + [(1.0, 1.3, 2.5), (1.0, 1.19, 2.39)]))
    assert result.spike_rate == pytest.approx(1 / 9)
    assert result.native_spike_rate == pytest.approx(1 / 18)


def test_a_dip_of_a_rate_is_a_spike_and_a_jump_is_not() -> None:
    dip = overhead(summary_of([(1.0, 1.0, 1.0)] * 8 + [(1.0, 1.0, 1.5)], MORE))
    jump = overhead(summary_of([(1.0, 1.0, 1.0)] * 8 + [(1.0, 1.0, 1 / 1.5)], MORE))
    assert (dip.spike_rate, jump.spike_rate) == pytest.approx((1 / 9, 0.0))


@pytest.mark.parametrize(("spike", "flagged"), [(1.13, False), (1.27, True)])
def test_the_tail_flag_rises_where_mean_and_typical_differ_by_half_the_interval(
    spike: float, flagged: bool
) -> None:
    quiet = [(1.0, 1.0, 1.05 + 0.002 * (7 * step % 24)) for step in range(24)]
    result = overhead(summary_of([*quiet[:12], (1.0, 1.0, spike), *quiet[12:], (1.0, 1.0, spike)]))
    assert result.typical.low is not None
    assert result.typical.high is not None
    half_width = (result.typical.high - result.typical.low) / 2
    assert result.tail_cost == (result.mean.point - result.typical.point > half_width) == flagged


def test_rounding_alone_never_raises_the_tail_flag() -> None:
    for step in range(1, 200):
        assert not overhead(summary_of([(1.0, 1.0, 1 + 0.001 * step)] * 7)).tail_cost


def test_the_native_median_is_in_the_metrics_own_unit() -> None:
    triples = [(2.0, 4.0, 1.0), (4.0, 5.0, 1.0), (4.0, 8.0, 1.0)]
    assert overhead(summary_of(triples)).native_median == pytest.approx(4.0)
    assert overhead(summary_of(triples, MORE)).native_median == pytest.approx(1 / 4.0)


def test_values_at_the_ends_of_floating_point_do_not_crash() -> None:
    result = overhead(summary_of([(1e-300, 1e-300, 1e300), (1e300, 1e-300, 1e-300)] * 3))
    assert math.isfinite(result.typical.point)
    assert math.isfinite(result.mean.point)


def test_the_control_is_the_second_native_slot_against_the_first() -> None:
    summary = summary_of([(1.0, 1.1, 9.0)] * 6)
    (control,) = controls([summary])
    assert control.summary.environment == CONTROL_NAME == "native again"
    assert control.typical.point == pytest.approx(0.1)
    assert control.typical == control.noise_floor == overhead(summary).noise_floor
    assert [block.environment for block in control.summary.blocks] == [1.1] * 6


def test_there_is_one_control_per_cell_and_metric_from_all_blocks_of_any_environment() -> None:
    whole = summary_of([(1.0, 1.0 + 0.1 * block, 1.0) for block in range(8)])
    early = replace(cut(whole, 0, 5), environment="lxc")
    late = replace(cut(whole, 3, 7), environment="nspawn")
    other_metric = replace(whole, metric="cpu_s")
    rows = controls([early, late, other_metric])
    assert [(row.summary.metric, row.typical.n) for row in rows] == [("wall_s", 7), ("cpu_s", 8)]
    assert rows[0].summary.log_ratios == whole.control_log_ratios[:7]
    assert [row.summary.dropped_blocks for row in rows] == [1, 0]


def test_a_metric_without_any_complete_block_has_no_control() -> None:
    assert controls([replace(summary_of([]), dropped_blocks=4)]) == ()


def cut(summary: Summary, start: int, stop: int) -> Summary:
    kept = slice(start, stop)
    return replace(
        summary,
        blocks=summary.blocks[kept],
        log_ratios=summary.log_ratios[kept],
        control_log_ratios=summary.control_log_ratios[kept],
        dropped_blocks=len(summary.blocks) - (stop - start),
    )


@given(TIMES)
def test_rates_and_their_reciprocal_times_have_one_overhead(
    triples: list[tuple[float, float, float]],
) -> None:
    times, rates = overhead(summary_of(triples)), overhead(summary_of(triples, MORE))
    assert rates.typical == times.typical
    assert rates.native_median == pytest.approx(1 / times.native_median)


@given(TIMES)
def test_the_control_is_part_of_no_overhead_but_its_own(triples: list[tuple[float, float, float]]) -> None:
    (control,) = controls([summary_of(triples)])
    assert control.typical == overhead(summary_of(triples)).noise_floor
    assert 0 <= control.spike_rate <= 1


VALUES = st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=12)


def curve(values: tuple[float, ...], log_ratios: tuple[float, ...], *, rate: bool = False) -> Curve:
    return Curve(
        cell=Cell(workload="w", layout="1c2p1i"),
        environment="docker" if log_ratios else "native",
        metric="m",
        unit="B/s" if rate else "s",
        direction=Direction.MORE if rate else Direction.LESS,
        dimensions=(Dimension("size", "B"),),
        points=(
            CurvePoint(
                at=(8.0,),
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
    assert point.at == (8.0,)
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
                inside.append(point.overhead.low <= true_ratio(name, point.at[0]) - 1 <= point.overhead.high)
    assert len(inside) == 6 * 2 * 48
    assert sum(inside) / len(inside) > 0.93


def test_native_is_estimated_too_and_first() -> None:
    first = curve_analysis(blocks=12).curves[0]
    assert first.curve.environment == "native"
    for point in first.points:
        assert point.value.n == 12
        assert point.value.point == pytest.approx(native_time_s(point.at[0]), rel=0.1)


def test_every_point_of_a_curve_has_its_estimate() -> None:
    whole = curve((1.0, 2.0), (0.1, 0.2))
    double = replace(whole, points=(whole.points[0], replace(whole.points[0], at=(16.0,))))
    (estimate,) = curve_estimates([double])
    assert estimate.curve is double
    assert [point.at for point in estimate.points] == [(8.0,), (16.0,)]
