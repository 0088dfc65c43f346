# SPDX-License-Identifier: Apache-2.0
"""A limit that does not hold is found, named, and makes the trial fail; one that holds is a fact."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.measure.measure_nodes import MEBIBYTE, node_spec

from tare.environments.native import Native
from tare.errors import NodeError
from tare.host.cgroups import V1, Group, find_hierarchies, group_of
from tare.image.store import Image
from tare.measure.running import NodeTimes, running_nodes
from tare.measure.stopwatch import Stopwatch
from tare.measure.verify_limits import verify
from tare.nodes.group import LocalGroup
from tare.nodes.provider import Chosen, Node
from tare.records import Bounds

SEEN: dict[str, Any] = {
    "pid": os.getpid(),
    "processors": [0, 1],
    "online_processors": 2,
    "shm_byte": MEBIBYTE,
    "memory_limit_byte": 64 * MEBIBYTE,
    "cpu_quota": 0.5,
    "clock_source": "tsc",
    "kernel_release": "6.1.0",
}


def node(state: Path, **changes: object) -> Node:
    values: dict[str, object] = {"processors": (0, 1), "cpu_quota": 0.5, **changes}
    spec = node_spec(state, "fake", None, **values)
    return Node(spec=spec, init_pid=os.getpid())


@pytest.fixture
def group(tmp_path: Path) -> Group:
    """Files as version 1 shows them for a node that keeps its limits, with this process inside."""
    texts = {
        "cpuset": {"cpuset.cpus": "0-1\n"},
        "cpu": {"cpu.cfs_quota_us": "50000\n", "cpu.cfs_period_us": "100000\n"},
        "cpuacct": {},
        "memory": {"memory.limit_in_bytes": f"{64 * MEBIBYTE}\n"},
    }
    for controller, files in texts.items():
        (tmp_path / controller).mkdir()
        for name, text in {**files, "cgroup.procs": f"{os.getpid()}\n"}.items():
            (tmp_path / controller / name).write_text(text)
    return Group(V1, {name: tmp_path / name for name in texts})


def test_limits_that_hold_are_facts(group: Group, tmp_path: Path) -> None:
    assert verify(node(tmp_path), LocalGroup(group), SEEN) == {
        "processors": "0,1",
        "memory limit": f"{64 * MEBIBYTE} byte",
        "CPU quota": "0.5 processors",
        "online processors inside": "2",
        "clock source": "tsc",
        "kernel": "6.1.0",
    }


def test_what_the_node_does_not_tell_is_no_fact(group: Group, tmp_path: Path) -> None:
    facts = verify(node(tmp_path), LocalGroup(group), {**SEEN, "clock_source": None})
    assert "clock source" not in facts


def test_no_quota_is_a_fact_too(group: Group, tmp_path: Path) -> None:
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("-1\n")
    facts = verify(node(tmp_path, cpu_quota=None), LocalGroup(group), {**SEEN, "cpu_quota": None})
    assert facts["CPU quota"] == "none"


@pytest.mark.parametrize(
    ("file", "text", "named"),
    [
        ("cpuset/cpuset.cpus", "0\n", r"processors \(host's cgroup\) should be \(0, 1\) and are \(0,\)"),
        ("cpuset/cpuset.cpus", "\n", r"processors \(host's cgroup\) .* and are None"),
        ("memory/memory.limit_in_bytes", f"{128 * MEBIBYTE}\n", r"memory limit in bytes \(host's cgroup\)"),
        ("memory/memory.limit_in_bytes", "9223372036854771712\n", "memory limit .* and are None"),
        ("cpu/cpu.cfs_quota_us", "-1\n", r"CPU quota \(host's cgroup\) should be 0.5 and are None"),
        ("cpu/cpu.cfs_quota_us", "60000\n", r"CPU quota \(host's cgroup\) should be 0.5 and is 0.6"),
    ],
)
def test_what_the_hosts_group_does_not_hold_is_named(
    file: str, text: str, named: str, group: Group, tmp_path: Path
) -> None:
    (tmp_path / file).write_text(text)
    with pytest.raises(NodeError, match=f"the node's limits do not hold: {named}"):
        verify(node(tmp_path), LocalGroup(group), SEEN)


@pytest.mark.parametrize(
    ("seen", "named"),
    [
        ({"processors": [0]}, r"processors \(inside\) should be \(0, 1\) and are \(0,\)"),
        ({"processors": [0, 1, 2]}, r"processors \(inside\)"),
        ({"shm_byte": 64 * MEBIBYTE}, r"size of shm in bytes \(inside\)"),
        ({"shm_byte": None}, r"size of shm in bytes \(inside\) .* None"),
        ({"memory_limit_byte": 32 * MEBIBYTE}, r"memory limit in bytes \(inside\)"),
        ({"cpu_quota": 0.25}, r"CPU quota \(inside\)"),
    ],
)
def test_what_the_node_sees_otherwise_is_named(
    seen: dict[str, Any], named: str, group: Group, tmp_path: Path
) -> None:
    with pytest.raises(NodeError, match=f"the node's limits do not hold: {named}"):
        verify(node(tmp_path), LocalGroup(group), {**SEEN, **seen})


def test_a_node_that_does_not_show_its_limits_is_judged_by_the_hosts_group(
    group: Group, tmp_path: Path
) -> None:
    blind = {**SEEN, "memory_limit_byte": None, "cpu_quota": None}
    assert verify(node(tmp_path), LocalGroup(group), blind)["memory limit"] == f"{64 * MEBIBYTE} byte"


def test_rounding_to_pages_and_to_percents_is_no_breach(group: Group, tmp_path: Path) -> None:
    odd = node(tmp_path, memory_byte=64 * MEBIBYTE + 4095, cpu_quota=0.505)
    assert verify(odd, LocalGroup(group), SEEN)["CPU quota"] == "0.5 processors"


def test_a_quota_that_nobody_asked_for_is_a_breach(group: Group, tmp_path: Path) -> None:
    with pytest.raises(NodeError, match=r"CPU quota \(host's cgroup\) should be None and are 0.5"):
        verify(node(tmp_path, cpu_quota=None), LocalGroup(group), SEEN)


BOUNDED = Bounds(processes=64, open_files=100, core_byte=0)
CONFINED = {**SEEN, "confinement": {"limits": {"core": "1:1", "nofile": "100:100"}}}


@pytest.fixture
def counted(group: Group, tmp_path: Path) -> Group:
    """The same with the pids controller."""
    (tmp_path / "pids").mkdir()
    (tmp_path / "pids" / "pids.max").write_text("64\n")
    (tmp_path / "pids" / "cgroup.procs").write_text(f"{os.getpid()}\n")
    names = ("cpuset", "cpu", "cpuacct", "memory", "pids")
    return Group(group.version, {name: tmp_path / name for name in names})


def test_processes_and_files_that_are_held_are_verified(counted: Group, tmp_path: Path) -> None:
    facts = verify(node(tmp_path, bounds=BOUNDED), LocalGroup(counted), CONFINED)
    assert facts["process limit"] == "64 processes"


@pytest.mark.parametrize("text", ["65", "max", "63"])
def test_another_number_of_processes_is_named(counted: Group, tmp_path: Path, text: str) -> None:
    (tmp_path / "pids" / "pids.max").write_text(text)
    with pytest.raises(NodeError, match=r"process limit \(host's cgroup\) should be 64 and are"):
        verify(node(tmp_path, bounds=BOUNDED), LocalGroup(counted), CONFINED)


def test_a_technology_that_keeps_no_number_of_processes_is_said_to(group: Group, tmp_path: Path) -> None:
    bounded = node(tmp_path, bounds=BOUNDED)
    facts = verify(bounded, LocalGroup(group), CONFINED, bounds_processes=False)
    assert facts["process limit"] == "none"


@pytest.mark.parametrize(
    ("limits", "named"),
    [
        ({"core": "1:1", "nofile": "100:200"}, "limit of nofile .* should be 100 at most and is 200"),
        ({"core": "0:unlimited", "nofile": "9:9"}, "limit of core .* should be 1 at most and is unlimited"),
        ({"core": "1:1"}, "limit of nofile .* and is None"),
        ({}, "limit of core .* and is None"),
    ],
)
def test_a_limit_of_resources_that_is_not_held_is_named(
    counted: Group, tmp_path: Path, limits: dict[str, str], named: str
) -> None:
    seen = {**SEEN, "confinement": {"limits": limits}}
    with pytest.raises(NodeError, match=named):
        verify(node(tmp_path, bounds=BOUNDED), LocalGroup(counted), seen)


def test_what_the_options_have_chosen_is_checked_instead_of_what_the_campaign_states(
    group: Group, tmp_path: Path
) -> None:
    other = node(tmp_path, cpu_quota=2.0, shm_byte=8 * MEBIBYTE)
    chosen = Chosen(shm_byte=MEBIBYTE, sets_quota=True, cpu_quota=0.5)
    facts = verify(other, LocalGroup(group), SEEN, chosen)
    assert (facts["CPU quota"], facts["size of shm"]) == ("0.5 processors", f"{MEBIBYTE} byte")
    with pytest.raises(NodeError, match=r"CPU quota \(host's cgroup\) should be 0.7 and is 0.5"):
        verify(other, LocalGroup(group), SEEN, replace(chosen, cpu_quota=0.7))
    with pytest.raises(NodeError, match="size of shm in bytes"):
        verify(other, LocalGroup(group), SEEN, replace(chosen, shm_byte=2 * MEBIBYTE))


def test_a_command_that_is_in_no_group_of_the_node_is_found(group: Group, tmp_path: Path) -> None:
    for directory in group.directories:
        (directory / "cgroup.procs").write_text(f"{os.getppid()}\n")
    with pytest.raises(NodeError, match="entered command is not in the node's control group"):
        verify(node(tmp_path), LocalGroup(group), SEEN)


def test_a_command_that_is_past_one_controller_is_found_and_the_controller_named(
    group: Group, tmp_path: Path
) -> None:
    (tmp_path / "memory" / "cgroup.procs").write_text("")
    with pytest.raises(NodeError, match="not in the control group of memory"):
        verify(node(tmp_path), LocalGroup(group), SEEN)


class _PastTheGroup(Native):
    """Native, with a way in that forgets the control group."""

    def prefix(self, node: Node) -> list[str]:
        return ["chroot", str(node.spec.directory / "root")]


class _PastMemory(Native):
    """Native, with a way in that forgets the memory controller's group."""

    def prefix(self, node: Node) -> list[str]:
        groups = [file for file in group_of(node.init_pid or 0).process_files if "/memory/" not in file]
        way = [f"{node.spec.image_root}/opt/tare/bin/join", *groups, "--"]
        return [*way, "chroot", str(node.spec.directory / "root")]


@pytest.mark.parametrize("provider", [_PastTheGroup(), _PastMemory()])
@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups")
def test_a_real_stopwatch_outside_a_real_group_is_found(provider: Native, image: Image, state: Path) -> None:
    if isinstance(provider, _PastMemory) and find_hierarchies().version != V1:
        pytest.skip("in version 2 a process is in one group for all controllers")
    processors = tuple(sorted(os.sched_getaffinity(0)))
    spec = node_spec(state, "native", image, processors=processors)
    with running_nodes([spec], {"native": provider}, NodeTimes()) as (node,):
        argv = [
            *provider.prefix(node),
            "/opt/tare/bin/stopwatch",
            "--stdout",
            "/dev/null",
            "--stderr",
            "/dev/null",
        ]
        with Stopwatch([*argv, "--", "true"]) as stopwatch:
            stopwatch.wait_ready(10)
            assert node.init_pid is not None
            with pytest.raises(NodeError, match="control group"):
                verify(
                    node, LocalGroup(group_of(node.init_pid)), {**stopwatch.seen, "memory_limit_byte": None}
                )
