# SPDX-License-Identifier: Apache-2.0
"""CPU time of processes on the host, by their clocks: exact, and including threads that have ended."""

import time
from collections.abc import Iterable

from tare.measure.steal import ThreadTimes

_PROCESS_CLOCK = 2
"""CPUCLOCK_SCHED of the kernel's posix-timers.h: time on a processor, of the whole process."""


def cpu_ns(pid: int) -> int | None:
    """CPU time of a process by clock_getcpuclockid(3), which Python lacks; ``None`` when it is gone."""
    try:
        return time.clock_gettime_ns((~pid << 3) | _PROCESS_CLOCK)
    except OSError:
        return None


class HelperMeter:
    """CPU time of these processes from now on."""

    def __init__(self, pids: Iterable[int]) -> None:
        self._before = {pid: cpu_ns(pid) for pid in pids}

    def used_s(self, of_the_node: ThreadTimes | None = None) -> float | None:
        """Less what those of their threads used that are the node's own processors.

        ``None`` without any, or when one was gone before or is gone now: part of a cost is no cost.
        """
        if not self._before:
            return None
        spans = [(before, cpu_ns(pid)) for pid, before in self._before.items()]
        total_ns = -of_the_node.run_ns if of_the_node else 0
        for before, after in spans:
            if before is None or after is None:
                return None
            total_ns += after - before
        return max(0.0, total_ns * 1e-9)  # a thread's time may be a timer tick old
