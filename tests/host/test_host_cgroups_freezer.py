# SPDX-License-Identifier: Apache-2.0
"""Freezing and thawing, for real in both versions where they are mounted, else on trees of files."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.host.test_host_cgroups_removal import STUBBORN, ended, name, own, run_in, unified

from tare.errors import NodeError
from tare.host.cgroups import V1, V2, Group, freezer, group_of
from tare.host.cgroups.freezer import Freezer, freezer_of, thawed_at_end
from tare.host.cgroups.hierarchies import Hierarchies

__all__ = ["name", "own", "unified"]
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root for control groups")
BUSY = "print('ready', flush=True)\nwhile True: pass"
FORKS = "echo ready; while :; do /bin/true; done"
JOINS_AND_LOOKS = """
import os, sys
from tare.host.cgroups import group_of
from tare.host.cgroups.freezer import freezer_of
for file in sys.argv[1:]:
    open(file, "w").write("0")
print(freezer_of(group_of(os.getpid()), "tare-test"))
"""
NODE = "tare-test-1"


@pytest.fixture(params=[V1, V2])
def group(request: pytest.FixtureRequest) -> Group:
    getfixturevalue: Group = request.getfixturevalue("own" if request.param == V1 else "unified")
    return getfixturevalue


def freezer_in(group: Group) -> Freezer:
    directory = group.directories[0] if group.version == V2 else group.file("freezer", "")
    if directory is None:
        pytest.skip("this host has no freezer of version 1")
    return Freezer(group.version, directory)


def ticks(pid: int) -> int:
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(words[11]) + int(words[12])


@pytest.mark.root
@AS_ROOT
class TestForReal:
    def test_a_frozen_group_uses_no_processor_and_goes_on_when_thawed(self, group: Group) -> None:
        child = run_in(group, sys.executable, "-c", BUSY)
        frozen = freezer_in(group)
        requested_ns, completed_ns = frozen.freeze()
        before = ticks(child.pid)
        time.sleep(0.2)
        assert ticks(child.pid) == before
        assert 0 < completed_ns - requested_ns < 1e9
        frozen.thaw()
        time.sleep(0.3)
        assert ticks(child.pid) > before
        group.remove()
        ended(child)

    def test_what_keeps_forking_is_frozen_each_time(self, group: Group) -> None:
        child = run_in(group, "sh", "-c", FORKS)
        frozen = freezer_in(group)
        for _ in range(20):
            frozen.freeze()
            frozen.thaw()
            time.sleep(0.005)
        group.remove()
        ended(child)

    def test_groups_below_are_frozen_with_it(self, group: Group) -> None:
        child = run_in(group, sys.executable, "-c", BUSY)
        frozen = freezer_in(group)
        below = frozen.directory / "below"
        below.mkdir()
        (below / "cgroup.procs").write_text(str(child.pid))
        with thawed_at_end([frozen]):
            frozen.freeze()
            before = ticks(child.pid)
            time.sleep(0.1)
            assert ticks(child.pid) == before
        group.remove()
        ended(child)

    def test_nothing_stays_frozen_after_an_interrupt(self, group: Group) -> None:
        child = run_in(group, "sh", "-c", STUBBORN)
        frozen = freezer_in(group)
        frozen.freeze()
        with pytest.raises(KeyboardInterrupt), thawed_at_end([frozen]):
            raise KeyboardInterrupt
        group.remove(timeout_s=2.0)
        ended(child)

    def test_the_group_of_this_process_is_not_frozen_by_it(self, own: Group) -> None:
        child = subprocess.Popen(
            [sys.executable, "-c", JOINS_AND_LOOKS, *own.process_files],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.communicate(timeout=30)[0] == "None\n"

    def test_a_group_below_the_nodes_own_leads_to_the_nodes_own(self, own: Group) -> None:
        directory = own.file("freezer", "")
        if directory is None:
            pytest.skip("no freezer of version 1 is mounted here")
        (directory / "payload").mkdir()
        child = run_in(own, "sh", "-c", STUBBORN)
        (directory / "payload" / "cgroup.procs").write_text(str(child.pid))
        assert freezer_of(group_of(child.pid), directory.name) == Freezer(V1, directory)
        own.remove()
        ended(child)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freezer, "_LIMIT_S", 0.1)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A node's group of version 2, as files."""
    node = tmp_path / "tare" / NODE
    (node / "payload").mkdir(parents=True)
    (node / "cgroup.procs").write_text("17\n")
    (node / "cgroup.freeze").write_text("0\n")
    (node / "cgroup.events").write_text("populated 1\nfrozen 0\n")
    return node


def host_of(tree: Path) -> Hierarchies:
    return Hierarchies(version=V2, mounts={"cpu": tree.parent.parent})


def test_version_2_is_asked_by_its_file_and_waited_for_by_its_events(tree: Path) -> None:
    def kernel() -> None:
        while (tree / "cgroup.freeze").read_text() != "1":
            time.sleep(0.001)
        (tree / "cgroup.events").write_text("populated 1\nfrozen 1\n")

    other = threading.Thread(target=kernel)
    other.start()
    Freezer(V2, tree).freeze()
    other.join()
    assert (tree / "cgroup.freeze").read_text() == "1"


@pytest.mark.usefixtures("quick")
def test_what_does_not_freeze_is_named_with_its_processes(tree: Path) -> None:
    with pytest.raises(NodeError, match=rf"{NODE} does not freeze within 0 s; it holds the processes 17$"):
        Freezer(V2, tree).freeze()


@pytest.mark.usefixtures("quick")
def test_what_stays_freezing_in_version_1_is_an_error_as_well(tmp_path: Path) -> None:
    (tmp_path / "cgroup.procs").write_text("")
    (tmp_path / "freezer.state").symlink_to("/dev/null")
    with pytest.raises(NodeError, match=r"does not freeze within 0 s; it holds the processes \(none\)"):
        Freezer(V1, tmp_path).freeze()


@pytest.mark.usefixtures("quick")
def test_what_cannot_be_thawed_keeps_no_other_frozen(tree: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "freezer.state").write_text("FROZEN")
    with (
        pytest.raises(NodeError, match="does not thaw"),
        thawed_at_end([Freezer(V2, tree), Freezer(V1, other)]),
    ):
        (tree / "cgroup.events").write_text("populated 1\nfrozen 1\n")
    assert (other / "freezer.state").read_text() == "THAWED"


def test_thawing_what_is_gone_is_harmless_but_freezing_it_is_not(tmp_path: Path) -> None:
    gone = Freezer(V1, tmp_path / "gone")
    gone.thaw()
    with pytest.raises(NodeError, match="is gone and cannot be frozen"):
        gone.freeze()


def test_a_version_2_node_is_frozen_as_a_whole_wherever_its_first_process_is(tree: Path) -> None:
    group = Group(V2, {"cpu": tree / "payload"})
    assert freezer_of(group, NODE, host_of(tree)) == Freezer(V2, tree)


def test_without_a_freezer_file_there_is_no_freezer(tree: Path) -> None:
    (tree / "cgroup.freeze").unlink()
    assert freezer_of(Group(V2, {"cpu": tree}), NODE, host_of(tree)) is None


def test_the_top_of_a_hierarchy_is_nobodys_freezer(tree: Path) -> None:
    root = tree.parent.parent
    (root / "cgroup.freeze").write_text("0\n")
    assert freezer_of(Group(V2, {"cpu": root}), NODE, host_of(tree)) is None
