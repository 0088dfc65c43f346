# SPDX-License-Identifier: Apache-2.0
"""One control group, version 1 or 2: its limits, its processes, its use, and its removal."""

import errno
import os
import re
import select
import signal
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tare.errors import NodeError
from tare.host.cgroups.hierarchies import UNIFIED, V1
from tare.host.cgroups.processors import format_processors, parse_processors
from tare.host.kernel_files import read_text, write_text
from tare.host.trees import entries_below

_PERIOD_US = 100_000
_UNLIMITED_BYTE = 1 << 60
_LINKS_OF_LEAF = 2
_END_LIMIT_S = 0.1
"""After this, processes that have not ended are killed again."""
MOST_WEIGHT = 100
"""In usual weights: cpu.weight ends at 10 000 (the kernel's admin-guide page for cgroup-v2)."""
_HOLDS_CHILDREN = (6, 4)
"""Before this kernel a child that began in a version 2 group kept its parent's processors instead of the group's.

Commit 42a11bf5c543, "cgroup/cpuset: Make cpuset_fork() handle CLONE_INTO_CGROUP properly".
"""
Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The limits of a group; ``None``: no limit."""

    processors: tuple[int, ...] | None
    memory_byte: int | None
    cpu_quota: float | None
    processes: int | None = None


class Group:
    """One control group: the same path below each hierarchy's mount point, or one per controller."""

    def __init__(self, version: int, directories: Mapping[str, str | Path]) -> None:
        self.version = version
        self._directories = {key: str(directory) for key, directory in directories.items()}
        self.paths = list(dict.fromkeys(self._directories.values()))
        """Each once, as hierarchies mounted together share a path."""
        self._forks_before: str | None = None

    @property
    def directories(self) -> list[Path]:
        return list(map(Path, self.paths))

    @property
    def process_files(self) -> list[str]:
        return [f"{path}/cgroup.procs" for path in self.paths]

    @property
    def ways_in(self) -> list[str]:
        """Arguments for the image's ``join`` to start a command in the group without the kernel's wait for a move.

        Where the kernel would not hold a child to the group's processors, the command is moved anyway. Not for
        ``named_groups``, which do not say which of them belongs to version 2.
        """
        if self.version != V1 and not _holds_children():
            return self.process_files
        if self.version != V1:
            return [f"--into={path}" for path in self.paths]
        beside = self._directories.get(UNIFIED)
        return [
            *([] if beside is None else [f"--into={beside}"]),
            *(f"{path}/tasks" for path in self.paths if path != beside),
        ]

    def path(self, controller: str) -> str | None:
        """The group's directory; ``None`` when the controller is missing."""
        return self._directories.get(controller)

    def file(self, controller: str, name: str) -> Path | None:
        """The path of the group's file of this name; ``None`` when the controller is missing."""
        path = self.path(controller)
        return None if path is None else Path(path, name)

    def _read(self, controller: str, name: str) -> str | None:
        directory = self._directories.get(controller)
        return None if directory is None else read_text(f"{directory}/{name}")

    def _write(self, controller: str, name: str, value: str) -> None:
        path = f"{self._directories[controller]}/{name}"
        try:
            write_text(path, value)
        except OSError as error:
            raise NodeError(f"the control group refuses {value!r} for {path}: {error.strerror}") from error

    def _inherited(self, controller: str, name: str) -> list[str]:
        """Version 2: this file's text in the group and the groups above it, whose limits apply here too."""
        own = self._directories.get(controller)
        texts = (read_text(f"{path}/{name}") for path in (() if own is None else (own, *Path(own).parents)))
        return [text for text in texts if text is not None]

    def cpu_s(self) -> float | None:
        """CPU time that the group's processes have used, by the host's accounting; ``None`` if it keeps none."""
        if self.version == V1:
            usage_ns = self._read("cpuacct", "cpuacct.usage")
            return int(usage_ns) / 1e9 if usage_ns else None
        usage_us = _keyed(self._read("cpu", "cpu.stat")).get("usage_usec")
        return usage_us / 1e6 if usage_us is not None else None

    def memory_kills(self) -> int | None:
        """How many processes the memory limit has killed; ``None`` if the kernel does not count them."""
        name = "memory.oom_control" if self.version == V1 else "memory.events"
        return _keyed(self._read("memory", name)).get("oom_kill")

    def refused_processes(self) -> int | None:
        """How often a limit on processes has refused one of its processes another; ``None`` if that is not counted."""
        return _keyed(self._read("pids", "pids.events")).get("max")

    def settings(self) -> Settings:
        if self.version == V1:
            return Settings(
                processors=_processors(self._read("cpuset", "cpuset.cpus")),
                memory_byte=_limit(self._read("memory", "memory.limit_in_bytes")),
                cpu_quota=_quota(
                    self._read("cpu", "cpu.cfs_quota_us"), self._read("cpu", "cpu.cfs_period_us")
                ),
                processes=_limit(self._read("pids", "pids.max")),
            )
        # systemd-nspawn may put its payload below the group that has the limits.
        effective = self._inherited("cpuset", "cpuset.cpus.effective")
        quotas = [_quota(*text.partition(" ")[::2]) for text in self._inherited("cpu", "cpu.max")]
        return Settings(
            processors=_processors(effective[0]) if effective else None,
            memory_byte=_least([_limit(text) for text in self._inherited("memory", "memory.max")]),
            cpu_quota=_least(quotas),
            # Only the nearest: the groups above are the same for all nodes, as the comparison with native's says.
            processes=next(filter(None, map(_limit, self._inherited("pids", "pids.max"))), None),
        )

    def processes(self, hierarchies: int | None = None) -> list[int]:
        """Process ids in the group and the groups below it; from only so many hierarchies where they are alike."""
        return sorted(set().union(*map(_processes, self.paths[:hierarchies])))

    def counted(self) -> set[int]:
        """Its processes whose time ``cpu_s`` counts: one of version 1's hierarchies counts it."""
        directory = self._directories.get("cpuacct" if self.version == V1 else "cpu")
        return set() if directory is None else _processes(directory)

    def lacks(self, pid: int) -> list[str]:
        """The controllers whose group does not hold this process."""
        own = {key: path for key, path in self._directories.items() if key != UNIFIED}
        holders = {path for path in self.paths if pid in _processes(path)}
        return [key for key, path in own.items() if path not in holders]

    def limit(
        self,
        processors: tuple[int, ...],
        memory_byte: int,
        cpu_quota: float | None,
        processes: int | None = None,
    ) -> None:
        """Set the limits; swap counts as memory, so that none can be used in addition.

        A kernel without the pids controller limits no number of processes.
        """
        quota_us = None if cpu_quota is None else round(cpu_quota * _PERIOD_US)
        if self.version == V1:
            self._write("cpuset", "cpuset.mems", self._memory_nodes())  # version 2 inherits when it is empty
            self._write("cpu", "cpu.cfs_period_us", str(_PERIOD_US))
            self._write("cpu", "cpu.cfs_quota_us", str(-1 if quota_us is None else quota_us))
            self._write("memory", "memory.limit_in_bytes", str(memory_byte))
        else:
            self._write("cpu", "cpu.max", f"{'max' if quota_us is None else quota_us} {_PERIOD_US}")
            self._write("memory", "memory.max", str(memory_byte))
        self._write("cpuset", "cpuset.cpus", format_processors(processors))
        self._forbid_swap(memory_byte)
        if processes is not None and "pids" in self._directories:
            self._write("pids", "pids.max", str(processes))

    def weigh(self, nodes: int) -> None:
        """Give it this many times the kernel's usual CPU weight; version 2 refuses more than ``MOST_WEIGHT``."""
        name, usual = ("cpu.shares", 1024) if self.version == V1 else ("cpu.weight", 100)
        self._write("cpu", name, str(nodes * usual))

    def _memory_nodes(self) -> str:
        return self._read("cpuset", "../cpuset.mems") or ""

    def _forbid_swap(self, memory_byte: int) -> None:
        name, value = (
            ("memory.memsw.limit_in_bytes", memory_byte) if self.version == V1 else ("memory.swap.max", 0)
        )
        if os.path.exists(f"{self._directories['memory']}/{name}"):  # noqa: PTH110 - for every node
            self._write("memory", name, str(value))

    def remove(self, timeout_s: float = 10.0) -> None:
        """Kill everything in it and remove it with the groups below; ``NodeError`` if it cannot be removed."""
        busy = next((path for path in self.paths if not _is_removed(path)), None)
        if busy is None:
            return
        deadline = time.monotonic() + timeout_s
        self.forbid_forks()
        pids = _processes(busy)  # nearly always all of its processes are in each hierarchy
        while True:
            self._kill(pids)
            left = [path for path in self.paths if not _is_removed_with_all_below(path)]
            if not left:
                return
            if time.monotonic() > deadline:
                raise NodeError(f"the control group {left[0]} is still busy after {timeout_s:.0f} s")
            time.sleep(0.001)
            pids = set(self.processes())

    def forbid_forks(self) -> None:
        """Prevent new processes: listing and killing is too slow for fast forks. Harmless when the group is gone."""
        self._forks_before = self._forks_before or self._read("pids", "pids.max")
        self._allow("0")

    def allow_forks(self) -> None:
        """Allow as many processes as before ``forbid_forks``."""
        if self._forks_before is not None:
            self._allow(self._forks_before)
            self._forks_before = None

    def _still_here(self, pids: set[int]) -> set[int]:
        """Which of these are still in the group: the id of an ended process may be reused by now."""
        here: set[int] = set()
        for path in self.paths:
            if pids <= here:
                break
            here |= _processes(path) & pids
        return here

    def _allow(self, processes: str) -> None:
        for path in self.paths:
            _offer(f"{path}/pids.max", processes)

    def _kill(self, pids: Iterable[int]) -> None:
        """Kill all at once where the kernel can (version 2's cgroup.kill); else one by one, and no others.

        Returns when they have ended, or after a while.
        """
        for path in self.paths:
            _offer(f"{path}/cgroup.kill", "1")
        handles = {pid: _handle(pid) for pid in pids}
        for pid in self._still_here(set(handles)):
            _kill(pid, handles[pid])
        _await_ends([handle for handle in handles.values() if handle is not None])


