# SPDX-License-Identifier: Apache-2.0
"""A neighbour is at work for as long as it is needed, disturbs by its work alone, and is heard when it fails."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fake_campaign import command_workload

from tare import node_life
from tare.errors import NodeError
from tare.host.facts import online_processors
from tare.image.store import Image
from tare.measure import neighbours, parity
from tare.measure.context import Context
from tare.measure.instances import Instance
from tare.measure.parity import expected_parity
from tare.measure.trial import run_trial
from tare.nodes.provider import NodeSpec, Provider
from tare.records import Environment, Layout, Limits, Neighbour, Outcome, Rule, Status, Trial, Workload
from tare.units import MEBIBYTE

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups"),
    pytest.mark.usefixtures("state"),
]
HOST = Environment(name="e", technology="native")


@pytest.fixture
def context(image: Image, tmp_path: Path) -> Context:
    return Context(
        image_root=image.root,
        image_digest=image.digest,
        raw_directory=tmp_path / "raw",
        available_processors=online_processors(),
    )


def outcome_beside(
    context: Context, workload: Workload, *argv: str, count: int = 1, memory_mebibyte: int = 96
) -> Outcome:
    """Of a short sleep, or of ``argv``, beside ``workload``."""
    trial = Trial(
        identity="b000-t",
        block=0,
        slot=0,
        environment=HOST,
        replicate=0,
        layout=Layout.parse("1c1p1i"),
        workload=command_workload(*(argv or ("sleep", "0.5"))),
        limits=Limits(memory_byte=memory_mebibyte * MEBIBYTE, shm_byte=MEBIBYTE, time_s=10.0),
        neighbour=Neighbour(workload=workload, environment=HOST, count=count),
    )
    return run_trial(context, trial)


@pytest.mark.parametrize(
    ("script", "end"),
    [
        ("echo first; echo ill >&2; exit 3", "ended with exit code 3: ill"),
        ("kill -9 $$", "ended with exit code 137: Killed"),
    ],
)
def test_a_neighbour_that_fails_is_told_with_its_exit_code_and_words(
    context: Context, script: str, end: str
) -> None:
    outcome = outcome_beside(context, command_workload("sh", "-c", script))
    assert outcome.status is Status.FAILED
    assert outcome.reason is not None
    assert outcome.reason.startswith("the neighbour in tare-")
    assert outcome.reason.endswith(end)


def test_a_neighbour_may_print_without_end(context: Context) -> None:
    outcome = outcome_beside(context, command_workload("head", "-c", "90000000", "/dev/zero"))
    assert (outcome.status, outcome.reason) == (Status.OK, None)


def test_neighbours_are_numbered_after_the_measured_instances_and_know_of_oversubscription(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Instance] = []
    endless = neighbours._endless

    def kept(instance: Instance) -> Instance:
        made.append(instance)
        return endless(instance)

    monkeypatch.setattr(neighbours, "_endless", kept)
    outcome = outcome_beside(replace(context, available_processors=(0,)), command_workload("true"), count=2)
    assert (outcome.status, outcome.reason) == (Status.OK, None)
    assert [instance.seat.shape.instance for instance in made] == [1, 2]
    assert all(instance.seat.shape.oversubscribed for instance in made)


def test_neighbours_below_another_group_than_the_measured_node_have_another_weight(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = "CPU weight"
    expecting = replace(context, expected={label: expected_parity("test")[label]})
    assert outcome_beside(expecting, command_workload("true")).status is Status.OK
    monkeypatch.setattr(parity, "parent_of", lambda _group, _host, name: name)
    outcome = outcome_beside(expecting, command_workload("true"))
    assert (outcome.status, outcome.excluded_by) == (Status.INVALID, Rule.UNEQUAL)
    assert outcome.reason is not None
    assert "start all of them below one control group" in outcome.reason


def test_what_is_left_of_a_neighbour_is_told(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    stop, stopped = node_life.stop_node, list[str]()

    def stop_badly(spec: NodeSpec, provider: Provider) -> None:
        stop(spec, provider)
        stopped.append(spec.name)
        if len(stopped) == 1:
            raise NodeError("it clings")

    monkeypatch.setattr("tare.measure.running.stop_node", stop_badly)
    outcome = outcome_beside(context, command_workload("true"))
    assert outcome.status is Status.OK
    assert outcome.facts["not stopped cleanly"] == f"{stopped[0]} did not stop cleanly: it clings"
