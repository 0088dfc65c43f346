# SPDX-License-Identifier: Apache-2.0
"""A delegated part of a version 2 tree, as files: no such kernel is at hand where these tests were written."""

import os
from pathlib import Path

import pytest
from tests.environments.environment_example import described

from tare.errors import NodeError
from tare.host import delegation
from tare.host.delegation import RUNNER, Delegation, create_group, find_delegation
from tare.measure.verify_limits import verify
from tare.nodes.provider import Node, NodeSpec
from tare.nodes.unprivileged import limits
from tare.nodes.unprivileged.group import UserGroup

MEBIBYTE = 1 << 20
SEEN = {"processors": [0, 2, 3], "shm_byte": 16 * MEBIBYTE, "memory_limit_byte": None, "cpu_quota": None}


def scope(folder: Path, controllers: str = "cpuset cpu memory pids", processes: str = "") -> Path:
    """What ``systemd-run --user --scope -p Delegate=yes`` would show of its group."""
    folder.mkdir()
    texts = {"cgroup.controllers": controllers, "cgroup.procs": processes, "cgroup.subtree_control": ""}
    for name, text in texts.items():
        (folder / name).write_text(f"{text}\n")
    return folder


@pytest.fixture
def delegated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The group of this process, which is this user's to divide."""
    folder = scope(tmp_path / "scope", processes=str(os.getpid()))
    monkeypatch.setattr(delegation, "own_directory", lambda: folder)
    return folder


def made(spec: NodeSpec) -> NodeSpec:
    spec.directory.mkdir(parents=True)
    return spec


class TestFinding:
    def test_a_group_of_this_process_alone_is_delegated(self, delegated: Path) -> None:
        result = find_delegation()
        assert result is not None
        assert result.directory == delegated
        assert result.controllers == {"cpuset", "cpu", "memory", "pids"}

    def test_a_group_in_which_others_live_is_left_alone(self, tmp_path: Path) -> None:
        assert find_delegation(scope(tmp_path / "terminal", processes=f"{os.getpid()}\n1")) is None

    def test_without_the_memory_controller_there_is_nothing_to_gain(self, tmp_path: Path) -> None:
        assert find_delegation(scope(tmp_path / "scope", "cpu pids")) is None

    def test_a_group_that_cannot_be_written_is_somebody_elses(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "access", lambda *_: False)
        assert find_delegation(scope(tmp_path / "session")) is None

    def test_the_runner_that_has_stepped_down_finds_the_same_group(self, tmp_path: Path) -> None:
        top = scope(tmp_path / "scope")
        result = find_delegation(scope(top / RUNNER, "", str(os.getpid())))
        assert result is not None
        assert result.directory == top

    def test_this_machine_has_none(self) -> None:
        assert find_delegation() is None or delegation.own_directory() is not None


class TestMaking:
    def test_the_runner_steps_down_and_hands_the_controllers_over(self, delegated: Path) -> None:
        create_group(self.found(delegated), "tare-1", (0, 2), 64 * MEBIBYTE, None)
        assert (delegated / RUNNER / "cgroup.procs").read_text() == str(os.getpid())
        assert (delegated / "cgroup.subtree_control").read_text() == "+cpu +cpuset +memory +pids"

    def test_a_node_has_its_limits(self, delegated: Path) -> None:
        group = create_group(self.found(delegated), "tare-1", (0, 2), 64 * MEBIBYTE, 0.5)
        texts = {file.name: file.read_text() for file in (delegated / "tare-1").iterdir()}
        assert texts == {
            "memory.max": str(64 * MEBIBYTE),
            "cpuset.cpus": "0,2",
            "cpu.max": "50000 100000",
        }
        assert group.directories == [delegated / "tare-1"]

    def test_swap_is_forbidden_where_the_kernel_can(self, delegated: Path) -> None:
        (delegated / RUNNER).mkdir()
        (delegated / RUNNER / "memory.swap.max").write_text("max\n")
        create_group(self.found(delegated), "tare-1", (0,), MEBIBYTE, None)
        assert (delegated / "tare-1" / "memory.swap.max").read_text() == "0"

    def test_a_quota_without_its_controller_is_refused(self, tmp_path: Path) -> None:
        result = Delegation(directory=scope(tmp_path / "scope"), controllers=frozenset({"memory"}))
        with pytest.raises(NodeError, match="cpu controller, which is not delegated"):
            create_group(result, "tare-1", (0,), MEBIBYTE, 0.5)

    def test_what_the_kernel_refuses_is_named(self, tmp_path: Path) -> None:
        gone = Delegation(directory=tmp_path / "gone", controllers=frozenset({"memory"}))
        with pytest.raises(NodeError, match=r"delegated control group .*gone refuses .*tare-runner"):
            create_group(gone, "tare-1", (0,), MEBIBYTE, None)

    def found(self, folder: Path) -> Delegation:
        result = find_delegation(folder)
        assert result is not None
        return result


