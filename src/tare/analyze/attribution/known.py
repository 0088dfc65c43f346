# SPDX-License-Identifier: Apache-2.0
"""Prior knowledge of each signal: its wording, the signals that it overlaps, and its possible cost.

The costs are the most that one event may take on any machine, and are generous on purpose: they only separate what
cannot have mattered from what may have.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tare.records import Scope

_CPU, _STORAGE = "processor", "memory and storage"
_NEVER_CAUSES = ("J", "W", "\N{DEGREE SIGN}C")
"""Units of consequences of a run: energy and heat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """One signal, from any source."""

    title: str
    group: str | None = None
    """Group of overlapping lost times: only the largest of a group is subtracted from the unexplained part."""
    summed: bool = False
    """Whether its seconds are summed over threads."""
    most_event_s: float | None = None
    """Highest cost of one event; ``None`` if it is unknown or the signal has no events."""
    timeout: bool = False
    """Whether each event costs at least a retransmission timeout."""
    level: bool = False
    """Whether it is a level, which does not add up over a run."""
    less_is_worse: bool = False
    fills_idleness: bool = False
    """Whether it grows whenever the job sleeps, so that it says nothing by itself."""
    evidence_only: bool = False
    """Whether it is a cost per call, not a loss: it may support a cause, but is never a candidate itself."""
    after: tuple[str, ...] = ()
    """Signals that this one contains or follows from: if one of them is a candidate too, this one ranks below it."""


_WAITING = ("throttled_s", "vcpu_wait_s", "steal_s", "runnable_wait_s", "psi_cpu_some_s")
_MEMORY = ("memory_limit_hits", "pages_refaulted", "pages_reclaimed", "major_faults", "psi_memory_some_s")
_REMOTE = (*_MEMORY, "remote_memory_byte")
_SHAPING = ("queue_overlimits", "queue_drops", "switch_drops", "interface_drops")
_TCP = ("tcp_timeouts", "tcp_retransmissions")
_STORAGE_WAITS = (*_MEMORY, "block_io_wait_s", "psi_io_some_s")
_SWITCH_S = 1e-4
_FAULT_S = 1e-4
_READ_S = 0.05
"""One page from a slow disk."""
_PACKET_S = 1.0
_PAGE_S = 1e-3

