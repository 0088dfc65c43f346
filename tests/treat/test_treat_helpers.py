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
    found = [(one.cell, one.environment) for one in helper_summaries(outcomes())]
    assert found == [
        (Cell(workload="hpl", layout=layout), name)
        for layout in ("1c1p1i", "1c2p2i")
        for name in ("docker", "lxc", "old", "podman")
    ]


def test_the_share_is_of_the_trials_own_cpu_time() -> None:
    docker = helper_summaries(outcomes())[0]
    own = [
        one
        for one in outcomes()
        if one.trial.environment.name == "docker" and one.trial.setting == docker.cell.layout
    ]
    assert docker.cpu_s == tuple(one.helper_cpu_s for one in own)
    assert docker.shares == pytest.approx([(one.helper_cpu_s or 0) / (one.cpu_s or 1) for one in own])


def test_no_helper_and_not_known_are_told_apart_and_neither_is_zero_seconds() -> None:
    found = {one.environment: one for one in helper_summaries(outcomes())}
    assert [found[name].helpers for name in ("docker", "lxc", "podman", "old")] == [2, 0, 1, None]
    assert [found[name].cpu_s for name in ("lxc", "podman", "old")] == [(), (), ()]


def test_only_trials_that_count_are_taken() -> None:
    lost = [replace(one, status=Status.INVALID) if one.trial.block == 1 else one for one in outcomes()]
    assert {len(one.cpu_s) for one in helper_summaries(lost) if one.environment == "docker"} == {3}


def test_without_the_trials_own_cpu_time_there_is_no_share() -> None:
    docker = helper_summaries([replace(one, cpu_s=None) for one in outcomes()])[0]
    assert (len(docker.cpu_s), docker.shares) == (4, ())
