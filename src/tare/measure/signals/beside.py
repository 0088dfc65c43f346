# SPDX-License-Identifier: Apache-2.0
"""Signals from the trial itself: reports of the stopwatches and times of the vCPU threads."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from tare.measure.signals.watch import Found
from tare.records import InstanceRun, Scope, Signal

_NO_GUEST = "the nodes are no virtual machines whose processors this host sees"
_NO_STEAL = "the nodes' kernels count none, or have none of their own"
_NO_COST = "the stopwatch in the node does not measure it, or its clock stands still"
_NO_STOPWATCH = "mpirun starts the commands, in nodes where no stopwatch measures it"
_COSTS = {"system_call_cost_s": "system_call_ns", "clock_read_cost_s": "clock_read_ns"}
"""Signal → its field in the stopwatch's READY."""
_MOST_NS = 1e9
"""Limit of one call; anything above is made up."""
_SPANNING = "processes that mpirun started in other nodes are not counted"


def add_waits(readings: Found, vcpu_wait_s: float | None, steal_s: float | None) -> None:
    """Add the waits of virtual processors, as the host and the guests count them."""
    for name, value, why in (("vcpu_wait_s", vcpu_wait_s, _NO_GUEST), ("steal_s", steal_s, _NO_STEAL)):
        if value is None:
            readings.missing[name] = why
        else:
            readings.signals.append(
                Signal(name=name, unit="s", scope=Scope.NODE, value=value, lost_time=True)
            )


def add_switches(readings: Found, runs: Sequence[InstanceRun], *, spanning: bool) -> None:
    """Add context switches of the commands and their waited-for children (getrusage(2)).

    ``spanning``: whether an instance has processes in nodes other than its own.
    """
    counts = {
        "voluntary_switches": sum(run.voluntary_switches for run in runs),
        "involuntary_switches": sum(run.involuntary_switches for run in runs),
    }
    for name, count in counts.items():
        if spanning:
            readings.missing[name] = _SPANNING
        else:
            readings.signals.append(Signal(name=name, unit="1", scope=Scope.NODE, value=count))


def add_costs(readings: Found, seen: Sequence[Mapping[str, Any]]) -> None:
    """Add the cost of single calls, the median over the stopwatches right before they started the commands.

    ``seen``: their reports in READY; none if no command was started by a stopwatch itself.
    """
    for name, key in _COSTS.items():
        costs_ns = [cost_ns for said in seen if (cost_ns := _cost_ns(said.get(key))) is not None]
        if costs_ns:
            value = median(costs_ns) * 1e-9
            readings.signals.append(Signal(name=name, unit="s", scope=Scope.NODE, value=value))
        else:
            readings.missing[name] = _NO_COST if seen else _NO_STOPWATCH


def _cost_ns(answer: Any) -> float | None:
    """The cost in a possibly forged report; ``None`` if it cannot be one."""
    is_number = isinstance(answer, int | float) and not isinstance(answer, bool)
    return float(answer) if is_number and 0 < answer < _MOST_NS else None
