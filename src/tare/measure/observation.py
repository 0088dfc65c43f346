# SPDX-License-Identifier: Apache-2.0
"""One trial's signals, from just before GO to just after the last DONE, and whether they exclude the trial."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

from tare.host.process_stats import ProcessStats
from tare.measure.counted import CpuUsage, Watched
from tare.measure.exclusion import Excluded, Own, add_foreign_load, excluded
from tare.measure.far_signals import FarSignals, far_signals
from tare.measure.others import OthersWatch
from tare.measure.verify_unprivileged import rusage_s
from tare.nodes.provider import NodeGroup
from tare.records import Exclude, HostLoad, InstanceRun, Scope, Signal, Trial
from tare.records.signals import HostSignals
from tare.signals import FAMILIES, UNREAD
from tare.signals.place import place_of
from tare.signals.watch import Found, SignalWatch, watched_signals

_NO_GUEST = "the nodes are no virtual machines whose processors this host sees"
_NO_STEAL = "the nodes' kernels count none, or have none of their own"
_NO_COST = "the stopwatch in the node does not measure it, or its clock stands still"
_NO_STOPWATCH = "mpirun starts the commands, in nodes where no stopwatch measures it"
_COSTS = {"system_call_cost_s": "system_call_ns", "clock_read_cost_s": "clock_read_ns"}
"""Signal → its field in the stopwatch's READY."""
_MOST_NS = 1e9
"""Limit of one call; anything above is made up."""
_SPANNING = "processes that mpirun started in other nodes are not counted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Other counts of the same trial, as in its outcome."""

    cpu_s: float | None
    helper_cpu_s: float | None
    vcpu_wait_s: float | None
    steal_s: float | None
    runs: Sequence[InstanceRun]
    seen: Sequence[Mapping[str, Any]]
    """Reports in READY of the stopwatches that started the commands."""


class Observation:
    """Looks at a trial from outside."""

    def __init__(
        self,
        watch: SignalWatch,
        watched: Watched,
        neighbours: Sequence[NodeGroup] | None,
        stats: ProcessStats,
        far: FarSignals,
    ) -> None:
        """``neighbours``: the groups of the neighbours; ``None`` if some have none."""
        self._watch, self._far = watch, far
        self._others = OthersWatch(watch.place, watched, neighbours, stats)
        self._spanning = any(len(seat.members) > 1 for seat in watched.seats)
        self._neighbours = neighbours
        self._usage: CpuUsage | None = None
        self._neighbours_s: float | None = None

    def begin(self) -> None:
        self._others.look()
        self._usage = CpuUsage(self._neighbours) if self._neighbours else None
        self._watch.begin()
        self._far.begin()

    def glance(self) -> None:
        self._watch.glance()
        self._far.glance()

    def turn(self) -> AbstractContextManager[None]:
        """Around a turn of this arm among others."""
        return self._watch.turn()

    def end(self) -> None:
        self._watch.end()
        self._far.end()
        if self._neighbours is not None:
            self._neighbours_s = self._usage.used_s() if self._usage else 0.0
        self._others.look()

    def told(self, counted: Counted, exclude: Exclude) -> tuple[Found, Excluded | None]:
        """The signals, and the rule that excludes the trial, if any."""
        readings = self._far.found() if self._far else self._watch.found()
        add_waits(readings, counted.vcpu_wait_s, counted.steal_s)
        add_switches(readings, counted.runs, spanning=self._spanning)
        add_costs(readings, counted.seen)
        if not self._far:
            add_foreign_load(self._watch, self._own(counted), readings)
        readings.missing.update(UNREAD)
        return readings, excluded(exclude, self._watch, readings)

    @property
    def by_host(self) -> dict[str, HostSignals]:
        """The signals of each host of the campaign's list; empty without one."""
        return self._far.by_host

    def load(self, readings: Found) -> HostLoad | None:
        """Use of the processors by others meanwhile; ``readings``: the signals that ``told`` returned."""
        return self._others.load(readings, self._watch.span_s)

    def _own(self, counted: Counted) -> Own:
        """The trial's own CPU time; without a group the commands' account is used, if this host's kernel kept it."""
        place = self._watch.place
        by_runs = None if place.own_kernel or place.elsewhere or self._spanning else rusage_s(counted.runs)
        return Own(
            nodes_s=by_runs if counted.cpu_s is None else counted.cpu_s,
            helpers_s=counted.helper_cpu_s or 0.0,
            neighbours_s=self._neighbours_s,
        )


@contextmanager
def observed(
    trial: Trial, watched: Watched, neighbours: Sequence[NodeGroup] | None, stats: ProcessStats
) -> Iterator[Observation]:
    """Find and open everything that the looks need, before anything is timed."""
    with watched_signals(place_of(watched.nodes, watched.groups), FAMILIES) as watch:
        yield Observation(watch, watched, neighbours, stats, far_signals(trial, watched.nodes))


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
