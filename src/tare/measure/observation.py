# SPDX-License-Identifier: Apache-2.0
"""One trial's signals, from just before GO to just after the last DONE, and whether they exclude the trial."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tare.host.process_stats import ProcessStats
from tare.measure.counted import CpuUsage, Watched
from tare.measure.exclusion import Excluded, Own, add_foreign_load, excluded
from tare.measure.others import OthersWatch
from tare.measure.signals import FAMILIES, UNREAD
from tare.measure.signals.beside import add_costs, add_switches, add_waits
from tare.measure.signals.place import place_of
from tare.measure.signals.watch import Found, SignalWatch, watched_signals
from tare.measure.verify_unprivileged import rusage_s
from tare.nodes.provider import NodeGroup
from tare.records import Exclude, HostLoad, InstanceRun


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
    ) -> None:
        """``neighbours``: the groups of the neighbours; ``None`` if some have none."""
        self._watch = watch
        self._others = OthersWatch(watch.place, watched, neighbours, stats)
        self._spanning = any(len(seat.members) > 1 for seat in watched.seats)
        self._neighbours = neighbours
        self._usage: CpuUsage | None = None
        self._neighbours_s: float | None = None

    def begin(self) -> None:
        self._others.look()
        self._usage = CpuUsage(self._neighbours) if self._neighbours else None
        self._watch.begin()

    def glance(self) -> None:
        self._watch.glance()

    def end(self) -> None:
        self._watch.end()
        if self._neighbours is not None:
            self._neighbours_s = self._usage.used_s() if self._usage else 0.0
        self._others.look()

    def told(self, counted: Counted, exclude: Exclude) -> tuple[Found, Excluded | None]:
        """The signals, and the rule that excludes the trial, if any."""
        readings = self._watch.found()
        add_waits(readings, counted.vcpu_wait_s, counted.steal_s)
        add_switches(readings, counted.runs, spanning=self._spanning)
        add_costs(readings, counted.seen)
        add_foreign_load(self._watch, self._own(counted), readings)
        readings.missing.update(UNREAD)
        return readings, excluded(exclude, self._watch, readings)

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
    watched: Watched, neighbours: Sequence[NodeGroup] | None, stats: ProcessStats
) -> Iterator[Observation]:
    """Find and open everything that the looks need, before anything is timed."""
    with watched_signals(place_of(watched.nodes, watched.groups), FAMILIES) as watch:
        yield Observation(watch, watched, neighbours, stats)
