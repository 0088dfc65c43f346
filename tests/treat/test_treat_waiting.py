# SPDX-License-Identifier: Apache-2.0
"""What virtual processors waited, from outcomes to estimates: as planted, and unknown where nobody told."""

from dataclasses import replace

import pytest
from tests.run_example import instance_run
from tests.sharing_example import ALONE, Planted, sharing_outcomes

from tare.analyze import wait_costs
from tare.records import Clocks, InstanceRun, Outcome, Status, WaitCost
from tare.treat import wait_summaries

WALL_S = 2.0


def run(instance: int) -> InstanceRun:
    clocks = Clocks(wall_s=2 * WALL_S, host_wall_s=WALL_S, round_trip_s=0.001)
    return instance_run(instance=instance, clocks=clocks)


def outcomes(
    setting: str = ALONE, *, wait_s: float | None = 0.1, steal_s: float | None = None
) -> list[Outcome]:
    """Six blocks; of two environments one tells. The time waited grows by 0.01 s a block."""
    collected = []
    for outcome in sharing_outcomes(
        {"native": Planted(), "lxc": Planted(), "qemu": Planted()}, settings=(setting,)
    ):
        runs = tuple(map(run, range(outcome.trial.layout.instances)))
        value = outcome.trial.environment.name == "qemu"
        grown_s = 0.01 * outcome.trial.block
        collected.append(
            replace(
                outcome,
                instances=runs,
                vcpu_wait_s=wait_s + grown_s if value and wait_s is not None else None,
                steal_s=steal_s if value else None,
            )
        )
    return collected


def cost(outcomes: list[Outcome]) -> WaitCost:
    (wait_cost,) = wait_costs(wait_summaries(outcomes))
    return wait_cost


def test_only_an_environment_that_tells_of_any_has_a_summary() -> None:
    assert [wait_summary.environment for wait_summary in wait_summaries(outcomes())] == ["qemu"]
    assert wait_summaries(outcomes(wait_s=None)) == ()


def test_the_median_over_blocks_has_its_interval_and_its_share_of_the_processors_time() -> None:
    time_estimate = cost(outcomes()).vcpu_wait
    assert time_estimate is not None
    assert time_estimate.time_s.n == 10
    assert time_estimate.time_s.point == pytest.approx(0.145)
    assert time_estimate.time_s.low == pytest.approx(0.11)
    assert time_estimate.time_s.high == pytest.approx(0.18)
    assert time_estimate.share is not None
    assert time_estimate.share.point == pytest.approx(0.145 / WALL_S)


def test_the_share_is_of_all_processors_of_all_nodes_by_the_hosts_clock() -> None:
    time_estimate = cost(outcomes("2c3p2i")).vcpu_wait
    assert time_estimate is not None
    assert time_estimate.share is not None
    assert time_estimate.share.point == pytest.approx(0.145 / (WALL_S * 2 * 3))


def test_steal_that_was_not_counted_is_unknown_and_a_counted_one_stands_by_itself() -> None:
    assert cost(outcomes()).steal is None
    only_guest = cost(outcomes(wait_s=None, steal_s=0.25))
    assert only_guest.vcpu_wait is None
    assert only_guest.steal is not None
    assert only_guest.steal.time_s.point == 0.25


def test_a_trial_without_the_hosts_duration_has_a_time_and_no_share() -> None:
    time_estimate = cost([replace(outcome, instances=()) for outcome in outcomes()]).vcpu_wait
    assert time_estimate is not None
    assert time_estimate.share is None


def test_a_machine_that_never_waited_says_zero() -> None:
    """It is known: the host counted."""
    texts = [
        replace(outcome, vcpu_wait_s=0.0) if outcome.vcpu_wait_s is not None else outcome
        for outcome in outcomes()
    ]
    time_estimate = cost(texts).vcpu_wait
    assert time_estimate is not None
    assert time_estimate.time_s.point == 0


def test_only_trials_that_count_are_taken() -> None:
    lost = [
        replace(outcome, status=Status.INVALID) if outcome.trial.block < 4 else outcome
        for outcome in outcomes()
    ]
    time_estimate = cost(lost).vcpu_wait
    assert time_estimate is not None
    assert time_estimate.time_s.n == 6
