# SPDX-License-Identifier: Apache-2.0
"""One control group, on files as the kernel shows them: what is written and what is read.

Where these tests were written all controllers belong to version 1. Version 2's were tried for real once, by running the
contract tests in a virtual machine with Debian 12's kernel; what it has without controllers is tried for real in
test_host_cgroups_removal.py.
"""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from tare.errors import NodeError
from tare.host import cgroups
from tare.host.cgroups import V1, V2, Group, Settings
from tare.host.cgroups.hierarchies import UNIFIED

MEBIBYTE = 1 << 20
PROCESSORS = (0, 2)
LIMITS = {
    V1: ("cpuset.cpus", "cpuset.mems", "cpu.cfs_period_us", "cpu.cfs_quota_us", "memory.limit_in_bytes"),
    V2: ("cpuset.cpus", "cpu.max", "memory.max", "pids.max"),
}


def fake_group(folder: Path, version: int, **texts: str) -> Group:
    """Files ``controller__name`` (a dot for each further underscore pair) with their texts."""
    names = ("cpuset", "cpu", "cpuacct", "memory") if version == V1 else ("cpuset", "cpu", "memory", "pids")
    places = {name: folder / (name if version == V1 else "all") / "tare" / "node" for name in names}
    for place in places.values():
        place.mkdir(parents=True, exist_ok=True)
    for name in LIMITS[version]:  # as the kernel makes them
        (places[name.partition(".")[0]] / name).touch()
    for name, text in texts.items():
        controller, _, file = name.partition("__")
        (places[controller] / file.replace("__", ".")).write_text(text)
    return Group(version, places)


def written(group: Group) -> dict[str, str]:
    return {
        path.name: path.read_text()
        for place in group.directories
        for path in place.iterdir()
        if path.is_file() and path.read_text()
    }


@pytest.fixture
def version_1(tmp_path: Path) -> Group:
    (tmp_path / "cpuset" / "tare").mkdir(parents=True)
    (tmp_path / "cpuset" / "tare" / "cpuset.mems").write_text("0-1\n")
    return fake_group(tmp_path, V1)


@pytest.fixture
def version_2(tmp_path: Path) -> Group:
    return fake_group(tmp_path, V2)


class TestLimit:
    def test_version_1_gets_processors_memory_nodes_and_memory(self, version_1: Group) -> None:
        version_1.limit(PROCESSORS, 64 * MEBIBYTE, None)
        assert written(version_1) == {
            "cpuset.cpus": "0,2",
            "cpuset.mems": "0-1",
            "cpu.cfs_period_us": "100000",
            "cpu.cfs_quota_us": "-1",
            "memory.limit_in_bytes": str(64 * MEBIBYTE),
        }

    def test_version_1_gets_a_quota_in_microseconds_of_its_period(self, version_1: Group) -> None:
        version_1.limit(PROCESSORS, MEBIBYTE, 1.5)
        assert written(version_1)["cpu.cfs_quota_us"] == "150000"

    def test_version_1_counts_swap_as_memory_where_it_can(self, version_1: Group) -> None:
        (memory,) = [place for place in version_1.directories if "memory" in place.parts]
        (memory / "memory.memsw.limit_in_bytes").touch()
        version_1.limit(PROCESSORS, 64 * MEBIBYTE, None)
        assert written(version_1)["memory.memsw.limit_in_bytes"] == str(64 * MEBIBYTE)

    def test_version_2_inherits_memory_nodes(self, version_2: Group) -> None:
        version_2.limit(PROCESSORS, 64 * MEBIBYTE, None)
        assert written(version_2) == {
            "cpuset.cpus": "0,2",
            "cpu.max": "max 100000",
            "memory.max": str(64 * MEBIBYTE),
        }

    def test_version_2_gets_a_quota_and_no_swap(self, version_2: Group) -> None:
        (version_2.directories[0] / "memory.swap.max").touch()
        version_2.limit(PROCESSORS, MEBIBYTE, 0.25)
        assert written(version_2)["cpu.max"] == "25000 100000"
        assert written(version_2)["memory.swap.max"] == "0"

    @pytest.mark.parametrize("version", [V1, V2])
    def test_a_quota_that_rounds_to_nothing_is_never_written_as_no_quota(
        self, version: int, tmp_path: Path
    ) -> None:
        group = fake_group(tmp_path, version)
        group.limit(PROCESSORS, MEBIBYTE, 1e-9)
        name = "cpu.cfs_quota_us" if version == V1 else "cpu.max"
        assert written(group)[name].split()[0] == "0"

    def test_a_refused_value_is_an_error_with_value_and_file(self, version_1: Group) -> None:
        file = version_1.directories[0] / "cpuset.cpus"
        file.unlink()
        file.mkdir()
        with pytest.raises(NodeError, match=r"refuses '0,2' for .*cpuset\.cpus: Is a directory"):
            version_1.limit(PROCESSORS, MEBIBYTE, None)


