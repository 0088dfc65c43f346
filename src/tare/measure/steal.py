# SPDX-License-Identifier: Apache-2.0
"""How long the threads that are a virtual machine's processors ran, and how long they waited for one of the host's.

Of a thread of another process no clock can be read (the kernel's posix-cpu-timers.c allows one's own alone), so both
come from /proc/PID/task/TID/schedstat: time on a processor and time on a run queue, in nanoseconds (the kernel's
Documentation/scheduler/sched-stats.rst). The time of a thread that is on a processor just now is as of the last timer
tick. Time in which a quota keeps the thread from running counts as waiting.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tare.untrusted import whole


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadTimes:
    """Of one thread since it started, or of several over a span."""

    run_ns: int
    wait_ns: int

    @property
    def wait_s(self) -> float:
        return self.wait_ns * 1e-9


def parse_schedstat(text: str) -> ThreadTimes | None:
    """The first two of its numbers; ``None`` when it does not begin with them."""
    words = text.split()[:2]
    try:
        run_ns, wait_ns = map(whole, words)
    except ValueError:
        return None
    return ThreadTimes(run_ns=run_ns, wait_ns=wait_ns) if min(run_ns, wait_ns) >= 0 else None


def thread_times(thread: int, processes: Iterable[int]) -> ThreadTimes | None:
    """Of a thread of one of these processes; ``None`` when it is gone, or the kernel does not count."""
    for process in processes:
        try:
            return parse_schedstat(Path(f"/proc/{process}/task/{thread}/schedstat").read_text())
        except OSError:
            continue
    return None


class ThreadWatch:
    """What these threads do from now on."""

    def __init__(self, threads: Iterable[int], processes: Iterable[int]) -> None:
        self._processes = tuple(processes)
        self._before = {thread: thread_times(thread, self._processes) for thread in threads}

    def used(self) -> ThreadTimes | None:
        """``None`` without any, or when one was gone before or is gone now: part of a time is no time."""
        run_ns = wait_ns = 0
        for thread, before in self._before.items():
            after = thread_times(thread, self._processes)
            if before is None or after is None:
                return None
            run_ns += after.run_ns - before.run_ns
            wait_ns += after.wait_ns - before.wait_ns
        return ThreadTimes(run_ns=run_ns, wait_ns=wait_ns) if self._before else None
