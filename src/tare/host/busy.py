# SPDX-License-Identifier: Apache-2.0
"""Which programs use the processors: two snapshots of /proc (proc(5)), and what each program did in between.

A snapshot only reads and leaves parsing for later, as it may be taken next to a measurement.
"""

import os
import pwd
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tare.errors import NodeError
from tare.host.cgroups import group_of
from tare.host.kernel_files import read_bytes
from tare.host.process_stats import ProcessStats

TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
_KERNEL_THREAD = 0x00200000
"""PF_KTHREAD of the kernel's sched.h, in a process's flags."""
_PARENT, _FLAGS, _OWN, _CHILDREN, _STARTED = 1, 6, slice(11, 13), slice(13, 15), 19
"""Places after the name in /proc/PID/stat."""
_STEAL = 8
_PERIOD_S = 0.1
"""The usual period of a CPU quota."""


@dataclass(frozen=True, slots=True)
class Process:
    """The fields of /proc/PID/stat."""

    pid: int
    parent: int
    started: int
    """In ticks since the host's start: together with the number it identifies a process forever."""
    name: str
    cpu_s: float
    """Its own CPU time and that of the children it has collected."""
    kernel: bool


@dataclass(frozen=True, slots=True)
class Used:
    """A running process, and the CPU time that it and its ended children used between two snapshots."""

    process: Process
    cpu_s: float


@dataclass(frozen=True, slots=True)
class Program:
    """Processes with the same name and user, and the mean number of processors they used."""

    name: str
    user: str | None
    pid: int
    """The busiest of them."""
    processors: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The texts read at one moment."""

    at_s: float
    """CLOCK_MONOTONIC."""
    processes: Mapping[int, bytes]
    """Process → its stat."""
    stat: bytes
    """/proc/stat; empty where it cannot be read."""
    throttled: tuple[bytes, ...]
    """cpu.stat of this process's control group and the groups above."""


def snapshot(stats: ProcessStats, quotas: Iterable[str] = ()) -> Snapshot:
    """Read all processes. ``quotas`` are the files from ``quota_files``."""
    at_s = time.monotonic()
    texts = stats.texts()
    quota_texts = tuple(read_bytes(path) or b"" for path in quotas)
    return Snapshot(at_s, texts, read_bytes("/proc/stat", 1 << 20) or b"", quota_texts)


def quota_files() -> tuple[str, ...]:
    """The files that count how often a quota throttled this process: in its control group and the groups above."""
    try:
        own = group_of(os.getpid()).path("cpu")
    except (NodeError, OSError, ValueError):
        return ()
    return () if own is None else _quota_files(own)


@lru_cache
def _quota_files(own: str) -> tuple[str, ...]:
    files = (folder / "cpu.stat" for folder in (Path(own), *Path(own).parents))
    return tuple(str(file) for file in files if file.exists())


def parse_process(text: bytes) -> Process:
    """The fields of one line; ``ValueError`` when it is incomplete; a name may hold spaces and brackets."""
    head, bracket, rest = text.rpartition(b")")
    number, opening, name = head.partition(b" (")
    fields = rest.split()
    if not (bracket and opening) or len(fields) <= _STARTED:
        raise ValueError("it is no whole line of a process")
    ticks = sum(map(int, (*fields[_OWN], *fields[_CHILDREN])))
    return Process(
        pid=int(number),
        parent=int(fields[_PARENT]),
        started=int(fields[_STARTED]),
        name=name.decode(errors="replace"),
        cpu_s=ticks * TICK_S,
        kernel=bool(int(fields[_FLAGS]) & _KERNEL_THREAD),
    )


def process_in(taken: Snapshot, pid: int) -> Process | None:
    """A process in a snapshot; ``None`` where it is missing or its text is incomplete."""
    with suppress(ValueError):
        return parse_process(taken.processes.get(pid, b""))
    return None


def spent_between(before: Snapshot, after: Snapshot) -> list[Used]:
    """As ``used``, but skips parsing of unchanged texts: most processes do nothing between two snapshots."""
    # In the order of /proc: which process is named must not be chance.
    pids = {**after.processes, **before.processes}
    changed = [pid for pid in pids if before.processes.get(pid) != after.processes.get(pid)]
    return used(_whole(before, changed), _whole(after, changed))


