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
    found = []
    for one in sharing_outcomes(
        {"native": Planted(), "lxc": Planted(), "qemu": Planted()}, settings=(setting,)
    ):
        runs = tuple(map(run, range(one.trial.layout.instances)))
        told = one.trial.environment.name == "qemu"
        grown_s = 0.01 * one.trial.block
        found.append(
            replace(
                one,
                instances=runs,
                vcpu_wait_s=wait_s + grown_s if told and wait_s is not None else None,
                steal_s=steal_s if told else None,
            )
        )
    return found


def cost(told: list[Outcome]) -> WaitCost:
    (found,) = wait_costs(wait_summaries(told))
    return found


def test_only_an_environment_that_tells_of_any_has_a_summary() -> None:
    assert [one.environment for one in wait_summaries(outcomes())] == ["qemu"]
    assert wait_summaries(outcomes(wait_s=None)) == ()


def test_the_median_over_blocks_has_its_interval_and_its_share_of_the_processors_time() -> None:
    found = cost(outcomes()).vcpu_wait
    assert found is not None
    assert found.time_s.n == 10
    assert found.time_s.point == pytest.approx(0.145)
    assert found.time_s.low == pytest.approx(0.11)
    assert found.time_s.high == pytest.approx(0.18)
    assert found.share is not None
    assert found.share.point == pytest.approx(0.145 / WALL_S)


def test_the_share_is_of_all_processors_of_all_nodes_by_the_hosts_clock() -> None:
    found = cost(outcomes("2c3p2i")).vcpu_wait
    assert found is not None
    assert found.share is not None
    assert found.share.point == pytest.approx(0.145 / (WALL_S * 2 * 3))


def test_steal_that_was_not_counted_is_unknown_and_a_counted_one_stands_by_itself() -> None:
    assert cost(outcomes()).steal is None
    only_guest = cost(outcomes(wait_s=None, steal_s=0.25))
    assert only_guest.vcpu_wait is None
    assert only_guest.steal is not None
    assert only_guest.steal.time_s.point == 0.25


def test_a_trial_without_the_hosts_duration_has_a_time_and_no_share() -> None:
    found = cost([replace(one, instances=()) for one in outcomes()]).vcpu_wait
    assert found is not None
    assert found.share is None


def test_a_machine_that_never_waited_says_zero() -> None:
    """It is known: the host counted."""
    told = [replace(one, vcpu_wait_s=0.0) if one.vcpu_wait_s is not None else one for one in outcomes()]
    found = cost(told).vcpu_wait
    assert found is not None
    assert found.time_s.point == 0


def test_only_trials_that_count_are_taken() -> None:
    lost = [replace(one, status=Status.INVALID) if one.trial.block < 4 else one for one in outcomes()]
    found = cost(lost).vcpu_wait
    assert found is not None
    assert found.time_s.n == 6