class TestSettings:
    def test_version_1_reads_what_holds(self, tmp_path: Path) -> None:
        group = fake_group(
            tmp_path,
            V1,
            cpuset__cpuset__cpus="0-1,3\n",
            memory__memory__limit_in_bytes="67108864\n",
            cpu__cpu__cfs_quota_us="50000\n",
            cpu__cpu__cfs_period_us="100000\n",
        )
        assert group.settings() == Settings(processors=(0, 1, 3), memory_byte=64 * MEBIBYTE, cpu_quota=0.5)

    def test_version_1_unlimited_is_none(self, tmp_path: Path) -> None:
        group = fake_group(
            tmp_path,
            V1,
            cpuset__cpuset__cpus="\n",
            memory__memory__limit_in_bytes="9223372036854771712\n",
            cpu__cpu__cfs_quota_us="-1\n",
            cpu__cpu__cfs_period_us="100000\n",
        )
        assert group.settings() == Settings(processors=None, memory_byte=None, cpu_quota=None)

    def test_version_2_reads_what_holds(self, tmp_path: Path) -> None:
        group = fake_group(
            tmp_path,
            V2,
            cpuset__cpuset__cpus__effective="1\n",
            memory__memory__max="67108864\n",
            cpu__cpu__max="150000 100000\n",
        )
        assert group.settings() == Settings(processors=(1,), memory_byte=64 * MEBIBYTE, cpu_quota=1.5)

    def test_version_2_unlimited_is_none(self, tmp_path: Path) -> None:
        group = fake_group(tmp_path, V2, memory__memory__max="max\n", cpu__cpu__max="max 100000\n")
        assert group.settings() == Settings(processors=None, memory_byte=None, cpu_quota=None)

    def test_version_2_limits_above_hold_below(self, tmp_path: Path) -> None:
        outer = fake_group(
            tmp_path,
            V2,
            cpuset__cpuset__cpus__effective="0\n",
            memory__memory__max="4096\n",
            cpu__cpu__max="20000 100000\n",
        )
        inner = outer.directories[0] / "payload"
        inner.mkdir()
        (inner / "memory.max").write_text("max\n")
        (inner / "cpu.max").write_text("50000 100000\n")
        settings = Group(V2, dict.fromkeys(("cpuset", "cpu", "memory"), inner)).settings()
        assert settings == Settings(processors=(0,), memory_byte=4096, cpu_quota=0.2)

    @pytest.mark.parametrize("version", [V1, V2])
    def test_a_group_that_is_gone_limits_nothing(self, version: int, tmp_path: Path) -> None:
        group = Group(version, {"cpu": tmp_path / "gone"})
        assert group.settings() == Settings(processors=None, memory_byte=None, cpu_quota=None)

    @pytest.mark.parametrize("version", [V1, V2])
    @pytest.mark.parametrize("quota", [None, 0.5, 2.0])
    def test_what_is_limited_is_what_is_read_back(
        self, version: int, quota: float | None, tmp_path: Path
    ) -> None:
        group = fake_group(tmp_path, version)
        group.limit(PROCESSORS, 8 * MEBIBYTE, quota)
        if version == V2:  # the kernel's answer to cpuset.cpus
            (group.directories[0] / "cpuset.cpus.effective").write_text("0,2\n")
        settings = group.settings()
        assert settings == Settings(processors=PROCESSORS, memory_byte=8 * MEBIBYTE, cpu_quota=quota)


