# SPDX-License-Identifier: Apache-2.0
"""Events of the host's memory: /proc/vmstat (the kernel's filesystems/proc.rst, mm/transhuge.rst).

``pgsteal_anon`` and ``pgsteal_file`` include reclaim by control groups; ``pgsteal_direct`` and the like do not.
"""

from collections.abc import Mapping, Sequence
from itertools import chain

from tare.measure.signals.family import File, Kind, SignalFamily, TextSource, keyed
from tare.measure.signals.place import Place
from tare.records import Scope

_KEYS = {
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


class HostMemory(SignalFamily):
    kinds = tuple(Kind(name=name, unit="1", scope=Scope.HOST) for name in _KEYS)

    def sources(self, place: Place) -> Sequence[TextSource]:  # noqa: ARG002 - the same for every place
        return [File("/proc/vmstat")]

    def parse(self, text: bytes, place: Place) -> Mapping[str, float]:  # noqa: ARG002 - the same for every place
        counts = keyed(text, chain.from_iterable(_KEYS.values()))
        figures: dict[str, float] = {}
        for name, keys in _KEYS.items():
            if all(key in counts for key in keys):
                figures[name] = sum(counts[key] for key in keys)
        if "host_major_faults" in figures and "host_minor_faults" in figures:
            figures["host_minor_faults"] -= figures["host_major_faults"]
        return figures
