# SPDX-License-Identifier: Apache-2.0
"""Counts taken on the host while the commands of a trial run."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tare.measure.seats import Seat
from tare.measure.steal import ThreadTimes, ThreadWatch
from tare.nodes.group import LocalGroup
from tare.nodes.provider import Node, NodeGroup, Provider

_PROCESS_CLOCK = 2
"""CPUCLOCK_SCHED of the kernel's posix-timers.h: time on a processor, of the whole process."""


class Fuse:
    """The fuse of nodes with a group on this host; guests and other hosts have their own.

    Killing one process after the other fails against processes that fork in the meantime.
    """

    def __init__(self, groups: Sequence[NodeGroup]) -> None:
        self._groups = [node_group.group for node_group in groups if isinstance(node_group, LocalGroup)]
        self._refused = self._count()

    def has_blown(self) -> bool:
        """Whether a limit has refused a process since the last reset."""
        return self._count() > self._refused

    def blow(self) -> None:
        """Let no process start in the nodes until ``mend``."""
        for group in self._groups:
            group.forbid_forks()

    def mend(self) -> None:
        """Restore each node's limit; earlier refusals no longer count."""
        for group in self._groups:
            group.allow_forks()
        self._refused = self._count()

    def _count(self) -> int:
        return sum(group.refused_processes() or 0 for group in self._groups)


class Watched:
    """What to watch: the nodes' control groups, their helpers, and their vCPU threads."""

    def __init__(
        self,
        provider: Provider,
        nodes: Sequence[Node],
        groups: Sequence[NodeGroup],
        seats: Sequence[Seat],
        before: "Victims | None" = None,
    ) -> None:
        """``before``: the victims of the nodes' earlier trials, if several share one start."""
        self.provider, self.nodes = provider, tuple(nodes)
        self.groups, self.seats = list(groups), tuple(seats)
        self.memory_byte = nodes[0].spec.memory_byte
        self.processes = nodes[0].spec.bounds.processes
        self._before = before or Victims()
        self.fuse = Fuse(groups)
        beside = [seat.provider.group(seat.node) for seat in seats if seat.node not in nodes]
        self.launchers = [group for group in beside if group is not None]
        self.all_groups = [*groups, *self.launchers]

    def victims(self) -> "Victims":
        """Victims of the nodes' limits in this trial."""
        now = victims(self.groups)
        return Victims(
            killed=now.killed - self._before.killed,
            refused=now.refused - self._before.refused,
        )

    def helpers(self) -> list[int]:
        """PIDs of the present helpers: some appear with each command that enters."""
        return list(dict.fromkeys(pid for node in self.nodes for pid in self.provider.helpers(node)))

    def virtual_processors(self) -> list[int]:
        return [thread for node in self.nodes for thread in self.provider.virtual_processors(node)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Victims:
    """Number of processes that were ended or prevented by a limit."""

    killed: int = 0
    """By the memory limit."""
    refused: int = 0
    """By the process limit."""


def victims(groups: Sequence[NodeGroup]) -> Victims:
    """Victims since the groups' start; a group whose kernel does not count them adds none."""
    return Victims(
        killed=sum(group.memory_kills() or 0 for group in groups),
        refused=sum(group.refused_processes() or 0 for group in groups),
    )


class Counters:
    """All counts from now to ``stop``; ``None``: absent or unreadable."""

    def __init__(self, watched: Watched) -> None:
        serving = watched.helpers()
        self.helpers = len(serving)
        self.cpu_s: float | None = None
        self.helper_cpu_s: float | None = None
        self.vcpu_wait_s: float | None = None
        self._threads = watched.virtual_processors()
        self._processors = ThreadWatch(self._threads, serving)
        self._cost = HelperMeter(serving)
        self._usage = CpuUsage(watched.all_groups)

    def stop(self) -> None:
        self.cpu_s = self._usage.used_s()
        used = self._processors.used()
        if used is not None or not self._threads:  # else an unknown part of a helper's time is the node's
            self.helper_cpu_s = self._cost.used_s(used)
        self.vcpu_wait_s = None if used is None else used.wait_s


class CpuUsage:
    """CPU time of the nodes' groups from now on."""

    def __init__(self, groups: Sequence[NodeGroup]) -> None:
        self._groups = groups
        self._before = self._now()

    def used_s(self) -> float | None:
        """CPU time so far; ``None`` if a group does not report it."""
        after = self._now()
        return None if self._before is None or after is None else after - self._before

    def _now(self) -> float | None:
        readings = [group.cpu_s() for group in self._groups]
        known = [reading for reading in readings if reading is not None]
        return sum(known) if known and len(known) == len(readings) else None


def cpu_ns(pid: int) -> int | None:
    """CPU time of a process by clock_getcpuclockid(3), which Python lacks; ``None`` if it is gone."""
    try:
        return time.clock_gettime_ns((~pid << 3) | _PROCESS_CLOCK)
    except OSError:
        return None


class HelperMeter:
    """CPU time of these processes from now on."""

    def __init__(self, pids: Iterable[int]) -> None:
        self._before = {pid: cpu_ns(pid) for pid in pids}

    def used_s(self, of_the_node: ThreadTimes | None = None) -> float | None:
        """CPU time so far, minus the time of threads that are the node's own processors.

        ``None`` without processes, or if one is or was gone: part of a cost is no cost.
        """
        if not self._before:
            return None
        spans = [(before, cpu_ns(pid)) for pid, before in self._before.items()]
        total_ns = -of_the_node.run_ns if of_the_node else 0
        for before, after in spans:
            if before is None or after is None:
                return None
            total_ns += after - before
        return max(0.0, total_ns * 1e-9)  # a thread's time may lag by a timer tick
