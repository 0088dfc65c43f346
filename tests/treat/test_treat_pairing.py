# SPDX-License-Identifier: Apache-2.0
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.records import (
    Direction,
    Environment,
    Layout,
    Limits,
    Outcome,
    Sample,
    Status,
    Summary,
    Trial,
    TurnsTaken,
    Way,
    Workload,
)
from tare.treat import per_instance, summaries

NATIVE = Environment(name="native", technology="native")
DOCKER = Environment(name="docker", technology="docker")
NO_OP = Environment(name="no-op", technology="native")
PRIMARY = {"burn": ("wall_s",)}
LESS, MORE = Direction.LESS, Direction.MORE
TRIPLES = st.lists(st.tuples(*[st.floats(min_value=1e-6, max_value=1e6)] * 3), min_size=1, max_size=12)
Triples = list[tuple[float, float, float]]


def time(value: float, instance: int | None = None, name: str = "wall_s") -> Sample:
    return Sample(name=name, value=value, unit="s", direction=LESS, instance=instance)


def rate(value: float, instance: int | None = None) -> Sample:
    return Sample(name="rate", value=value, unit="1/s", direction=MORE, instance=instance)


def outcome(
    environment: Environment,
    block: int,
    samples: Sequence[Sample],
    *,
    replicate: int = 0,
    layout: str = "1c1p1i",
    status: Status = Status.OK,
) -> Outcome:
    trial = Trial(
        identity=f"b{block:03}-burn-{layout}-{environment.name}-{replicate}",
        block=block,
        slot=replicate,
        environment=environment,
        replicate=replicate,
        layout=Layout.parse(layout),
        workload=Workload(name="burn", kind="command"),
        limits=Limits(memory_byte=2**30, shm_byte=2**20),
    )
    return Outcome(
        trial=trial,
        status=status,
        reason=None if status is Status.OK else "planted",
        excerpt=None,
        started_utc="2025-01-01T00:00:00Z",
        elapsed_s=1.0,
        node_start_s=None,
        node_stop_s=None,
        barrier_skew_s=None,
        cpu_s=None,
        samples=tuple(samples),
        instances=(),
        image_digest="sha256:0",
    )


def block_of(block: int, first: Sample, second: Sample, other: Sample) -> list[Outcome]:
    return [
        outcome(NATIVE, block, [first]),
        outcome(NATIVE, block, [second], replicate=1),
        outcome(DOCKER, block, [other]),
    ]


def blocks_of(triples: Triples) -> list[Outcome]:
    return [each for number, triple in enumerate(triples) for each in block_of(number, *map(time, triple))]


def only(outcomes: Sequence[Outcome], primary_metrics: Mapping[str, tuple[str, ...]] = PRIMARY) -> Summary:
    (summary,) = summaries(outcomes, primary_metrics)
    return summary


def test_a_log_ratio_is_against_the_mean_logarithm_of_both_natives() -> None:
    summary = only(block_of(7, time(2.0), time(8.0), time(5.0)))
    assert summary.log_ratios == pytest.approx((math.log(5.0 / 4.0),))
    assert summary.control_log_ratios == pytest.approx((math.log(8.0 / 2.0),))
    assert (summary.blocks[0].block, summary.blocks[0].native) == (7, (2.0, 8.0))
    assert (summary.primary, summary.dropped_blocks) == (True, 0)


def test_a_lower_rate_is_slower() -> None:
    summary = only(block_of(0, rate(100.0), rate(100.0), rate(50.0)))
    assert summary.log_ratios == pytest.approx((math.log(2.0),))
    assert (summary.blocks[0].environment, summary.primary) == (50.0, False)


def test_native_under_another_name_is_an_environment() -> None:
    both = [outcome(NATIVE, 0, [time(1.0)], replicate=replicate) for replicate in (0, 1)]
    assert only([*both, outcome(NO_OP, 0, [time(1.0)])]).environment == "no-op"


def test_native_alone_gives_no_summary() -> None:
    assert summaries([outcome(NATIVE, 0, [time(1.0)], replicate=each) for each in (0, 1)], PRIMARY) == ()


@pytest.mark.parametrize("broken", [0, 1, 2])
@pytest.mark.parametrize("status", [Status.FAILED, Status.INVALID])
def test_a_block_with_a_failed_or_invalid_trial_is_dropped_whole_and_counted(
    broken: int, status: Status
) -> None:
    first, second = blocks_of([(1.0, 1.0, 1.0)]), block_of(1, time(2.0), time(2.0), time(3.0))
    first[broken] = replace(first[broken], status=status)
    summary = only(first + second)
    assert [block.block for block in summary.blocks] == [1]
    assert summary.dropped_blocks == 1


@pytest.mark.parametrize("absent", [0, 1, 2])
def test_a_block_cut_short_is_dropped_and_counted(absent: int) -> None:
    cut = block_of(1, time(1.0), time(1.0), time(1.0))
    del cut[absent]
    summary = only(blocks_of([(1.0, 1.0, 1.0)]) + cut)
    assert ([block.block for block in summary.blocks], summary.dropped_blocks) == ([0], 1)


