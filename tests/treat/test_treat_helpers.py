# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import pytest
from tests.sharing_example import ALONE, Planted, sharing_outcomes

from tare.records import Cell, Outcome, Status
from tare.treat import helper_summaries

PLANTED = {
    "native": Planted(),
    "docker": Planted(helpers=2, helper_share=0.1),
    "lxc": Planted(helpers=0),
    "podman": Planted(helpers=1),
    "old": Planted(),
}


def outcomes() -> list[Outcome]:
    return sharing_outcomes(PLANTED, settings=(ALONE, "1c2p2i"), blocks=4)


def test_there_is_a_summary_for_each_cell_and_environment_but_native() -> None:
    result = [
        (helper_summary.cell, helper_summary.environment) for helper_summary in helper_summaries(outcomes())
    ]
    assert result == [
        (Cell(workload="hpl", layout=layout), name)
        for layout in ("1c1p1i", "1c2p2i")
        for name in ("docker", "lxc", "old", "podman")
    ]


def test_the_share_is_of_the_trials_own_cpu_time() -> None:
    docker = helper_summaries(outcomes())[0]
    own = [
        outcome
        for outcome in outcomes()
        if outcome.trial.environment.name == "docker" and outcome.trial.setting == docker.cell.layout
    ]
    assert docker.cpu_s == tuple(outcome.helper_cpu_s for outcome in own)
    assert docker.shares == pytest.approx(
        [(outcome.helper_cpu_s or 0) / (outcome.cpu_s or 1) for outcome in own]
    )


def test_no_helper_and_not_known_are_told_apart_and_neither_is_zero_seconds() -> None:
    summaries = {
        helper_summary.environment: helper_summary for helper_summary in helper_summaries(outcomes())
    }
    assert [summaries[name].helpers for name in ("docker", "lxc", "podman", "old")] == [2, 0, 1, None]
    assert [summaries[name].cpu_s for name in ("lxc", "podman", "old")] == [(), (), ()]


def test_only_trials_that_count_are_taken() -> None:
    lost = [
        replace(outcome, status=Status.INVALID) if outcome.trial.block == 1 else outcome
        for outcome in outcomes()
    ]
    assert {
        len(helper_summary.cpu_s)
        for helper_summary in helper_summaries(lost)
        if helper_summary.environment == "docker"
    } == {3}


def test_without_the_trials_own_cpu_time_there_is_no_share() -> None:
    docker = helper_summaries([replace(outcome, cpu_s=None) for outcome in outcomes()])[0]
    assert (len(docker.cpu_s), docker.shares) == (4, ())
