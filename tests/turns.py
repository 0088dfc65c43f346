# SPDX-License-Identifier: Apache-2.0
"""Which tests run at once, and which belong to ``make test-quick``: what a test starts decides both.

``make test`` has three processes, on two processors as well, since tests of nodes wait for most of their time. Nodes
that share the host's kernel are tested in one process, guests and hosts reached by ssh in another, and what starts no
node in whichever is free. A test that looks whether anything was left on the machine needs it alone.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

import pytest

_BESIDE = {
    "tests",
    "analyze",
    "calibrate",
    "commands",
    "drawing",
    "engines",
    "golden",
    "journal",
    "native",
    "npb",
    "plan",
    "profile",
    "report",
    "scripts",
    "serve",
    "statistics",
    "treat",
    "workloads",
}
"""Folders of tests that start nothing, or nothing but campaigns of fakes or programs outside of any node."""
_NODES = {
    "test_commands_image",
    "test_docs",
    "test_doctor",
    "test_native_guest_ending",
    "test_report_curves",
    "test_scripts_with_dockerd",
}
"""Files there that start more all the same, as those do that end in ``_real``."""
_REST = {"analyze", "statistics"}
"""Of these folders, two that take two minutes."""
_FAKED = {
    "test_measure_clock_watch",
    "test_measure_folder_lock",
    "test_measure_lost_hosts",
    "test_measure_session",
}
"""Files elsewhere that start no node either."""
_GUESTS = ("libvirt", "managed", "qemu", "slurm", "ssh", "virtualbox", "vmware")
"""What folders, files and parameters of tests with guests or other hosts begin with."""
_FILE_PREFIX = "test_environments_"
_REAL = {"cluster", "docker_daemon", "image", "machine", "programs", "sshd", "user", "vcenter"}
"""Fixtures by which a test starts something of this machine, or needs what the set-up has built."""
_SLOW = {
    "test_analyze_decisions",
    "test_analyze_families",
    "test_analyze_foresight",
    "test_analyze_intervention",
    "test_analyze_looks",
    "test_analyze_ranking",
    "test_analyze_simulation",
    "test_analyze_simulation_equal",
    "test_analyze_slow_runs",
    "test_analyze_steadiness",
    "test_calibrate_truth",
    "test_docs",
    "test_docs_with_fakes",
    "test_hostile_journals",
    "test_hostile_parsers",
    "test_image_unity",
    "test_journal_bounded",
    "test_plan_broken_files",
    "test_report_browser",
    "test_report_curves",
    "test_serve_browser",
    "test_statistics_coverage",
    "test_statistics_sharper",
}
"""Files that simulate many campaigns, drive a browser or try thousands of inputs; single tests have the mark."""
_DOOR, _ROOM = Path(__file__), Path(__file__).with_name("machine.py")
"""Files that all processes have, to be locked."""


class Turn(StrEnum):
    """In the order in which the processes take them, so that none waits long for the other."""

    MACHINE = "machine"
    BESIDE = "beside"
    NODES = "nodes"
    GUESTS = "guests"
    REST = "rest"
    """As BESIDE: for whoever is done."""


_FREE = {Turn.BESIDE, Turn.REST}


def turn_of(item: pytest.Item) -> Turn:
    """What may run at the same time as this test."""
    if "machine" in getattr(item, "fixturenames", ()):
        return Turn.MACHINE
    folder, file = item.path.parent.name, item.path.stem
    if not _starts_nodes(item.path):
        return Turn.REST if folder in _REST else Turn.BESIDE
    parameter = item.name.partition("[")[2]
    names = (folder, file.removeprefix(_FILE_PREFIX), parameter)
    return Turn.GUESTS if any(name.startswith(_GUESTS) for name in names) else Turn.NODES


def _starts_nodes(file: Path) -> bool:
    if file.stem in _FAKED:
        return False
    return file.parent.name not in _BESIDE or file.stem in _NODES or file.stem.endswith("_real")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave files unread of which no test is wanted, where the expression says so plainly; ``None``: others decide."""
    if not collection_path.match("test_*.py"):
        return None
    expression = config.getoption("markexpr")
    plain = [] if " or " in expression or "(" in expression else expression.split(" and ")
    unreal = "not real" in plain and _starts_nodes(collection_path)
    return unreal or ("not slow" in plain and collection_path.stem in _SLOW) or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is real or slow, and name the groups that pytest-xdist keeps in one process; light tests go by file."""
    order = list(Turn)
    items.sort(key=lambda item: order.index(turn_of(item)))
    for item in items:
        turn = turn_of(item)
        if turn not in _FREE or _REAL.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.real)
        if item.path.stem in _SLOW:
            item.add_marker(pytest.mark.slow)
        item.add_marker(pytest.mark.xdist_group(item.path.stem if turn in _FREE else turn.value))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuse to go on without the groups: pytest 9.2 drops the names that pytest-xdist 3.8 gives them."""
    if hasattr(session.config, "workerinput") and not all("@" in item.nodeid for item in session.items):
        raise pytest.UsageError(
            "the tests' groups are lost, so that a test of the whole machine would not have it alone"
        )


@pytest.hookimpl(tryfirst=True, wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Wait for one's turn before the test's own time limit begins; a test that runs others keeps it for them."""
    turn = turn_of(item)
    if turn in _FREE or not hasattr(item.config, "workerinput"):
        return (yield)
    with _room(alone=turn is Turn.MACHINE):
        return (yield)


@contextmanager
def _room(*, alone: bool) -> Iterator[None]:
    """Share the machine or have it alone. Who waits to have it holds the door, so that nobody else slips in."""
    kind = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
    with _lock(_DOOR, fcntl.LOCK_EX) as door, _lock(_ROOM, kind):
        fcntl.flock(door, fcntl.LOCK_UN)
        yield


@contextmanager
def _lock(file: Path, kind: int) -> Iterator[int]:
    """A lock of all who run these files; it is given back even if a process of the test holds a copy of it."""
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, kind)
        yield descriptor
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)
