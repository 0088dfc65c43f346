# SPDX-License-Identifier: Apache-2.0
import math
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.curve_example import curve_analysis, native_time_s, true_ratio
from tests.report.report_example import example

from tare.records import Coordinate, Curve, Dimension, Direction, Layout, Outcome, Sample, Status
from tare.treat import curves, per_instance, summaries

SIZES = (1, 1024, 1 << 20)
LATENCY, BANDWIDTH = "latency_s", "bandwidth_byte_per_s"
POSITIVE = st.floats(1e-6, 1e6)
TRIPLES = st.lists(st.tuples(POSITIVE, POSITIVE, POSITIVE), min_size=1, max_size=6)


def outcomes(*environments: str) -> list[Outcome]:
    """Three blocks of trials without noise."""
    names = environments or ("gvisor",)
    return list(curve_analysis(blocks=3, environments=names, sizes=SIZES, variation=0.0).outcomes)


def curve(outcomes: Iterable[Outcome], environment: str = "gvisor", metric: str = LATENCY) -> Curve:
    (value,) = [
        item for item in curves(list(outcomes)) if (item.environment, item.metric) == (environment, metric)
    ]
    return value


def changed(
    outcomes: list[Outcome], environment: str, change: Callable[[Outcome], Outcome], block: int = 2
) -> list[Outcome]:
    """With one trial of that environment changed, of native its second slot."""
    *_, chosen = (
        outcome
        for outcome in outcomes
        if (outcome.trial.block, outcome.trial.environment.name) == (block, environment)
    )
    return [change(outcome) if outcome is chosen else outcome for outcome in outcomes]


def place_of(sample: Sample) -> float | None:
    return sample.coordinates[0].value if sample.coordinates else None


def placed(sample: Sample, place: float, unit: str = "B") -> Sample:
    return replace(sample, coordinates=(Coordinate("size", place, unit),))


def at_1024(change: Callable[[Sample], tuple[Sample, ...]]) -> Callable[[Outcome], Outcome]:
    def of(outcome: Outcome) -> Outcome:
        samples = (change(sample) if place_of(sample) == 1024 else (sample,) for sample in outcome.samples)
        return replace(outcome, samples=tuple(sample for ones in samples for sample in ones))

    return of


def blocks(curve: Curve) -> dict[float, tuple[int, ...]]:
    return {point.at[0]: point.blocks for point in curve.points}


def test_every_environment_and_native_have_a_curve_of_each_metric() -> None:
    result = curves(outcomes("docker", "gvisor"))
    assert [(item.metric, item.environment) for item in result] == [
        (metric, name) for metric in (LATENCY, BANDWIDTH) for name in ("native", "docker", "gvisor")
    ]
    assert {item.dimensions for item in result} == {(Dimension("size", "B"),)}


def test_a_point_holds_what_was_measured_and_the_planted_ratio() -> None:
    for point in curve(outcomes()).points:
        truth = true_ratio("gvisor", point.at[0])
        assert point.blocks == (1, 2, 3)
        assert point.values == pytest.approx([native_time_s(point.at[0]) * truth] * 3)
        assert point.log_ratios == pytest.approx([math.log(truth)] * 3)


def test_a_rate_has_the_same_ratio_as_its_time() -> None:
    result = outcomes()
    for time, rate in zip(curve(result).points, curve(result, metric=BANDWIDTH).points, strict=True):
        assert time.log_ratios == pytest.approx(rate.log_ratios)


def test_points_rise_whatever_the_order_of_samples_and_outcomes() -> None:
    result = outcomes("docker", "gvisor")
    shuffled = [replace(outcome, samples=tuple(reversed(outcome.samples))) for outcome in reversed(result)]
    assert [point.at[0] for point in curve(shuffled).points] == list(map(float, SIZES))
    assert curve(shuffled) == curve(result)


def planted(triples: list[tuple[float, float, float]]) -> list[Outcome]:
    """Blocks of two natives and docker, each with its value as a figure and as the one point of a curve."""
    collected = []
    for outcome in example(blocks=len(triples), environments=("docker",), losing=False).outcomes:
        place = 2 if outcome.trial.environment.name == "docker" else outcome.trial.replicate
        figure = Sample(
            name="figure", value=triples[outcome.trial.block - 1][place], unit="s", direction=Direction.LESS
        )
        point = placed(replace(figure, name="place"), 7.0)
        collected.append(replace(outcome, samples=(figure, point)))
    return collected


@given(TRIPLES)
def test_a_place_is_paired_like_a_single_figure(triples: list[tuple[float, float, float]]) -> None:
    result = planted(triples)
    (summary,) = summaries(result, {})
    (point,) = curve(result, "docker", "place").points
    assert summary.metric == "figure"
    assert point.log_ratios == summary.log_ratios
    assert point.values == tuple(block.environment for block in summary.blocks)
    (native,) = curve(result, "native", "place").points
    assert native.values == pytest.approx([math.sqrt(first * second) for first, second, _ in triples])
    assert native.log_ratios == ()