@pytest.mark.parametrize("value", [0.0, -1.0, 5e-324, 1e308, math.nan, math.inf])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_unusable_value_drops_the_block_of_its_own_metric_only(value: float, place: int) -> None:
    values = [1.0, 1.0, 1.0]
    values[place] = value
    outcomes = [
        replace(each, samples=(time(1.0), time(bad, name="latency_s")))
        for each, bad in zip(blocks_of([(1.0, 1.0, 1.0)]), values, strict=True)
    ]
    counts = {each.metric: (len(each.blocks), each.dropped_blocks) for each in summaries(outcomes, PRIMARY)}
    assert counts == {"wall_s": (1, 0), "latency_s": (0, 1)}


def test_an_environment_that_always_fails_keeps_a_summary_without_blocks() -> None:
    outcomes = blocks_of([(1.0, 1.0, 1.0)] * 3)
    failed = [
        replace(each, status=Status.FAILED, samples=()) if each.trial.environment == DOCKER else each
        for each in outcomes
    ]
    summary = only(failed)
    assert (summary.environment, summary.blocks, summary.dropped_blocks) == ("docker", (), 3)


def test_one_environment_failing_costs_the_others_no_block() -> None:
    outcomes = blocks_of([(1.0, 1.0, 1.0)] * 3)
    outcomes += [outcome(NO_OP, block, [], status=Status.FAILED) for block in range(2)]
    outcomes += [outcome(NO_OP, 2, [time(1.0)])]
    counts = {each.environment: (len(each.blocks), each.dropped_blocks) for each in summaries(outcomes, {})}
    assert counts == {"docker": (3, 0), "no-op": (1, 2)}


def test_the_primary_metric_comes_first_and_the_rest_in_the_workloads_own_order() -> None:
    samples = [time(1.0, name=name) for name in ("zeta_s", "alpha_s", "wall_s")]
    outcomes = [replace(each, samples=tuple(samples)) for each in blocks_of([(1.0, 1.0, 1.0)])]
    assert [each.metric for each in summaries(outcomes, PRIMARY)] == ["wall_s", "zeta_s", "alpha_s"]


def test_a_metric_whose_unit_changed_is_never_compared_across_units() -> None:
    outcomes = block_of(0, time(1.0), time(1.0), replace(time(1000.0), unit="ms"))
    assert [(each.unit, each.blocks) for each in summaries(outcomes, {})] == [("s", ()), ("ms", ())]


def test_layouts_are_cells_of_their_own() -> None:
    outcomes = blocks_of([(1.0, 1.0, 1.0)])
    other = [
        outcome(each.trial.environment, 0, [time(4.0)], replicate=each.trial.replicate, layout="1c2p1i")
        for each in outcomes
    ]
    result = summaries(outcomes + other, PRIMARY)
    assert [(each.cell.layout, each.blocks[0].environment) for each in result] == [
        ("1c1p1i", 1.0),
        ("1c2p1i", 4.0),
    ]


def test_a_trial_that_stands_twice_is_refused_by_name() -> None:
    outcomes = blocks_of([(1.0, 1.0, 1.0)])
    with pytest.raises(ValueError, match=r"more than one outcome.*b000-burn-1c1p1i-docker-0"):
        summaries([*outcomes, outcomes[-1]], PRIMARY)


def test_two_identities_in_one_place_of_a_block_are_refused() -> None:
    outcomes = blocks_of([(1.0, 1.0, 1.0)])
    twin = replace(outcomes[-1], trial=replace(outcomes[-1].trial, identity="another"))
    with pytest.raises(ValueError, match=r"more than one outcome.*block 0, burn, 1c1p1i, docker"):
        summaries([*outcomes, twin], PRIMARY)


def two_instances(environment: Environment, replicate: int, times: tuple[float, float]) -> Outcome:
    samples = [time(value, instance) for instance, value in enumerate(times)]
    rates = [rate(1 / value, instance) for instance, value in enumerate(times)]
    return outcome(environment, 0, samples + rates, replicate=replicate, layout="1c2p2i")


def test_instances_are_joined_before_environments_are_compared() -> None:
    outcomes = [
        two_instances(NATIVE, 0, (1.0, 2.0)),
        two_instances(NATIVE, 1, (2.0, 1.0)),
        two_instances(DOCKER, 0, (4.0, 4.0)),
    ]
    result = {each.metric: each for each in summaries(outcomes, PRIMARY)}
    assert result["wall_s"].log_ratios == pytest.approx((math.log(2.0),))
    assert result["rate"].log_ratios == pytest.approx((math.log(1.5 / 0.5),))