class TestLimits:
    def test_everything_is_held_by_the_group_and_nothing_beside_it(
        self, delegated: Path, tmp_path: Path
    ) -> None:
        spec = made(described(tmp_path / "tare-1"))
        limits.establish(spec)
        assert limits.hold(spec) == [
            "/image/opt/tare/bin/join",
            str(delegated / "tare-1" / "cgroup.procs"),
            "--",
        ]

    def test_without_the_cpuset_controller_processors_are_kept_by_affinity(
        self, delegated: Path, tmp_path: Path
    ) -> None:
        (delegated / "cgroup.controllers").write_text("cpu memory pids\n")
        spec = made(described(tmp_path / "tare-1"))
        limits.establish(spec)
        assert limits.hold(spec)[-3:] == ["taskset", "--cpu-list", "0,2,3"]
        assert "prlimit" not in limits.hold(spec)

    @pytest.mark.usefixtures("delegated")
    def test_a_quota_can_be_kept(self) -> None:
        assert limits.quota_obstacle() is None

    @pytest.mark.usefixtures("delegated")
    def test_what_was_made_is_known_to_another_process(self, tmp_path: Path) -> None:
        spec = made(described(tmp_path / "tare-1"))
        assert limits.establish(spec) == limits.recall(spec)

    def test_the_group_is_verified_and_nothing_is_called_weaker(
        self, delegated: Path, tmp_path: Path
    ) -> None:
        spec = made(described(tmp_path / "tare-1", cpu_quota=0.5))
        group = UserGroup(Node(spec=spec, init_pid=os.getpid()), limits.establish(spec))
        (delegated / "tare-1" / "cpuset.cpus.effective").write_text("0,2-3\n")
        (delegated / "tare-1" / "cgroup.procs").write_text(f"{os.getpid()}\n")
        facts = verify(group.node, group, {**SEEN, "pid": os.getpid()})
        assert facts["memory limit"] == f"{512 * MEBIBYTE} byte"
        assert not {"CPU set", "CPU time"} & set(facts)

    def test_a_group_that_holds_something_else_is_found(self, delegated: Path, tmp_path: Path) -> None:
        spec = made(described(tmp_path / "tare-1"))
        group = UserGroup(Node(spec=spec, init_pid=os.getpid()), limits.establish(spec))
        (delegated / "tare-1" / "cpuset.cpus.effective").write_text("0,2-3\n")
        (delegated / "tare-1" / "cgroup.procs").write_text(f"{os.getpid()}\n")
        (delegated / "tare-1" / "memory.max").write_text("max\n")
        with pytest.raises(NodeError, match=r"memory limit in bytes \(delegated cgroup\)"):
            verify(group.node, group, {**SEEN, "pid": os.getpid()})

    def test_cpu_time_and_memory_kills_are_the_groups(self, delegated: Path, tmp_path: Path) -> None:
        spec = made(described(tmp_path / "tare-1"))
        group = UserGroup(Node(spec=spec, init_pid=os.getpid()), limits.establish(spec))
        (delegated / "tare-1" / "cpu.stat").write_text("usage_usec 1500000\n")
        (delegated / "tare-1" / "memory.events").write_text("oom 1\noom_kill 1\n")
        assert (group.cpu_s(), group.memory_kills()) == (1.5, 1)


def test_the_rights_of_a_session_name_what_is_delegated(
    delegated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert delegation.privileges() == "root"
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert delegation.privileges() == (
        "an ordinary user's, with delegated control groups (cpu cpuset memory pids)"
    )
    (delegated / "cgroup.controllers").write_text("pids\n")
    assert delegation.privileges() == "an ordinary user's, without control groups"
