# SPDX-License-Identifier: Apache-2.0
"""A node in a machine that the user brings: the machine is a file, its system a real sshd on the loopback."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.environments.far_example import far_spec, inside, leftovers
from tests.environments.loopback_sshd import Sshd
from tests.environments.managed.sleeping_machine import Sleepers, SleepingMachine

from tare.errors import NodeError
from tare.image.store import Image
from tare.measure.running import NodeTimes, running_nodes
from tare.node_life import stop_node
from tare.nodes.provider import NodeSpec
from tare.nodes.record import write_down

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="the nodes need root for mounts and cgroups"),
]
PROVIDER = Sleepers()


@pytest.fixture
def spec(sshd: Sshd, far: Path, image: Image, state: Path) -> Iterator[NodeSpec]:
    """On the first processor, which the machine's own system numbers so too."""
    options = sshd.reach(far, boot_limit=5)
    made = far_spec(options, image, state, technology="sleeper", processors=(0,), cpu_quota=None)
    yield made
    stop_node(made, PROVIDER)
    assert leftovers(far, made.name) == []


def history(spec: NodeSpec) -> list[str]:
    return SleepingMachine(spec).history


def test_a_node_runs_in_the_machine_and_the_machine_ends_in_good_order(spec: NodeSpec, far: Path) -> None:
    times = NodeTimes()
    with running_nodes([spec], {"sleeper": PROVIDER}, times) as (node,):
        said = inside(node, "sh", "-c", "cat; exit 7", given=b"through")
        group = PROVIDER.group(node)
        assert group is not None
        held = group.settings()
        assert leftovers(far, spec.name) != []
    assert times.problems == []
    assert (said.returncode, said.stdout) == (7, b"through")
    assert (held.processors, held.memory_byte) == ((0,), spec.memory_byte)
    assert node.facts["sleeper"] == "soundly"
    assert (node.spec, node.own_kernel) == (spec, True)
    assert history(spec) == ["make", "on", "ask", "off", "unmake"]


def test_a_machine_that_is_on_already_is_somebodys_and_is_left_alone(spec: NodeSpec) -> None:
    spec.directory.parent.mkdir(parents=True, exist_ok=True)
    SleepingMachine(spec).switch_on()
    write_down(spec)
    with pytest.raises(NodeError, match="is on already"):
        PROVIDER.start(spec)
    stop_node(spec, PROVIDER)
    assert SleepingMachine(spec).is_on()
    assert history(spec) == ["on"]


def test_a_node_is_stopped_by_a_run_that_knows_its_record_alone(spec: NodeSpec, far: Path) -> None:
    write_down(spec)
    PROVIDER.start(spec)
    from tare.environments import ssh  # noqa: PLC0415 - to forget what this process knows

    running = ssh._running.pop(spec.name)
    stop_node(spec, PROVIDER)
    running.leave()
    assert leftovers(far, spec.name) == []
    assert not SleepingMachine(spec).is_on()


def test_a_machine_that_does_not_end_when_asked_is_switched_off(
    spec: NodeSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SleepingMachine, "obedient", False)
    monkeypatch.setattr("tare.environments.managed.provider._END_LIMIT_S", 0.1)
    write_down(spec)
    PROVIDER.start(spec)
    stop_node(spec, PROVIDER)
    assert history(spec) == ["make", "on", "ask", "off", "unmake"]


def test_a_machine_whose_disk_is_not_kept_is_switched_off_at_once(
    spec: NodeSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SleepingMachine, "outlives_node", False)
    write_down(spec)
    PROVIDER.start(spec)
    stop_node(spec, PROVIDER)
    assert history(spec) == ["make", "on", "off", "unmake"]


def test_a_machine_that_ends_before_it_answers_is_told_at_once(
    spec: NodeSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead = replace(spec, options={**spec.options, "ssh_options": ["-F", "none", "-p", "9"]})
    monkeypatch.setattr(SleepingMachine, "switch_on", lambda _: None)
    write_down(dead)
    with pytest.raises(NodeError, match=r"the machine ended before 127\.0\.0\.1 answered ssh"):
        PROVIDER.start(dead)


def test_a_machine_that_does_not_answer_in_time_is_told_with_what_ssh_said(spec: NodeSpec) -> None:
    dead = replace(spec, options={**spec.options, "ssh_options": ["-F", "none", "-p", "9"], "boot_limit": 1})
    write_down(dead)
    with pytest.raises(NodeError, match=r"Connection refused.*1 s after it was switched on"):
        PROVIDER.start(dead)
    stop_node(dead, PROVIDER)
    assert history(dead) == ["make", "on", "ask", "off", "unmake"]


def test_a_machine_that_refuses_is_not_waited_for(spec: NodeSpec, sshd: Sshd) -> None:
    nobody = [*sshd.options, "-o", f"IdentityFile={sshd.folder}/host_key"]
    wrong = [word for word in nobody if word not in {f"{sshd.folder}/user_key", "-i"}]
    dead = replace(spec, options={**spec.options, "ssh_options": wrong, "boot_limit": 600})
    write_down(dead)
    with pytest.raises(NodeError, match="Permission denied"):
        PROVIDER.start(dead)
