# SPDX-License-Identifier: Apache-2.0
import math
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.curve_example import curve_analysis, native_time_s, true_ratio
from tests.report.report_example import example

from tare.records import Curve, Direction, Layout, Outcome, Sample, Status
from tare.treat import curves, per_instance, summaries

SIZES = (1, 1024, 1 << 20)
LATENCY, BANDWIDTH = "latency_s", "bandwidth_byte_per_s"
POSITIVE = st.floats(1e-6, 1e6)
TRIPLES = st.lists(st.tuples(POSITIVE, POSITIVE, POSITIVE), min_size=1, max_size=6)


def outcomes(*environments: str) -> list[Outcome]:
    """Three blocks of trials without noise."""
    names = environments or ("gvisor",)
    return list(curve_analysis(blocks=3, environments=names, sizes=SIZES, variation=0.0).outcomes)


def curve(found: Iterable[Outcome], environment: str = "gvisor", metric: str = LATENCY) -> Curve:
    (one,) = [one for one in curves(list(found)) if (one.environment, one.metric) == (environment, metric)]
    return one


def changed(
    found: list[Outcome], environment: str, change: Callable[[Outcome], Outcome], block: int = 2
) -> list[Outcome]:
    """With one trial of that environment changed, of native its second slot."""
    *_, chosen = (
        one for one in found if (one.trial.block, one.trial.environment.name) == (block, environment)
    )
    return [change(one) if one is chosen else one for one in found]


def at_1024(change: Callable[[Sample], tuple[Sample, ...]]) -> Callable[[Outcome], Outcome]:
    def of(outcome: Outcome) -> Outcome:
        samples = (change(one) if one.x == 1024 else (one,) for one in outcome.samples)
        return replace(outcome, samples=tuple(one for ones in samples for one in ones))

    return of


def blocks(found: Curve) -> dict[float, tuple[int, ...]]:
    return {point.x: point.blocks for point in found.points}


def test_every_environment_and_native_have_a_curve_of_each_metric() -> None:
    found = curves(outcomes("docker", "gvisor"))
    assert [(one.metric, one.environment) for one in found] == [
        (metric, name) for metric in (LATENCY, BANDWIDTH) for name in ("native", "docker", "gvisor")
    ]
    assert {one.x_unit for one in found} == {"B"}


def test_a_point_holds_what_was_measured_and_the_planted_ratio() -> None:
    for point in curve(outcomes()).points:
        truth = true_ratio("gvisor", point.x)
        assert point.blocks == (1, 2, 3)
        assert point.values == pytest.approx([native_time_s(point.x) * truth] * 3)
        assert point.log_ratios == pytest.approx([math.log(truth)] * 3)


def test_a_rate_has_the_same_ratio_as_its_time() -> None:
    found = outcomes()
    for time, rate in zip(curve(found).points, curve(found, metric=BANDWIDTH).points, strict=True):
        assert time.log_ratios == pytest.approx(rate.log_ratios)


def test_points_rise_whatever_the_order_of_samples_and_outcomes() -> None:
    found = outcomes("docker", "gvisor")
    shuffled = [replace(one, samples=tuple(reversed(one.samples))) for one in reversed(found)]
    assert [point.x for point in curve(shuffled).points] == list(map(float, SIZES))
    assert curve(shuffled) == curve(found)


def planted(triples: list[tuple[float, float, float]]) -> list[Outcome]:
    """Blocks of two natives and docker, each with its value as a figure and as the one point of a curve."""
    found = []
    for one in example(blocks=len(triples), environments=("docker",), losing=False).outcomes:
        place = 2 if one.trial.environment.name == "docker" else one.trial.replicate
        figure = Sample(
            name="figure", value=triples[one.trial.block - 1][place], unit="s", direction=Direction.LESS
        )
        point = replace(figure, name="place", x=7.0, x_unit="B")
        found.append(replace(one, samples=(figure, point)))
    return found


