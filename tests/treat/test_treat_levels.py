# SPDX-License-Identifier: Apache-2.0


import math
import statistics
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.report_example import Figure, example
from tests.series_example import LAYOUT, ordered, outcome, trial

from tare.records import NATIVE, Direction, Ordering, Outcome, Sample, Status, Summary
from tare.treat import compared, iteration_series, levels, summaries, wait_summaries
from tare.treat.aggregate import over_iterations, whole_trial

FIGURES = (Figure("work_s", 2.0, "s", Direction.LESS, 0.01, (0.1, 0.2)),)
PRIMARY = {"hpcc": "work_s"}


def outcomes(iterations: int = 1) -> list[Outcome]:
    given = example(blocks=4, environments=("docker", "lxc"), figures=FIGURES, losing=False).outcomes
    return [replace(outcome, samples=tuple(_repeated(outcome, iterations))) for outcome in given]


def _repeated(outcome: Outcome, iterations: int) -> list[Sample]:
    (sample,) = outcome.samples
    if iterations == 1:
        return [sample]
    return [replace(sample, iteration=number, value=sample.value + number) for number in range(iterations)]


def test_each_start_keeps_its_iterations_in_order_but_the_first_which_is_cold() -> None:
    docker = levels(outcomes(4), PRIMARY)[0]
    assert docker.environment == "docker"
    for block in docker.blocks:
        for start in (*block.native, block.environment):
            first = math.exp(start.log_times[0])
            assert [math.exp(time) for time in start.log_times] == pytest.approx(
                [first, first + 1, first + 2]
            )


def test_a_single_run_is_one_iteration() -> None:
    docker = levels(outcomes(), PRIMARY)[0]
    assert {len(block.environment.log_times) for block in docker.blocks} == {1}


def test_costs_are_those_of_starts_and_of_what_is_left() -> None:
    docker = levels(outcomes(3), PRIMARY)[0]
    assert docker.start_cost_s == pytest.approx(0.17)
    assert docker.iteration_cost_s == pytest.approx((6.4 - 0.17) / 3)


def test_unknown_costs_stay_unknown() -> None:
    given = [replace(outcome, node_start_s=None) for outcome in outcomes(3)]
    docker = levels(given, PRIMARY)[0]
    assert (docker.start_cost_s, docker.iteration_cost_s) == (None, None)


def test_blocks_in_which_an_arm_is_missing_are_left_out() -> None:
    given = [
        replace(outcome, status=Status.FAILED)
        if outcome.trial.block == 2 and outcome.trial.environment.name == "docker"
        else outcome
        for outcome in outcomes(2)
    ]
    docker, lxc = levels(given, PRIMARY)
    assert [block.environment.block for block in docker.blocks] == [1, 3, 4]
    assert [block.environment.block for block in lxc.blocks] == [1, 2, 3, 4]


def test_a_start_in_which_an_iteration_has_no_usable_value_is_no_start() -> None:
    given = outcomes(2)
    broken = replace(given[0].samples[1], value=math.nan)
    given[0] = replace(given[0], samples=(given[0].samples[0], broken))
    whole, less = levels(outcomes(2), PRIMARY), levels(given, PRIMARY)
    assert min(len(each.blocks) for each in less) == min(len(each.blocks) for each in whole) - 1


def test_workloads_without_a_primary_metric_have_no_levels() -> None:
    assert levels(outcomes(), {}) == ()


POSITIVE = st.floats(min_value=1e-6, max_value=1e6)


def sample(
    value: float, iteration: int, instance: int | None = 0, direction: Direction = Direction.LESS
) -> Sample:
    return Sample(
        name="m", value=value, unit="s", direction=direction, instance=instance, iteration=iteration
    )


def campaign(native: Sequence[float], other: Sequence[float], blocks: int = 2) -> tuple[Summary, ...]:
    outcomes = []
    for block in range(blocks):
        outcomes += [outcome(trial(block, NATIVE, slot, len(native)), native) for slot in (0, 1)]
        outcomes.append(outcome(trial(block, "box", 0, len(other)), other))
    return summaries(outcomes, {"work": ("time_s",)})


