# SPDX-License-Identifier: Apache-2.0
"""Page faults and reclaimed pages: in the nodes' control groups (memory.stat, the limit's hits), and on the host.

Version 1 has ``total_pgfault`` for the group and its subgroups, version 2 ``pgfault`` (the kernel's cgroup-v1/
memory.rst and cgroup-v2.rst). Version 1 does not count reclaimed pages; the host does (``HostMemory``).
"""

from collections.abc import Mapping, Sequence
from itertools import chain

from tare.host.cgroups.hierarchies import V1
from tare.records import Scope
from tare.signals.family import File, Kind, SignalFamily, TextSource, Unreadable, group_files, keyed
from tare.signals.place import Place

_BOTH = ("pgfault", "pgmajfault", "workingset_refault_anon", "workingset_refault_file")
_KEYS = (*_BOTH, *(f"total_{key}" for key in _BOTH), "pgsteal")
_HOST_KEYS = {
    "host_minor_faults": ("pgfault",),
    "host_major_faults": ("pgmajfault",),
    "host_pages_reclaimed": ("pgsteal_anon", "pgsteal_file"),
    "pages_swapped_in": ("pswpin",),
    "pages_swapped_out": ("pswpout",),
    "huge_pages_allocated": ("thp_fault_alloc",),
    "huge_page_fallbacks": ("thp_fault_fallback",),
    "huge_pages_split": ("thp_split_page", "thp_split_pmd"),
    "compaction_stalls": ("compact_stall",),
    "numa_pages_migrated": ("numa_pages_migrated",),
    "numa_hint_faults": ("numa_hint_faults",),
}


class NodeMemory(SignalFamily):
    kinds = (
        Kind(name="minor_faults", unit="1", scope=Scope.NODE),
        Kind(name="major_faults", unit="1", scope=Scope.NODE),
        Kind(name="pages_reclaimed", unit="1", scope=Scope.NODE),
        Kind(name="pages_refaulted", unit="1", scope=Scope.NODE),
    )

    def sources(self, place: Place) -> Sequence[TextSource]:
        return group_files(place, "memory", "memory.stat")

    def parse(self, text: bytes, place: Place) -> Mapping[str, float]:  # noqa: ARG002 - the same for every place
        counts = keyed(text, _KEYS)
        prefix = "total_" if "total_pgfault" in counts else ""
        figures: dict[str, float] = {}
        if f"{prefix}pgfault" in counts and f"{prefix}pgmajfault" in counts:
            figures["major_faults"] = counts[f"{prefix}pgmajfault"]
            figures["minor_faults"] = counts[f"{prefix}pgfault"] - figures["major_faults"]
        if "pgsteal" in counts:
            figures["pages_reclaimed"] = counts["pgsteal"]
        refaults = [
            counts[key]
            for part in ("anon", "file")
            if (key := f"{prefix}workingset_refault_{part}") in counts
        ]
        if refaults:
            figures["pages_refaulted"] = sum(refaults)
        return figures


class MemoryLimit(SignalFamily):
    """How often the group exceeded its limit, and pages had to be reclaimed first."""

    kinds = (Kind(name="memory_limit_hits", unit="1", scope=Scope.NODE),)

    def sources(self, place: Place) -> Sequence[TextSource]:
        if not place.groups:
            raise Unreadable("no control group of this host holds the nodes")
        name = "memory.failcnt" if place.groups[0].version == V1 else "memory.events"
        return group_files(place, "memory", name)

    def parse(self, text: bytes, place: Place) -> Mapping[str, float]:  # noqa: ARG002 - the same for every place
        if text.strip().isdigit():
            return {"memory_limit_hits": int(text)}
        counts = keyed(text, ["max"])
        return {"memory_limit_hits": counts["max"]} if "max" in counts else {}


class HostMemory(SignalFamily):
    """Events of the host's memory: /proc/vmstat (the kernel's filesystems/proc.rst, mm/transhuge.rst).

    ``pgsteal_anon`` and ``pgsteal_file`` include reclaim by control groups; ``pgsteal_direct`` and the like do not.
    """

    kinds = tuple(Kind(name=name, unit="1", scope=Scope.HOST) for name in _HOST_KEYS)

    def sources(self, place: Place) -> Sequence[TextSource]:  # noqa: ARG002 - the same for every place
        return [File("/proc/vmstat")]

    def parse(self, text: bytes, place: Place) -> Mapping[str, float]:  # noqa: ARG002 - the same for every place
        counts = keyed(text, chain.from_iterable(_HOST_KEYS.values()))
        figures: dict[str, float] = {}
        for name, keys in _HOST_KEYS.items():
            if all(key in counts for key in keys):
                figures[name] = sum(counts[key] for key in keys)
        if "host_major_faults" in figures and "host_minor_faults" in figures:
            figures["host_minor_faults"] -= figures["host_major_faults"]
        return figures
