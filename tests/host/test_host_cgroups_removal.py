# SPDX-License-Identifier: Apache-2.0
"""The end of a group, for real: whatever its processes do, they and the group are gone.

Version 2 is tried here in a hierarchy without controllers: its processes, cpu.stat, cgroup.kill and removal.
"""

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tare.errors import NodeError
from tare.host import cgroups
from tare.host.cgroups import V1, V2, Group

STUBBORN = "trap '' TERM INT HUP; echo ready; while :; do sleep 0.01; done"
CHAIN = """
import os, sys, time
deadline = time.monotonic() + 30
if os.fork():
    os._exit(0)
print("ready", flush=True)
os.close(1)
while time.monotonic() < deadline:
    if os.fork():
        os._exit(0)
"""
"""Every process lives a moment and hands over to a child: whoever lists and then kills comes too late.

This and the next go on for 30 s, and a removal gives up after 10."""

BOMB = """
import os, time
print("ready", flush=True)
os.close(1)
deadline = time.monotonic() + 30
while time.monotonic() < deadline:
    try:
        if not os.fork():
            os.setsid()
    except OSError:
        pass
"""
"""Every process starts as many as it may."""


@pytest.fixture
def name() -> str:
    return f"tare-test-{os.getpid()}-{time.monotonic_ns()}"


@pytest.fixture
def own(name: str) -> Iterator[Group]:
    group = cgroups.create_own_group(name)
    yield group
    for pid in group.processes():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    group.remove()
    cgroups.remove_parent_if_empty()


@pytest.fixture
def unified(name: str) -> Iterator[Group]:
    """A real version 2 group, without controllers where version 1 has them."""
    roots = [
        line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines() if " cgroup2 " in line
    ]
    if not roots:
        pytest.skip("no version 2 hierarchy is mounted here")
    directory = Path(roots[0], name)
    directory.mkdir()
    group = Group(V2, dict.fromkeys(("cpuset", "cpu", "memory", "pids"), directory))
    yield group
    group.remove()


def run_in(group: Group, *argv: str) -> "subprocess.Popen[bytes]":
    """Start in the group, and wait for its first words."""
    files = " ".join(f"echo 0 > {file};" for file in group.process_files)
    child = subprocess.Popen(
        ["sh", "-c", f'{files} exec "$@"', "sh", *argv], stdout=subprocess.PIPE, start_new_session=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    return child


def ended(child: "subprocess.Popen[bytes]") -> int:
    assert child.stdout is not None
    child.stdout.close()
    return child.wait(timeout=10)


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for control groups")
class TestRemoval:
    def test_a_stubborn_process_is_killed_and_the_group_goes(self, own: Group) -> None:
        child = run_in(own, "sh", "-c", STUBBORN)
        own.remove()
        assert ended(child) == -signal.SIGKILL
        assert not any(directory.exists() for directory in own.directories)

    def test_groups_made_below_go_too_with_their_processes(self, own: Group) -> None:
        below = own.directories[-1] / "below"
        below.mkdir()
        child = run_in(own, "sh", "-c", STUBBORN)
        (below / "cgroup.procs").write_text(str(child.pid))
        own.remove()
        assert ended(child) == -signal.SIGKILL
        assert not below.exists()

    def test_a_process_that_keeps_forking_itself_away_is_caught(self, own: Group) -> None:
        child = run_in(own, sys.executable, "-c", CHAIN)
        own.remove()
        ended(child)

    def test_a_fork_bomb_is_removed_at_once(self, own: Group) -> None:
        most = own.file("pids", "pids.max")
        if most is None or not most.exists():
            pytest.skip("this kernel limits no number of processes")
        most.write_text("64")
        child = run_in(own, sys.executable, "-c", BOMB)
        time.sleep(0.2)
        assert (own.refused_processes() or 0) > 0
        own.remove()
        ended(child)

    def test_forks_that_were_forbidden_are_allowed_again(self, own: Group) -> None:
        most = own.file("pids", "pids.max")
        if most is None or not most.exists():
            pytest.skip("this kernel limits no number of processes")
        most.write_text("64")
        for _ in range(2):
            own.forbid_forks()
        assert most.read_text() == "0\n"
        for _ in range(2):
            own.allow_forks()
        assert most.read_text() == "64\n"

    def test_removing_what_is_gone_is_harmless(self, own: Group) -> None:
        own.remove()
        own.remove()
        assert own.processes() == []

    def test_a_group_that_will_not_go_is_an_error_within_the_limit(self, tmp_path: Path) -> None:
        (tmp_path / "node").mkdir()
        (tmp_path / "node" / "file").touch()
        with pytest.raises(NodeError, match=r"node is still busy after 0 s"):
            Group(V1, {"cpu": tmp_path / "node"}).remove(timeout_s=0.1)

    def test_version_2_counts_kills_and_removes_for_real(self, unified: Group) -> None:
        child = run_in(unified, "sh", "-c", STUBBORN)
        time.sleep(0.1)
        used_s = unified.cpu_s()
        assert used_s is not None
        assert used_s > 0
        assert child.pid in unified.processes()
        assert unified.lacks(child.pid) == []
        unified.remove()
        assert ended(child) == -signal.SIGKILL
        assert not unified.directories[0].exists()

    def test_no_descriptor_is_left_open(self, own: Group) -> None:
        before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - only their number is wanted
        child = run_in(own, "sh", "-c", STUBBORN)
        own.remove()
        ended(child)
        assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208 - the same

    def test_the_parent_goes_only_when_it_is_empty(self, own: Group) -> None:
        cgroups.remove_parent_if_empty()
        assert all(directory.exists() for directory in own.directories)

    def test_a_parent_that_another_run_removes_meanwhile_stops_nobody(
        self, own: Group, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def vanished(path: object) -> Iterator[object]:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))

        with monkeypatch.context() as patched:
            patched.setattr(os, "scandir", vanished)
            cgroups.remove_parent_if_empty()
        assert all(directory.exists() for directory in own.directories)

    def test_a_group_that_a_killed_engine_left_empty_goes_unless_a_container_starts_in_it(
        self, own: Group, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        left, starting = (
            [directory.parent / (number * 32) for directory in own.directories] for number in ("6b", "7c")
        )
        for container in [*left, *starting]:
            container.mkdir()
        with ExitStack() as stack:

            def wait(duration_s: float) -> None:
                assert duration_s == cgroups._STARTED_S
                child = stack.enter_context(subprocess.Popen(["sleep", "60"]))
                stack.callback(child.kill)
                for container in starting:
                    (container / "cgroup.procs").write_text(str(child.pid))

            monkeypatch.setattr(time, "sleep", wait)
            cgroups.remove_parent_if_empty()
            assert not any(container.exists() for container in left)
            assert all(container.exists() for container in starting)
            monkeypatch.undo()
        for container in starting:
            container.rmdir()
        assert all(directory.exists() for directory in own.directories)


def test_an_ordinary_user_has_nothing_to_remove(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    monkeypatch.setattr(cgroups, "named_groups", looked.append)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    cgroups.remove_parent_if_empty()
    assert looked == []


def test_what_cannot_be_killed_stays_and_ends_nobodys_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(cgroups, "group_mounts", tuple)
    monkeypatch.setattr(Group, "remove", refuse)
    cgroups.remove_parent_if_empty()


def test_without_control_groups_there_is_no_parent_to_remove(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "group_mounts", tuple)
    cgroups.remove_parent_if_empty()
    assert cgroups.named_groups("tare").directories == []
