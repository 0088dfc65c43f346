# SPDX-License-Identifier: Apache-2.0
"""CPU quota throttling, and waits for a processor: cpu.stat of the nodes' control groups.

Version 1 counts nanoseconds, version 2 microseconds (the kernel's scheduler/sched-bwc.rst and cgroup-v2.rst).
Throttled time is summed over processors: four that are stopped together for a second make four. ``wait_sum`` is the
time that all tasks of the group waited for a processor; kernels count it if schedstats are on.
"""

from collections.abc import Mapping, Sequence

from tare.records import Scope
from tare.signals.family import Kind, SignalFamily, TextSource, group_files, keyed
from tare.signals.place import Place

_NANOSECOND_S, _MICROSECOND_S = 1e-9, 1e-6
_UNITS = {
    "throttled_time": ("throttled_s", _NANOSECOND_S),
    "throttled_usec": ("throttled_s", _MICROSECOND_S),
    "nr_throttled": ("throttled_periods", 1.0),
    "wait_sum": ("runnable_wait_s", _NANOSECOND_S),
}
"""Key → signal, and the unit of the count."""


class Quota(SignalFamily):
    kinds = (
        Kind(name="throttled_s", unit="s", scope=Scope.NODE, lost_time=True),
        Kind(name="throttled_periods", unit="1", scope=Scope.NODE),
        Kind(name="runnable_wait_s", unit="s", scope=Scope.NODE, lost_time=True),
    )

    def sources(self, place: Place) -> Sequence[TextSource]:
        return group_files(place, "cpu", "cpu.stat")

    def parse(self, text: bytes, place: Place) -> Mapping[str, float]:  # noqa: ARG002 - the same for every place
        counts = keyed(text, _UNITS)
        return {name: counts[key] * unit for key, (name, unit) in _UNITS.items() if key in counts}