def test_curves_and_single_figures_never_mix() -> None:
    result = outcomes()
    assert {summary.metric for summary in summaries(result, {})} == {"small_latency_s"}
    assert {item.metric for item in curves(result)} == {LATENCY, BANDWIDTH}
    several = [
        replace(
            outcome,
            trial=replace(outcome.trial, layout=Layout.parse("1c2p2i")),
            samples=tuple(replace(each, instance=number) for number in (0, 1) for each in outcome.samples),
        )
        for outcome in result
    ]
    assert {instance_figure.metric for instance_figure in per_instance(several)} == {"small_latency_s"}


@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan])
def test_an_unusable_value_costs_its_block_at_its_place_alone(value: float) -> None:
    result = changed(
        outcomes("docker", "gvisor"), "docker", at_1024(lambda sample: (replace(sample, value=value),))
    )
    assert blocks(curve(result, "docker")) == {1: (1, 2, 3), 1024: (1, 3), 1 << 20: (1, 2, 3)}
    for unharmed in ("gvisor", "native"):
        assert set(blocks(curve(result, unharmed)).values()) == {(1, 2, 3)}


def test_a_missing_native_value_costs_every_environment_the_block_at_that_place() -> None:
    result = changed(outcomes("docker", "gvisor"), "native", at_1024(lambda _: ()))
    for name in ("native", "docker", "gvisor"):
        assert blocks(curve(result, name)) == {1: (1, 2, 3), 1024: (1, 3), 1 << 20: (1, 2, 3)}


def test_a_place_that_stands_twice_in_a_trial_does_not_count() -> None:
    result = changed(outcomes(), "gvisor", at_1024(lambda sample: (sample, sample)))
    assert blocks(curve(result))[1024] == (1, 3)


@pytest.mark.parametrize("status", [Status.FAILED, Status.INVALID])
def test_only_good_trials_count(status: Status) -> None:
    result = changed(outcomes(), "gvisor", lambda outcome: replace(outcome, status=status))
    assert set(blocks(curve(result)).values()) == {(1, 3)}


def test_a_curve_without_a_complete_block_is_left_out() -> None:
    result = [
        outcome for outcome in outcomes("docker", "gvisor") if outcome.trial.environment.name != "docker"
    ]
    assert {item.environment for item in curves(result)} == {"native", "gvisor"}
    assert curves([outcome for outcome in result if outcome.trial.replicate == 0]) == ()


@pytest.mark.parametrize("place", [-8.0, math.inf, math.nan])
def test_a_place_that_no_axis_can_show_is_left_out(place: float) -> None:
    result = [at_1024(lambda sample: (placed(sample, place),))(outcome) for outcome in outcomes()]
    assert list(blocks(curve(result))) == [1, 1 << 20]


def test_of_several_instances_the_slowest_time_counts_and_rates_add_up() -> None:
    texts = [
        replace(
            outcome,
            trial=replace(outcome.trial, layout=Layout.parse("1c4p2i")),
            samples=tuple(
                replace(each, instance=number, value=each.value * (1 + number))
                for number in (0, 1)
                for each in outcome.samples
            ),
        )
        for outcome in outcomes()
    ]
    alone = outcomes()
    for joined, single, factor in (
        (curve(texts), curve(alone), 2),
        (curve(texts, metric=BANDWIDTH), curve(alone, metric=BANDWIDTH), 3),
    ):
        for curve_point, other in zip(joined.points, single.points, strict=True):
            assert curve_point.values == pytest.approx([factor * value for value in other.values])


def test_a_message_of_no_bytes_has_its_place() -> None:
    result = [at_1024(lambda sample: (placed(sample, 0.0),))(outcome) for outcome in outcomes()]
    assert list(blocks(curve(result))) == [0, 1, 1 << 20]


def test_two_coordinates_make_a_surface_with_each_place_in_order() -> None:
    result = [
        replace(
            outcome,
            samples=tuple(
                replace(each, coordinates=(*each.coordinates, Coordinate("ranks", ranks, None)))
                for ranks in (4, 2)
                for each in outcome.samples
                if each.coordinates
            ),
        )
        for outcome in outcomes()
    ]
    surface = curve(result)
    assert surface.dimensions == (Dimension("size", "B"), Dimension("ranks", None))
    assert [point.at for point in surface.points] == [(size, ranks) for size in SIZES for ranks in (2, 4)]
    flat = curve(outcomes())
    assert surface.points[0].log_ratios == flat.points[0].log_ratios


def test_another_unit_of_a_place_is_another_curve() -> None:
    result = changed(outcomes(), "gvisor", at_1024(lambda sample: (placed(sample, 1024, "KiB"),)))
    assert blocks(curve(result))[1024] == (1, 3)


def test_a_trial_that_stands_twice_is_refused() -> None:
    result = outcomes()
    with pytest.raises(ValueError, match="more than one outcome of one trial"):
        curves([*result, result[0]])