@given(st.lists(POSITIVE, min_size=1, max_size=8))
def test_iterations_are_joined_by_the_mean_of_their_logarithms(values: list[float]) -> None:
    samples = [sample(value, number) for number, value in enumerate(values)]
    joined = whole_trial(samples, 1)
    assert joined == pytest.approx(math.exp(statistics.fmean(map(math.log, values))))
    rates = [sample(1 / value, number, direction=Direction.MORE) for number, value in enumerate(values)]
    joined_rate = whole_trial(rates, 1)
    assert joined_rate is not None
    assert 1 / joined_rate == pytest.approx(joined)


def test_instances_are_joined_before_iterations() -> None:
    samples = [sample(1.0, 0, 0), sample(4.0, 0, 1), sample(9.0, 1, 0), sample(2.0, 1, 1)]
    assert whole_trial(samples, 2) == pytest.approx(6.0)  # of the slowest, 4 and 9


def test_an_iteration_without_one_of_its_instances_leaves_no_value() -> None:
    assert whole_trial([sample(1.0, 0, 0), sample(4.0, 0, 1), sample(9.0, 1, 0)], 2) is None


def test_over_iterations_keeps_each_instance_and_what_is_not_usable() -> None:
    joined = over_iterations([sample(1.0, 0, 0), sample(4.0, 1, 0), sample(3.0, 0, 1), sample(0.0, 1, 1)])
    assert [(item.instance, item.value) for item in joined] == [(0, pytest.approx(2.0)), (1, 3.0), (1, 0.0)]


def test_the_first_run_and_the_others_are_two_metrics_of_one_block_each() -> None:
    result = {summary.metric: summary for summary in campaign([9.0, 1.0, 4.0], [18.0, 2.0, 8.0])}
    assert set(result) == {"time_s", "time_s (first)"}
    assert result["time_s"].primary
    assert not result["time_s (first)"].primary
    for metric, native in (("time_s", 2.0), ("time_s (first)", 9.0)):
        assert len(result[metric].blocks) == 2
        assert result[metric].blocks[0].native[0] == pytest.approx(native)
        assert result[metric].log_ratios == pytest.approx([math.log(2)] * 2)


def test_a_single_run_is_no_first_one() -> None:
    assert [summary.metric for summary in campaign([1.0], [2.0])] == ["time_s"]


def test_an_order_experiment_is_not_compared_with_native() -> None:
    result = ordered(0, "box", Ordering.ASCENDING, [1, 2], [1.0, 2.0])
    other = outcome(trial(0), [1.0])
    assert compared([result, other]) == (other,)


def test_series_of_iterations_are_kept_whole_start_by_start() -> None:
    outcomes = [outcome(trial(block, "box", 0, 3), [math.e, 1.0, 1.0]) for block in range(2)]
    outcomes.append(outcome(trial(2, "box", 0, 3), [1.0, 1.0]))  # one iteration is missing
    (series,) = iteration_series(outcomes, {"work": "time_s"})
    assert (series.environment, series.metric) == ("box", "time_s")
    assert series.starts == ((1.0, 0.0, 0.0), (1.0, 0.0, 0.0))


def test_one_run_for_each_start_is_no_series() -> None:
    assert iteration_series([outcome(trial(0, "box"), [1.0])], {"work": "time_s"}) == ()


def test_the_time_that_processors_had_is_that_of_all_iterations() -> None:
    result = outcome(trial(0, "box", 0, 4), [1.0] * 4)
    waiting = replace(result, vcpu_wait_s=1.0)
    (wait_summary,) = wait_summaries([waiting])
    assert list(wait_summary.vcpu_wait_shares) == [pytest.approx(1 / 4 / LAYOUT.total_processors)]
