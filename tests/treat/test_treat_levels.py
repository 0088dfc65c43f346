# SPDX-License-Identifier: Apache-2.0
import math
from dataclasses import replace

import pytest
from tests.report.report_example import Figure, example

from tare.records import Direction, Outcome, Sample, Status
from tare.treat import levels

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
