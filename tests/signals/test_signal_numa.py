# SPDX-License-Identifier: Apache-2.0
"""Memory on other NUMA nodes: of both versions' texts, of made-up hosts of several nodes, and missing on one."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from tests.signals.signal_texts import PLACE, text

from tare.host.cgroups import Group
from tare.host.cgroups.hierarchies import V1, V2
from tare.signals.family import Unreadable, keyed
from tare.signals.memory import HostMemory
from tare.signals.numa import RemoteMemory, near_line, numa_nodes
from tare.signals.place import Place
from tare.signals.watch import watched_signals

TWO = {0: frozenset({0, 1}), 1: frozenset({2, 3})}
PAGE_BYTE = os.sysconf("SC_PAGE_SIZE")
MEBIBYTE = 1 << 20


def remote_byte(name: str, *near: int) -> float:
    return RemoteMemory().parse(near_line(near) + text(f"memory.numa_stat.{name}"), PLACE)[
        "remote_memory_byte"
    ]


def on_host(tmp_path: Path, name: str, *processors: tuple[int, ...]) -> Place:
    """As many nodes of a trial as there are ``processors``, each with a group that says what is recorded there."""
    groups = []
    for number in range(len(processors)):
        folder = tmp_path / f"n{number}"
        folder.mkdir()
        (folder / "memory.numa_stat").write_bytes(text(f"memory.numa_stat.{name}"))
        groups.append(Group(V1 if "v1" in name else V2, {"memory": folder}))
    return Place(processors=sum(processors, ()), groups=tuple(groups), group_processors=processors)


def level(place: Place, nodes: dict[int, frozenset[int]]) -> float:
    with watched_signals(place, [RemoteMemory(nodes)]) as watch:
        watch.begin()
        watch.end()
    (signal,) = watch.found().signals
    return signal.value


def test_version_1_counts_pages_of_the_group_with_those_below() -> None:
    assert remote_byte("v1-two", 0) == 8000 * PAGE_BYTE
    assert remote_byte("v1-two", 1) == 12000 * PAGE_BYTE


def test_version_2_counts_bytes_of_anonymous_memory_and_files() -> None:
    assert remote_byte("v2-two", 0) == 5 * MEBIBYTE
    assert remote_byte("v2-two", 1) == 12 * MEBIBYTE


def test_no_memory_is_remote_where_all_nodes_are_near() -> None:
    assert remote_byte("v1-two", 0, 1) == remote_byte("v2-two", 0, 1) == remote_byte("v1", 0) == 0


@pytest.mark.parametrize(
    "broken",
    [
        b"near 0\n",
        b"near x\nanon N0=1 N1=2\n",
        b"anon N0=1 N1=2\n",
        b"near 0\nanon\n",
        b"near 0\nanon N0=1 N1=many\n",
        b"near 0\nanon 1 2\n",
        b"near 0\nhierarchical_total=3 0=1\n",
    ],
)
def test_a_text_that_names_no_nodes_is_refused(broken: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        RemoteMemory().parse(broken, PLACE)


@pytest.mark.parametrize("name", ["v1-two", "v2-two"])
def test_each_node_of_a_trial_is_near_its_own_processors(tmp_path: Path, name: str) -> None:
    place = on_host(tmp_path, name, (0, 1), (3,))
    assert level(place, TWO) == remote_byte(name, 0) + remote_byte(name, 1)


def test_a_node_on_processors_of_both_has_nothing_remote(tmp_path: Path) -> None:
    assert level(on_host(tmp_path, "v2-two", (1, 2)), TWO) == 0


def test_a_node_of_memory_alone_is_near_to_nobody(tmp_path: Path) -> None:
    expanded = {0: frozenset({0, 1, 2, 3}), 1: frozenset[int]()}
    assert level(on_host(tmp_path, "v2-two", (0, 1, 2, 3)), expanded) == remote_byte("v2-two", 0)


def test_on_a_host_with_one_node_it_is_missing_with_that_reason(tmp_path: Path) -> None:
    place = on_host(tmp_path, "v1", (0,))
    with pytest.raises(Unreadable, match="this host has one NUMA node"):
        RemoteMemory({0: frozenset({0, 1})}).sources(place)


def test_a_kernel_that_shows_no_nodes_and_nodes_without_groups_are_named(tmp_path: Path) -> None:
    place = on_host(tmp_path, "v1", (0,))
    with pytest.raises(Unreadable, match="does not show"):
        RemoteMemory({}).sources(place)
    with pytest.raises(Unreadable, match="no control group"):
        RemoteMemory(TWO).sources(replace(place, groups=(), group_processors=()))


def test_the_hosts_nodes_are_read_with_their_processors(tmp_path: Path) -> None:
    for name, processors in {"node0": "0-1\n", "node1": "2,3\n", "node10": "\n"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "cpulist").write_text(processors)
    (tmp_path / "possible").write_text("0-10\n")
    assert numa_nodes(tmp_path) == {**TWO, 10: frozenset()}
    assert numa_nodes(tmp_path / "none") == {}


def test_moved_pages_and_hint_faults_are_the_hosts_own_counts() -> None:
    recorded = text("vmstat").replace(b"numa_pages_migrated 0", b"numa_pages_migrated 7")
    result = HostMemory().parse(recorded, PLACE)
    assert (result["numa_pages_migrated"], result["numa_hint_faults"]) == (7, 0)
    assert keyed(text("vmstat"), ["numa_hint_faults"])["numa_hint_faults"] == 0


def test_a_kernel_without_numa_balancing_counts_neither() -> None:
    lines = [line for line in text("vmstat").splitlines(keepends=True) if not line.startswith(b"numa_")]
    assert not {"numa_pages_migrated", "numa_hint_faults"} & set(HostMemory().parse(b"".join(lines), PLACE))