@given(TRIPLES)
def test_a_place_is_paired_like_a_single_figure(triples: list[tuple[float, float, float]]) -> None:
    found = planted(triples)
    (summary,) = summaries(found, {})
    (point,) = curve(found, "docker", "place").points
    assert summary.metric == "figure"
    assert point.log_ratios == summary.log_ratios
    assert point.values == tuple(block.environment for block in summary.blocks)
    (native,) = curve(found, "native", "place").points
    assert native.values == pytest.approx([math.sqrt(first * second) for first, second, _ in triples])
    assert native.log_ratios == ()


def test_curves_and_single_figures_never_mix() -> None:
    found = outcomes()
    assert {one.metric for one in summaries(found, {})} == {"small_latency_s"}
    assert {one.metric for one in curves(found)} == {LATENCY, BANDWIDTH}
    several = [
        replace(
            one,
            trial=replace(one.trial, layout=Layout.parse("1c2p2i")),
            samples=tuple(replace(each, instance=number) for number in (0, 1) for each in one.samples),
        )
        for one in found
    ]
    assert {one.metric for one in per_instance(several)} == {"small_latency_s"}


@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan])
def test_an_unusable_value_costs_its_block_at_its_place_alone(value: float) -> None:
    found = changed(outcomes("docker", "gvisor"), "docker", at_1024(lambda one: (replace(one, value=value),)))
    assert blocks(curve(found, "docker")) == {1: (1, 2, 3), 1024: (1, 3), 1 << 20: (1, 2, 3)}
    for unharmed in ("gvisor", "native"):
        assert set(blocks(curve(found, unharmed)).values()) == {(1, 2, 3)}


def test_a_missing_native_value_costs_every_environment_the_block_at_that_place() -> None:
    found = changed(outcomes("docker", "gvisor"), "native", at_1024(lambda _: ()))
    for name in ("native", "docker", "gvisor"):
        assert blocks(curve(found, name)) == {1: (1, 2, 3), 1024: (1, 3), 1 << 20: (1, 2, 3)}


def test_a_place_that_stands_twice_in_a_trial_does_not_count() -> None:
    found = changed(outcomes(), "gvisor", at_1024(lambda one: (one, one)))
    assert blocks(curve(found))[1024] == (1, 3)


@pytest.mark.parametrize("status", [Status.FAILED, Status.INVALID])
def test_only_good_trials_count(status: Status) -> None:
    found = changed(outcomes(), "gvisor", lambda one: replace(one, status=status))
    assert set(blocks(curve(found)).values()) == {(1, 3)}


def test_a_curve_without_a_complete_block_is_left_out() -> None:
    found = [one for one in outcomes("docker", "gvisor") if one.trial.environment.name != "docker"]
    assert {one.environment for one in curves(found)} == {"native", "gvisor"}
    assert curves([one for one in found if one.trial.replicate == 0]) == ()


@pytest.mark.parametrize("place", [0.0, -8.0, math.inf, math.nan])
def test_a_place_that_no_axis_can_show_is_left_out(place: float) -> None:
    found = [at_1024(lambda sample: (replace(sample, x=place),))(one) for one in outcomes()]
    assert list(blocks(curve(found))) == [1, 1 << 20]


def test_of_several_instances_the_slowest_time_counts_and_rates_add_up() -> None:
    found = [
        replace(
            one,
            trial=replace(one.trial, layout=Layout.parse("1c4p2i")),
            samples=tuple(
                replace(each, instance=number, value=each.value * (1 + number))
                for number in (0, 1)
                for each in one.samples
            ),
        )
        for one in outcomes()
    ]
    alone = outcomes()
    for joined, single, factor in (
        (curve(found), curve(alone), 2),
        (curve(found, metric=BANDWIDTH), curve(alone, metric=BANDWIDTH), 3),
    ):
        for one, other in zip(joined.points, single.points, strict=True):
            assert one.values == pytest.approx([factor * value for value in other.values])


def test_another_unit_of_x_is_another_curve() -> None:
    found = changed(outcomes(), "gvisor", at_1024(lambda one: (replace(one, x_unit="KiB"),)))
    assert blocks(curve(found))[1024] == (1, 3)


def test_a_trial_that_stands_twice_is_refused() -> None:
    found = outcomes()
    with pytest.raises(ValueError, match="more than one outcome of one trial"):
        curves([*found, found[0]])
