# SPDX-License-Identifier: Apache-2.0
"""Signals that come with the trial itself: what the stopwatches and the threads of virtual processors told."""

from collections.abc import Sequence

from tare.measure.signals.watch import Found
from tare.records import InstanceRun, Scope, Signal

_NO_GUEST = "the nodes are no virtual machines whose processors this host sees"
_NO_STEAL = "the nodes' kernels count none, or have none of their own"
_SPANNING = "processes that mpirun started in other nodes are not counted"


def add_waits(found: Found, vcpu_wait_s: float | None, steal_s: float | None) -> None:
    """Waiting of virtual processors, as the host counts it, and as the guests do."""
    for name, value, why in (("vcpu_wait_s", vcpu_wait_s, _NO_GUEST), ("steal_s", steal_s, _NO_STEAL)):
        if value is None:
            found.missing[name] = why
        else:
            found.signals.append(Signal(name=name, unit="s", scope=Scope.NODE, value=value, lost_time=True))


def add_switches(found: Found, runs: Sequence[InstanceRun], *, spanning: bool) -> None:
    """Context switches of the commands and of what they waited for (getrusage(2)).

    ``spanning``: whether an instance has processes in nodes other than its own.
    """
    counts = {
        "voluntary_switches": sum(run.voluntary_switches for run in runs),
        "involuntary_switches": sum(run.involuntary_switches for run in runs),
    }
    for name, count in counts.items():
        if spanning:
            found.missing[name] = _SPANNING
        else:
            found.signals.append(Signal(name=name, unit="1", scope=Scope.NODE, value=count))
