# SPDX-License-Identifier: Apache-2.0
"""How long a virtual machine's vCPU threads ran, and how long they waited for a processor of the host.

The clock of another process's thread cannot be read (the kernel's posix-cpu-timers.c permits only one's own), so both
come from /proc/PID/task/TID/schedstat: time on a processor and time on a run queue, in nanoseconds (the kernel's
Documentation/scheduler/sched-stats.rst). For a running thread the time is as of the last timer tick. Time in which a
quota keeps the thread from running counts as waiting.

The same for all threads in control groups, so that a busy machine is not mistaken for idleness.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tare.host.busy import steal_s
from tare.host.cgroups.freezer import Freezer
from tare.untrusted import whole


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadTimes:
    """Times of one thread since it started, or of several over a span."""

    run_ns: int
    wait_ns: int

    @property
    def wait_s(self) -> float:
        return self.wait_ns * 1e-9


def parse_schedstat(text: str) -> ThreadTimes | None:
    """Its first two numbers; ``None`` if it does not begin with them."""
    words = text.split()[:2]
    try:
        run_ns, wait_ns = map(whole, words)
    except ValueError:
        return None
    return ThreadTimes(run_ns=run_ns, wait_ns=wait_ns) if min(run_ns, wait_ns) >= 0 else None


def thread_times(thread: int, processes: Iterable[int]) -> ThreadTimes | None:
    """Times of a thread of one of these processes; ``None`` if it is gone, or the kernel does not count."""
    for process in processes:
        try:
            return parse_schedstat(Path(f"/proc/{process}/task/{thread}/schedstat").read_text())
        except OSError:
            continue
    return None


class ThreadWatch:
    """Times of these threads from now on."""

    def __init__(self, threads: Iterable[int], processes: Iterable[int]) -> None:
        self._processes = tuple(processes)
        self._before = {thread: thread_times(thread, self._processes) for thread in threads}

    def used(self) -> ThreadTimes | None:
        """Times so far; ``None`` without threads, or if one is or was gone: part of a time is no time."""
        run_ns = wait_ns = 0
        for thread, before in self._before.items():
            after = thread_times(thread, self._processes)
            if before is None or after is None:
                return None
            run_ns += after.run_ns - before.run_ns
            wait_ns += after.wait_ns - before.wait_ns
        return ThreadTimes(run_ns=run_ns, wait_ns=wait_ns) if self._before else None


class ProcessorWaits:
    """Total waits of all threads in these groups from now on; threads that end meanwhile are missed."""

    def __init__(self, freezers: Sequence[Freezer]) -> None:
        self._freezers = freezers
        self._before = self._now()
        self._stolen_before_s = _stolen_s()

    def waited_s(self) -> float:
        return sum(wait_ns - self._before.get(thread, 0) for thread, wait_ns in self._now().items()) * 1e-9

    def stolen_s(self) -> float:
        """Time that a hypervisor took from this host's processors, whoever had them; 0 if it does not report any."""
        return max(0.0, _stolen_s() - self._stolen_before_s)

    def _now(self) -> Mapping[str, int]:
        now: dict[str, int] = {}
        for process in {pid for freezer in self._freezers for pid in freezer.processes()}:
            for task in Path(f"/proc/{process}/task").glob("*"):
                with suppress(OSError):
                    times = parse_schedstat((task / "schedstat").read_text())
                    now[task.name] = 0 if times is None else times.wait_ns
        return now


def _stolen_s() -> float:
    return steal_s(Path("/proc/stat").read_bytes(), os.sched_getaffinity(0)) or 0.0