def _holds_children() -> bool:
    numbers = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return numbers is not None and tuple(map(int, numbers.groups())) >= _HOLDS_CHILDREN


def _keyed(text: str | None) -> dict[str, int]:
    pairs = (line.split() for line in (text or "").splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}  # noqa: PLR2004 - a pair


def _processors(text: str | None) -> tuple[int, ...] | None:
    return parse_processors(text) if text else None


def _limit(text: str | None) -> int | None:
    if not text or text == "max" or int(text) >= _UNLIMITED_BYTE:
        return None
    return int(text)


def _quota(quota_us: str | None, period_us: str | None) -> float | None:
    if not quota_us or not period_us or quota_us in {"-1", "max"}:
        return None
    return int(quota_us) / int(period_us)


def _least(values: list[Number | None]) -> Number | None:
    return min((value for value in values if value is not None), default=None)


def _processes(directory: str) -> set[int]:
    """Ids of the processes in the group and below; 0 is a process of another PID namespace."""
    texts = (read_text(f"{path}/cgroup.procs") or "" for path in _deepest_first(directory))
    return {int(word) for text in texts for word in text.split()} - {0}


def _handle(pid: int) -> int | None:
    """A descriptor that stays this process's even if its id is reused (pidfd_open(2)); ``None`` without one."""
    with suppress(OSError):
        return os.pidfd_open(pid)
    return None