KNOWN: Mapping[str, Known] = {
    "throttled_s": Known(title="held back by a CPU quota", group=_CPU, summed=True),
    "throttled_above_s": Known(title="held back by a CPU quota above the nodes' own", after=_WAITING[:1]),
    "throttled_periods": Known(title="periods used up of a CPU quota", most_event_s=1.0, after=_WAITING[:1]),
    "vcpu_wait_s": Known(
        title="virtual processors waiting for a real one", group=_CPU, summed=True, after=_WAITING[:1]
    ),
    "steal_s": Known(title="processor time taken by the host", group=_CPU, summed=True, after=_WAITING[:2]),
    "runnable_wait_s": Known(title="waiting for a processor", group=_CPU, summed=True, after=_WAITING[:3]),
    "psi_cpu_some_s": Known(title="stalled for a processor", group=_CPU, after=_WAITING[:4]),
    "psi_cpu_full_s": Known(title="all tasks stalled for a processor", group=_CPU, after=_WAITING),
    "host_psi_cpu_some_s": Known(title="some task stalled for a processor", after=_WAITING),
    "host_steal_s": Known(
        title="processor time taken by the hypervisor below this host", after=_WAITING[1:3]
    ),
    "memory_limit_hits": Known(title="wanted more memory than the limit", most_event_s=_PAGE_S),
    "pages_refaulted": Known(title="reclaimed pages read again", most_event_s=_READ_S),
    "pages_reclaimed": Known(title="pages reclaimed for lack of memory", most_event_s=_PAGE_S),
    "pages_swapped_in": Known(title="pages read back from swap", most_event_s=_READ_S, after=_MEMORY[:3]),
    "pages_swapped_out": Known(title="pages written to swap", most_event_s=_READ_S, after=_MEMORY[:3]),
    "major_faults": Known(
        title="page faults that read from storage", most_event_s=_READ_S, after=_MEMORY[:3]
    ),
    "psi_memory_some_s": Known(title="stalled for memory", group=_STORAGE),
    "psi_memory_full_s": Known(title="all tasks stalled for memory", group=_STORAGE, after=_MEMORY[4:]),
    "host_pages_reclaimed": Known(title="pages reclaimed", most_event_s=_PAGE_S, after=_MEMORY),
    "host_major_faults": Known(
        title="page faults that read from storage", most_event_s=_READ_S, after=_MEMORY
    ),
    "host_psi_memory_some_s": Known(title="some task stalled for memory", after=_MEMORY),
    "host_psi_memory_full_s": Known(title="all tasks stalled for memory", after=_MEMORY),
    "block_io_wait_s": Known(title="disk requests", after=_MEMORY),
    "psi_io_some_s": Known(title="stalled for storage", group=_STORAGE, after=(*_MEMORY, "block_io_wait_s")),
    "psi_io_full_s": Known(title="all tasks stalled for storage", group=_STORAGE, after=_STORAGE_WAITS),
    "host_psi_io_some_s": Known(title="some task stalled for storage", after=_STORAGE_WAITS),
    "host_psi_io_full_s": Known(title="all tasks stalled for storage", after=_STORAGE_WAITS),
    "iowait_s": Known(
        title="processors idle while storage is waited for", fills_idleness=True, after=_STORAGE_WAITS
    ),
    "foreign_cpu_s": Known(title="other programs on its processors", fills_idleness=True, after=_WAITING),
    "block_read_byte": Known(title="read from the disks", after=_MEMORY),
    "block_written_byte": Known(title="written to the disks", after=_MEMORY),
    "queue_overlimits": Known(title="packets held back by a rate limit", most_event_s=_PACKET_S),
    "queue_drops": Known(title="packets dropped by a queue", most_event_s=_PACKET_S),
    "switch_drops": Known(title="packets dropped between the nodes", most_event_s=_PACKET_S),
    "interface_drops": Known(title="packets dropped by a network interface", most_event_s=_PACKET_S),
    "interface_errors": Known(title="errors of a network interface", most_event_s=_PACKET_S),
    "tcp_timeouts": Known(title="TCP retransmission timeouts", timeout=True, after=_SHAPING),
    "tcp_retransmissions": Known(
        title="TCP segments retransmitted", most_event_s=_PACKET_S, after=(*_SHAPING, _TCP[0])
    ),
    "tcp_lost_retransmissions": Known(
        title="TCP retransmissions lost", most_event_s=_PACKET_S, after=(*_SHAPING, *_TCP)
    ),
    "queue_backlog_byte": Known(title="left waiting in a queue", level=True, after=(*_SHAPING, *_TCP)),
    "queue_requeues": Known(
        title="packets put back into a queue", most_event_s=_SWITCH_S, after=(*_SHAPING, *_TCP)
    ),
    "frequency_hz": Known(title="lower processor frequency", level=True, less_is_worse=True),
    "thermal_throttles": Known(title="slowed down by heat", most_event_s=1.0),
    "kvm_exits": Known(title="exits of guests to the hypervisor", most_event_s=_SWITCH_S),
    "interrupt_s": Known(title="interrupts of devices"),
    "softirq_s": Known(title="network and timer work of the kernel", after=(*_SHAPING, *_TCP)),
    "network_softirqs": Known(
        title="network work of the kernel", most_event_s=_SWITCH_S, after=(*_SHAPING, *_TCP)
    ),
    "huge_page_fallbacks": Known(title="no huge page available", most_event_s=_PAGE_S, after=_MEMORY),
    "compaction_stalls": Known(title="waits for memory compaction", most_event_s=_READ_S, after=_MEMORY),
    "huge_pages_split": Known(title="huge pages split", most_event_s=_PAGE_S, after=_MEMORY),
    "huge_pages_allocated": Known(title="huge pages made", most_event_s=_PAGE_S, after=_MEMORY),
    "remote_memory_byte": Known(title="memory on other NUMA nodes", level=True, after=_MEMORY),
    "numa_pages_migrated": Known(
        title="pages moved to another NUMA node", most_event_s=_PAGE_S, after=_REMOTE
    ),
    "numa_hint_faults": Known(
        title="page faults of NUMA balancing",
        most_event_s=_FAULT_S,
        after=(*_REMOTE, "numa_pages_migrated"),
    ),
    "minor_faults": Known(
        title="page faults in memory", most_event_s=_FAULT_S, after=(*_MEMORY, "numa_hint_faults")
    ),
    "host_minor_faults": Known(
        title="page faults in memory",
        most_event_s=_FAULT_S,
        after=(*_MEMORY, "numa_hint_faults", "minor_faults"),
    ),
    "involuntary_switches": Known(title="preempted", most_event_s=_SWITCH_S, after=_WAITING),
    "voluntary_switches": Known(
        title="slept and was woken", most_event_s=_SWITCH_S, after=(*_SHAPING, *_TCP, *_STORAGE_WAITS)
    ),
    "host_switches": Known(
        title="context switches",
        most_event_s=_SWITCH_S,
        after=(*_WAITING, *_SHAPING, *_TCP, *_STORAGE_WAITS, "involuntary_switches", "voluntary_switches"),
    ),
    "temperature_c": Known(title="temperature", level=True),
    "system_call_cost_s": Known(title="a system call takes longer", level=True, evidence_only=True),
    "clock_read_cost_s": Known(title="reading the clock takes longer", level=True, evidence_only=True),
}
"""By the signal's name; of two equally likely ones the earlier entry says more about the mechanism."""


def known(name: str) -> Known:
    """Knowledge of a signal; for an unknown one its own name in words."""
    return KNOWN.get(name) or Known(title=name.replace("_", " "))


def title_of(name: str, scope: Scope) -> str:
    return known(name).title + (" (on the whole host)" if scope is Scope.HOST else "")


def may_cause(name: str, unit: str) -> bool:
    """Whether it is not a consequence (energy, heat), nor a filler of idle processors, nor mere evidence."""
    about = known(name)
    return unit not in _NEVER_CAUSES and not about.fills_idleness and not about.evidence_only


def specificity(name: str) -> int:
    """Place in the list above; unknown ones last."""
    return list(KNOWN).index(name) if name in KNOWN else len(KNOWN)