def _whole(taken: Snapshot, pids: Iterable[int]) -> dict[int, Process]:
    return {pid: known for pid in pids if (known := process_in(taken, pid)) is not None}


def used(before: Mapping[int, Process], after: Mapping[int, Process]) -> list[Used]:
    """The CPU time of every process that still runs; most of a host's used none, and are left out.

    The time of a child that ended is in its parent's, including what it had used before; that part is subtracted.
    """
    spent = {pid: process.cpu_s - _earlier(process, before) for pid, process in after.items()}
    for pid, ended in before.items():
        if _same(ended, after.get(pid)):
            continue
        heir = _living_parent(ended, before, after)
        if heir is not None:
            spent[heir] -= ended.cpu_s
    return [Used(after[pid], cpu_s) for pid, cpu_s in spent.items() if cpu_s > 0]


def _same(process: Process, other: Process | None) -> bool:
    return other is not None and process.started == other.started


def _earlier(process: Process, before: Mapping[int, Process]) -> float:
    known = before.get(process.pid)
    return known.cpu_s if known is not None and _same(process, known) else 0.0


def _living_parent(ended: Process, before: Mapping[int, Process], after: Mapping[int, Process]) -> int | None:
    """The process that collected it, or whose child did; each parent is checked once, as a snapshot takes time."""
    asked = {ended.pid}
    parent = before.get(ended.parent)
    while parent is not None and parent.pid not in asked:
        if _same(parent, after.get(parent.pid)):
            return parent.pid
        asked.add(parent.pid)
        parent = before.get(parent.parent)
    return None


def line_of(pid: int, taken: Snapshot) -> set[int]:
    """The process, its parent, the parent's parent and so on."""
    line: set[int] = set()
    while pid not in line:
        line.add(pid)
        known = process_in(taken, pid)
        pid = pid if known is None else known.parent
    return line


def programs(spent: Iterable[Used], span_s: float) -> list[Program]:
    """The programs, busiest first, with processes of one name and user combined."""
    groups: dict[tuple[str, str | None], list[Used]] = {}
    for usage in spent:
        if usage.cpu_s > 0:
            groups.setdefault((usage.process.name, user_of(usage.process.pid)), []).append(usage)
    grouped = [
        Program(
            name=name,
            user=user,
            pid=max(own, key=lambda usage: usage.cpu_s).process.pid,
            processors=sum(usage.cpu_s for usage in own) / span_s,
        )
        for (name, user), own in groups.items()
    ]
    return sorted(grouped, key=lambda program: -program.processors)


def user_of(pid: int) -> str | None:
    """The user's name, or number without a name; ``None`` when the process is gone."""
    try:
        number = Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        return None
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def steal_s(text: bytes, numbers: Collection[int]) -> float | None:
    """Time a hypervisor took from these processors since the host's start; ``None`` where /proc/stat does not say."""
    names = {b"cpu%d" % number for number in numbers}
    lines = (line.split() for line in text.splitlines() if line.startswith(b"cpu"))
    rows = [parts for parts in lines if parts[0] in names]
    if len(rows) < len(names) or not all(len(p) > _STEAL and p[_STEAL].isdigit() for p in rows):
        return None
    return sum(int(parts[_STEAL]) for parts in rows) * TICK_S


def throttled_periods(text: bytes) -> int:
    """How often a quota throttled the group (cpu.stat); 0 where nothing is counted, as without a quota."""
    for line in text.splitlines():
        name, _, number = line.partition(b" ")
        if name == b"nr_throttled" and number.strip().isdigit():
            return int(number)
    return 0


def throttled_share(before: Snapshot, after: Snapshot) -> float:
    """Share of the time in which a quota throttled this process's group, or a group above it."""
    span_s = after.at_s - before.at_s
    pairs = zip(before.throttled, after.throttled, strict=False)
    counts = [throttled_periods(late) - throttled_periods(early) for early, late in pairs]
    return min(1.0, max([0, *counts]) * _PERIOD_S / span_s) if span_s > 0 else 0.0


def stolen(before: Snapshot, after: Snapshot, numbers: Sequence[int]) -> float | None:
    """How many processors' time a hypervisor took in between; ``None`` where the kernel does not say."""
    early, late = steal_s(before.stat, numbers), steal_s(after.stat, numbers)
    span_s = after.at_s - before.at_s
    return None if early is None or late is None or span_s <= 0 else max(0.0, late - early) / span_s