def _kill(pid: int, handle: int | None) -> None:
    with suppress(ProcessLookupError):
        if handle is None:
            os.kill(pid, signal.SIGKILL)
        else:
            signal.pidfd_send_signal(handle, signal.SIGKILL)


def _offer(path: str, text: str) -> None:
    """Write it if the file exists."""
    with suppress(OSError):
        write_text(path, text)


def _await_ends(handles: list[int]) -> None:
    """Wait until these processes have ended, for ``_END_LIMIT_S`` at most, and close the descriptors."""
    deadline = time.monotonic() + _END_LIMIT_S
    for handle in handles:
        ended = select.poll()
        ended.register(handle, select.POLLIN)
        ended.poll(max(0.0, deadline - time.monotonic()) * 1000)
        os.close(handle)


def _is_removed(directory: str) -> bool:
    """Remove the group if no process or group remains in it or below; return whether it is gone."""
    try:
        os.rmdir(directory)  # noqa: PTH106 - for every node, as in all of this module
    except OSError as error:
        # A read-only mount reports this even where no group exists.
        return error.errno != errno.EBUSY and not os.path.lexists(directory)
    return True


def _is_removed_with_all_below(directory: str) -> bool:
    if _is_removed(directory):
        return True
    for path in _deepest_first(directory)[:-1]:
        with suppress(OSError):
            os.rmdir(path)  # noqa: PTH106 - the same
    return _is_removed(directory)


def _deepest_first(directory: str) -> list[str]:
    """The group and the groups below it, except any that vanished meanwhile."""
    if _is_leaf(directory):
        return [directory]
    below = [entry.path for entry in entries_below(directory) if entry.is_dir(follow_symlinks=False)]
    return [*reversed(below), directory]


def _is_leaf(directory: str) -> bool:
    """Whether no group is below it: a folder has a link from itself, from its parent, and from each folder in it."""
    try:
        return os.stat(directory).st_nlink == _LINKS_OF_LEAF  # noqa: PTH116 - for eight groups, again and again
    except OSError:
        return True
