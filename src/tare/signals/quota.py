# SPDX-License-Identifier: Apache-2.0
"""CPU quota throttling, and waits for a processor: cpu.stat of the nodes' control groups.

Version 1 counts nanoseconds, version 2 microseconds (the kernel's scheduler/sched-bwc.rst and cgroup-v2.rst).
Throttled time is summed over processors: four that are stopped together for a second make four. ``wait_sum`` is the
time that all tasks of the group waited for a processor; kernels count it if schedstats are on.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from tare.host.kernel_files import read_bytes
from tare.records import Scope
from tare.signals.family import File, Kind, SignalFamily, TextSource, Unreadable, group_files, keyed
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


class QuotaAbove(SignalFamily):
    """A quota on a group above the nodes' own, such as that of a container in which the whole host is."""

    kinds = (Kind(name="throttled_above_s", unit="s", scope=Scope.HOST),)

    def sources(self, place: Place) -> Sequence[TextSource]:
        paths = [path for group in place.groups if (path := group.path("cpu")) is not None]
        files = dict.fromkeys(file for path in paths for file in _files_above(path))
        if not files:
            raise Unreadable("no control group above the nodes' own counts how often a quota held it back")
        return [File(file, "cpu.stat of a control group above the nodes' own") for file in files]

    def parse(self, text: bytes, place: Place) -> Mapping[str, float]:  # noqa: ARG002 - the same for every place
        counts = keyed(text, ("throttled_time", "throttled_usec"))
        return {"throttled_above_s": sum(count * _UNITS[key][1] for key, count in counts.items())}


@lru_cache
def _files_above(path: str) -> tuple[str, ...]:
    """The root of version 2 counts nothing."""
    files = (folder / "cpu.stat" for folder in Path(path).parents)
    return tuple(str(file) for file in files if b"nr_throttled" in (read_bytes(str(file)) or b""))
