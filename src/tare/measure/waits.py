# SPDX-License-Identifier: Apache-2.0
"""How long the threads of control groups waited for a processor, so that a busy machine is not taken for idleness.

Threads wait for other programs of this host, and for other machines when a hypervisor takes the processor away.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tare.host.busy import steal_s
from tare.host.cgroups.freezer import Freezer
from tare.measure.steal import parse_schedstat


class ProcessorWaits:
    """Of all threads in these groups from now on, added up; threads that have ended meanwhile are missed."""

    def __init__(self, freezers: Sequence[Freezer]) -> None:
        self._freezers = freezers
        self._before = self._now()
        self._stolen_before_s = _stolen_s()

    def waited_s(self) -> float:
        return sum(wait_ns - self._before.get(thread, 0) for thread, wait_ns in self._now().items()) * 1e-9

    def stolen_s(self) -> float:
        """What a hypervisor took of this host's processors, whoever had them; 0 where it does not say."""
        return max(0.0, _stolen_s() - self._stolen_before_s)

    def _now(self) -> Mapping[str, int]:
        found: dict[str, int] = {}
        for process in {pid for freezer in self._freezers for pid in freezer.processes()}:
            for task in Path(f"/proc/{process}/task").glob("*"):
                with suppress(OSError):
                    times = parse_schedstat((task / "schedstat").read_text())
                    found[task.name] = 0 if times is None else times.wait_ns
        return found


def _stolen_s() -> float:
    return steal_s(Path("/proc/stat").read_bytes(), os.sched_getaffinity(0)) or 0.0