def test_each_instance_keeps_its_own_figures() -> None:
    outcomes = [two_instances(NATIVE, 0, (1.0, 4.0)), two_instances(NATIVE, 1, (3.0, math.nan))]
    figures = {(each.metric, each.instance): each for each in per_instance(outcomes)}
    first, second = figures["wall_s", 0], figures["wall_s", 1]
    assert (first.median, first.minimum, first.maximum, first.n) == (2.0, 1.0, 3.0, 2)
    assert (second.median, second.n, second.environment) == (4.0, 1, "native")
    assert figures["rate", 0].median == pytest.approx(1 / 2.0)


def test_one_instance_and_failed_trials_give_no_figures_per_instance() -> None:
    failed = replace(two_instances(DOCKER, 0, (1.0, 2.0)), status=Status.FAILED)
    assert per_instance([outcome(NATIVE, 0, [time(1.0, 0)]), failed]) == ()


@given(TRIPLES, st.randoms(use_true_random=False))
def test_the_order_of_outcomes_is_irrelevant(triples: Triples, shuffler: random.Random) -> None:
    outcomes = blocks_of(triples)
    shuffled = list(outcomes)
    shuffler.shuffle(shuffled)
    assert summaries(shuffled, PRIMARY) == summaries(outcomes, PRIMARY)


@given(TRIPLES, st.floats(min_value=1e-3, max_value=1e9))
def test_the_unit_of_measurement_is_irrelevant(triples: Triples, factor: float) -> None:
    scaled = [(a * factor, b * factor, c * factor) for a, b, c in triples]
    plain, other = only(blocks_of(triples)), only(blocks_of(scaled))
    assert other.log_ratios == pytest.approx(plain.log_ratios, abs=1e-9)
    assert other.control_log_ratios == pytest.approx(plain.control_log_ratios, abs=1e-9)


@given(TRIPLES)
def test_a_rate_and_its_reciprocal_time_have_the_same_log_ratios(triples: Triples) -> None:
    as_rates = [
        each
        for number, triple in enumerate(triples)
        for each in block_of(number, *(rate(1 / value) for value in triple))
    ]
    assert only(as_rates).log_ratios == pytest.approx(only(blocks_of(triples)).log_ratios, abs=1e-9)


@given(TRIPLES)
def test_swapping_the_arms_negates_the_log_ratios(triples: Triples) -> None:
    forward = only(blocks_of([(native, native, other) for native, _, other in triples]))
    backward = only(blocks_of([(other, other, native) for native, _, other in triples]))
    assert backward.log_ratios == pytest.approx([-value for value in forward.log_ratios], abs=1e-9)


@given(st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=12))
def test_each_begun_block_is_either_used_or_counted_as_dropped(presence: list[list[bool]]) -> None:
    outcomes = [
        each
        for number, flags in enumerate(presence)
        for each, present in zip(block_of(number, time(1.0), time(1.0), time(1.0)), flags, strict=True)
        if present
    ]
    begun = sum(any(flags) for flags in presence)
    for summary in summaries(outcomes, PRIMARY):
        assert len(summary.blocks) == sum(all(flags) for flags in presence)
        assert len(summary.blocks) + summary.dropped_blocks == begun


def by_turns(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The same, as if their commands had been frozen between their turns."""
    turns = TurnsTaken(way=Way.FREEZER, together="a", arms=3, turns=1)
    return [
        replace(
            each,
            turns=turns,
            samples=tuple(replace(sample, round=0, process=0) for sample in each.samples),
        )
        for each in outcomes
    ]


@pytest.mark.parametrize("turned_first", [True, False])
def test_blocks_by_turns_and_blocks_of_whole_runs_are_never_summed_up_together(*, turned_first: bool) -> None:
    early = block_of(0, time(1.0), time(1.0), time(2.0))
    late = block_of(1, time(1.0), time(1.0), time(3.0)) + block_of(2, time(1.0), time(1.0), time(4.0))
    mixed = [*by_turns(early), *late] if turned_first else [*early, *by_turns(late)]
    summary = only(mixed)
    assert [block.block for block in summary.blocks] == [1, 2], "the way of most trials is the result's"
    assert summary.log_ratios == pytest.approx([math.log(3.0), math.log(4.0)])
    assert summary.dropped_blocks == 1


def test_of_as_many_trials_in_either_way_the_earlier_ones_count() -> None:
    early, late = (block_of(number, time(1.0), time(1.0), time(2.0)) for number in range(2))
    assert [block.block for block in only([*early, *by_turns(late)]).blocks] == [0]
    assert [block.block for block in only([*by_turns(early), *late]).blocks] == [0]


def test_a_failed_trial_does_not_say_in_which_way_its_cell_is_measured() -> None:
    lost = [replace(each, status=Status.FAILED, turns=None) for each in block_of(0, *[time(1.0)] * 3)]
    summary = only([*lost, *by_turns(block_of(1, time(1.0), time(1.0), time(2.0)))])
    assert [block.block for block in summary.blocks] == [1]