class TestAccounting:
    def test_version_1_counts_cpu_time_in_nanoseconds(self, tmp_path: Path) -> None:
        assert fake_group(tmp_path, V1, cpuacct__cpuacct__usage="1500000000\n").cpu_s() == 1.5

    def test_version_2_counts_cpu_time_in_microseconds(self, tmp_path: Path) -> None:
        text = "usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\ncore_sched.force_idle_usec 0\n"
        assert fake_group(tmp_path, V2, cpu__cpu__stat=text).cpu_s() == 2.5

    @pytest.mark.parametrize("version", [V1, V2])
    def test_no_time_used_is_zero_and_no_accounting_is_none(self, version: int, tmp_path: Path) -> None:
        assert fake_group(tmp_path, version).cpu_s() is None
        if version == V1:
            assert fake_group(tmp_path, V1, cpuacct__cpuacct__usage="0\n").cpu_s() == 0.0
        else:
            assert fake_group(tmp_path, V2, cpu__cpu__stat="usage_usec 0\n").cpu_s() == 0.0

    def test_version_1_counts_what_the_memory_limit_killed(self, tmp_path: Path) -> None:
        text = "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"
        assert fake_group(tmp_path, V1, memory__memory__oom_control=text).memory_kills() == 2

    def test_version_2_counts_what_the_memory_limit_killed(self, tmp_path: Path) -> None:
        text = "low 0\nhigh 0\nmax 31\noom 1\noom_kill 1\noom_group_kill 0\n"
        assert fake_group(tmp_path, V2, memory__memory__events=text).memory_kills() == 1

    def test_a_kernel_that_does_not_count_kills_is_none(self, tmp_path: Path) -> None:
        old = fake_group(tmp_path, V1, memory__memory__oom_control="oom_kill_disable 0\nunder_oom 0\n")
        assert old.memory_kills() is None


class TestProcesses:
    @pytest.mark.parametrize("version", [V1, V2])
    def test_those_of_groups_below_count_and_none_twice(self, version: int, tmp_path: Path) -> None:
        group = fake_group(tmp_path, version)
        below = group.directories[0] / "below"
        below.mkdir()
        (below / "cgroup.procs").write_text("7\n")
        for directory in group.directories:
            (directory / "cgroup.procs").write_text("12\n5\n")
        assert group.processes() == [5, 7, 12]

    def test_a_process_of_another_namespace_is_never_taken_for_process_0(self, version_2: Group) -> None:
        (version_2.directories[0] / "cgroup.procs").write_text("0\n0\n31\n")
        assert version_2.processes() == [31]

    @pytest.mark.parametrize(("version", "controller"), [(V1, "cpuacct"), (V2, "cpu")])
    def test_those_whose_time_is_counted_are_where_it_is(
        self, version: int, controller: str, tmp_path: Path
    ) -> None:
        group = fake_group(tmp_path, version, **{f"{controller}__cgroup.procs": "5\n7\n"})
        assert group.counted() == {5, 7}

    def test_without_a_controller_that_counts_no_process_is_counted(self, tmp_path: Path) -> None:
        assert Group(V1, {"memory": tmp_path}).counted() == set()

    def test_the_controllers_that_do_not_hold_a_process_are_named(self, version_1: Group) -> None:
        for directory in version_1.directories:
            (directory / "cgroup.procs").write_text("" if "memory" in directory.parts else "5\n")
        assert version_1.lacks(5) == ["memory"]
        assert version_1.lacks(6) == ["cpuset", "cpu", "cpuacct", "memory"]

    def test_a_threaded_group_cannot_be_asked_and_stops_nobody(self, version_2: Group) -> None:
        (version_2.directories[0] / "cgroup.procs").mkdir()  # reading fails, as with EOPNOTSUPP
        assert version_2.processes() == []


