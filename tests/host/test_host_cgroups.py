# SPDX-License-Identifier: Apache-2.0
"""Which control groups a host has, and the kernel's lists of processors.

The hybrid host's mounts are recorded; the others are written after cgroups(7) and what systemd mounts.
"""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import REPOSITORY

from tare.errors import NodeError
from tare.host import cgroups
from tare.host.cgroups import V1, V2, find_hierarchies, format_processors, parse_processors
from tare.host.cgroups.hierarchies import parse_hierarchies

HYBRID = (REPOSITORY / "tests/outputs/host/virtual-machine/proc/self/mounts").read_text()
OTHERS = "proc /proc proc rw,nosuid,nodev,noexec,relatime 0 0\n/dev/sda1 / ext4 rw,cpu=none 0 0\n"
CO_MOUNTED = OTHERS + "".join(
    f"cgroup /sys/fs/cgroup/{name} cgroup rw,nosuid,nodev,noexec,relatime,{options} 0 0\n"
    for name, options in {
        "systemd": "xattr,release_agent=/lib/systemd/systemd-cgroups-agent,name=systemd",
        "cpu,cpuacct": "cpu,cpuacct",
        "cpuset": "cpuset",
        "memory": "memory",
        "net_cls,net_prio": "net_cls,net_prio",
        "freezer": "freezer",
        "pids": "pids",
    }.items()
)
PURE = OTHERS + (
    "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev,noexec,relatime,nsdelegate,memory_recursiveprot 0 0\n"
)


class TestFindHierarchies:
    def test_split_controllers_of_version_1_are_found_each_at_its_place(self) -> None:
        text = "".join(line for line in HYBRID.splitlines(keepends=True) if "cgroup2" not in line)
        hierarchies = parse_hierarchies(text)
        assert hierarchies.version == V1
        assert hierarchies.mounts == {
            name: Path("/sys/fs/cgroup", name)
            for name in ("cpu", "cpuacct", "cpuset", "memory", "freezer", "pids", "blkio")
        }

    def test_co_mounted_controllers_share_one_place_and_one_root(self) -> None:
        hierarchies = parse_hierarchies(CO_MOUNTED)
        assert hierarchies.version == V1
        assert (
            hierarchies.mounts["cpu"] == hierarchies.mounts["cpuacct"] == Path("/sys/fs/cgroup/cpu,cpuacct")
        )
        assert len(hierarchies.roots) == 5

    def test_a_hybrid_host_is_version_1_with_the_empty_unified_hierarchy_beside(self) -> None:
        hierarchies = parse_hierarchies(HYBRID)
        assert hierarchies.version == V1
        assert hierarchies.mounts["unified"] == Path("/sys/fs/cgroup/unified")
        assert hierarchies.mounts["memory"] == Path("/sys/fs/cgroup/memory")

    def test_pure_version_2_has_all_controllers_at_one_place(self) -> None:
        hierarchies = parse_hierarchies(PURE)
        assert hierarchies.version == V2
        assert hierarchies.roots == [Path("/sys/fs/cgroup")]
        assert set(hierarchies.mounts) == {"cpuset", "cpu", "memory", "pids", "io"}

    def test_a_controller_mounted_twice_is_used_where_it_was_mounted_first(self) -> None:
        again = "cgroup /var/lib/other cgroup rw,cpu,cpuacct 0 0\n"
        assert parse_hierarchies(CO_MOUNTED + again).mounts["cpu"] == Path("/sys/fs/cgroup/cpu,cpuacct")

    def test_nothing_mounted_is_an_error_that_says_what_to_mount(self) -> None:
        with pytest.raises(NodeError, match="no control groups are mounted; mount cgroup2"):
            parse_hierarchies(OTHERS)

    def test_missing_controllers_of_version_1_are_named(self) -> None:
        text = "".join(line for line in HYBRID.splitlines(keepends=True) if "cpuset" not in line)
        with pytest.raises(NodeError, match="controllers cpuset are not mounted"):
            parse_hierarchies(text)

    def test_an_option_of_another_file_system_is_no_controller(self) -> None:
        with pytest.raises(NodeError, match="no control groups"):
            parse_hierarchies("none /mnt tmpfs rw,cpu,cpuset,cpuacct,memory 0 0\n")

    def test_this_hosts_own_are_read_by_default(self) -> None:
        if not Path("/proc/self/mounts").read_text().count("cgroup"):
            pytest.skip("no control groups are mounted here")
        assert all(root.is_dir() for root in find_hierarchies().roots)


class TestSwap:
    @pytest.mark.parametrize("there", [True, False])
    def test_version_1_tells_in_its_root(self, there: bool, tmp_path: Path) -> None:
        if there:
            (tmp_path / "memory.memsw.limit_in_bytes").touch()
        hierarchies = cgroups.Hierarchies(version=V1, mounts={"memory": tmp_path})
        assert hierarchies.counts_swap() is there

    @pytest.mark.parametrize("there", [True, False])
    def test_version_2_tells_in_any_group_but_the_root(self, there: bool, tmp_path: Path) -> None:
        (tmp_path / "init.scope").mkdir()
        if there:
            (tmp_path / "init.scope" / "memory.swap.max").touch()
        hierarchies = cgroups.Hierarchies(version=V2, mounts={"memory": tmp_path})
        assert hierarchies.counts_swap() is there


class TestProcessors:
    @given(st.sets(st.integers(0, 1023), min_size=1))
    def test_what_is_written_is_read_back(self, numbers: set[int]) -> None:
        processors = tuple(sorted(numbers))
        assert parse_processors(format_processors(processors)) == processors

    @given(st.integers(0, 500), st.integers(0, 500), st.integers(501, 600))
    def test_ranges_stand_for_every_number_in_them(self, first: int, more: int, single: int) -> None:
        last = min(first + more, 500)
        assert parse_processors(f"{first}-{last},{single}\n") == (*range(first, last + 1), single)

    def test_nothing_is_no_processor(self) -> None:
        assert parse_processors("\n") == ()


class TestGroupOf:
    def test_a_process_that_is_gone_is_an_error_in_words(self) -> None:
        with pytest.raises(NodeError, match="process 4194305 of the node has ended"):
            cgroups.group_of(4194305)

    def test_this_process_is_in_the_group_that_is_found_for_it(self) -> None:
        assert cgroups.group_of(os.getpid()).lacks(os.getpid()) == []