class TestCreation:
    def test_version_2_hands_the_controllers_down_from_the_top(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(cgroups, "find_hierarchies", lambda: hierarchies_2(tmp_path))
        group = cgroups.create_own_group("node")
        assert group.directories == [tmp_path / "tare" / "node"]
        wanted = "+cpuset +cpu +memory +pids"
        for directory in (tmp_path, tmp_path / "tare"):
            assert (directory / "cgroup.subtree_control").read_text() == wanted
        assert not (tmp_path / "tare" / "node" / "cgroup.subtree_control").exists()

    def test_controllers_that_are_not_delegated_are_an_error_with_a_way_out(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(cgroups, "find_hierarchies", lambda: hierarchies_2(tmp_path))
        (tmp_path / "cgroup.subtree_control").mkdir()
        with pytest.raises(NodeError, match=r"cannot hand the controllers cpuset, cpu, .* delegated"):
            cgroups.create_own_group("node")

    def test_version_1_fills_the_parents_cpuset_from_the_root_and_lets_all_below_have_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        names = ("cpuset", "cpu", "cpuacct", "memory")
        for name in names:
            (tmp_path / name / "tare").mkdir(parents=True)
        for name, text in {"cpuset.cpus": "0-3\n", "cpuset.mems": "0\n"}.items():
            (tmp_path / "cpuset" / name).write_text(text)
            (tmp_path / "cpuset" / "tare" / name).write_text("\n")
        hierarchies = cgroups.Hierarchies(version=V1, mounts={name: tmp_path / name for name in names})
        monkeypatch.setattr(cgroups, "find_hierarchies", lambda: hierarchies)
        group = cgroups.create_own_group("node")
        assert all(directory.is_dir() for directory in group.directories)
        assert (tmp_path / "cpuset" / "tare" / "cpuset.cpus").read_text() == "0-3\n"
        assert (tmp_path / "cpuset" / "tare" / "cpuset.mems").read_text() == "0\n"
        assert (tmp_path / "cpuset" / "tare" / "cgroup.clone_children").read_text() == "1"

    def test_a_parent_that_another_run_removes_meanwhile_is_made_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(cgroups, "find_hierarchies", lambda: hierarchies_2(tmp_path))
        made = cgroups._create_parent
        calls = []

        def removed_once(hierarchies: cgroups.Hierarchies) -> None:
            made(hierarchies)
            calls.append(hierarchies)
            if len(calls) == 1:
                (tmp_path / "tare" / "cgroup.subtree_control").unlink()
                (tmp_path / "tare").rmdir()

        monkeypatch.setattr(cgroups, "_create_parent", removed_once)
        assert cgroups.create_own_group("node").directories[0].is_dir()
        assert len(calls) == 2

    def test_what_the_kernel_refuses_to_make_is_an_error_in_words(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(cgroups, "find_hierarchies", lambda: hierarchies_2(tmp_path))
        (tmp_path / "tare").write_text("in the way")
        with pytest.raises(NodeError, match=r"cannot make the control group .*/tare: .*; run as root"):
            cgroups.create_own_group("node")


def hierarchies_2(root: Path) -> cgroups.Hierarchies:
    return cgroups.Hierarchies(version=V2, mounts=dict.fromkeys(("cpuset", "cpu", "memory", "pids"), root))


@pytest.mark.parametrize(
    ("release", "ways"),
    [
        ("6.12.5-amd64", ["--into=/two/node"]),
        ("6.4.0", ["--into=/two/node"]),
        ("6.1.0-56-amd64", ["/two/node/cgroup.procs"]),
        ("5.15.179", ["/two/node/cgroup.procs"]),
        ("unknown", ["/two/node/cgroup.procs"]),
    ],
)
def test_a_command_begins_in_a_group_of_version_2_where_that_holds_it_to_the_groups_processors(
    monkeypatch: pytest.MonkeyPatch, release: str, ways: list[str]
) -> None:
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(release=release))
    assert Group(V2, {"cpu": Path("/two/node"), "memory": Path("/two/node")}).ways_in == ways


def test_a_command_is_moved_by_thread_in_version_1_and_begins_in_the_version_2_beside_it() -> None:
    group = Group(V1, {"cpu": Path("/cpu,cpuacct/node"), "cpuacct": Path("/cpu,cpuacct/node")})
    hybrid = Group(V1, {"cpu": Path("/cpu/node"), UNIFIED: Path("/unified/node")})
    assert group.ways_in == ["/cpu,cpuacct/node/tasks"]
    assert hybrid.ways_in == ["--into=/unified/node", "/cpu/node/tasks"]
