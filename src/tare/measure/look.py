# SPDX-License-Identifier: Apache-2.0
"""Readings around the measured part of a trial: clocks, signals, CPU time, the commands' conditions."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from tare.errors import NodeError
from tare.measure.attempt import Measured
from tare.measure.clock_watch import ClockWatch, watched_clocks
from tare.measure.cold import empty_caches
from tare.measure.context import Context
from tare.measure.counted import Counters
from tare.measure.failures import refuse_bomb, refuse_victims
from tare.measure.host_clocks import clocks_of_hosts
from tare.measure.instances import Instance
from tare.measure.iterations import Around, cpu_samples, energy_samples
from tare.measure.observation import Counted, Observation, observed
from tare.measure.parity import own_stopwatches, require_equal_commands, require_equal_path
from tare.measure.prepared import Prepared
from tare.measure.stopwatch import Stopwatch
from tare.measure.timing import inversions, judge, wall_samples
from tare.measure.verify_unprivileged import BY_RUSAGE, CPU_TIME, rusage_s
from tare.nodes.provider import Node, NodeGroup
from tare.records import Bounds, Storage
from tare.units import GIBIBYTE, format_byte

_RESERVE = 0.05
_MOST_RESERVED_BYTE = 2 * GIBIBYTE


class DiskRoom:
    """Space on the file systems below the layers of these nodes, from now on; other hosts' are not visible.

    A plain folder has no quota, and a separate file system for each node would not be the one that is measured. So
    the whole file system is checked about once a second: whoever took the space, the trial ends. Source:
    statvfs(3).
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        specs = [node.spec for node in nodes if node.elsewhere is None and node.spec.storage is Storage.DISK]
        bounded = [spec for spec in specs if spec.bounds != Bounds()]  # else a result begun without bounds
        self._most_byte = bounded[0].bounds.disk_byte if bounded else None
        folders = {spec.directory.stat().st_dev: spec.directory for spec in bounded}
        self._before = {folder: _free_byte(folder) for folder in folders.values()}

    def check(self) -> None:
        """``NodeError`` if more is gone than permitted, or hardly anything is left."""
        for folder, before_byte in self._before.items():
            free_byte = _free_byte(folder)
            gone_byte = before_byte - free_byte
            if self._most_byte is not None and gone_byte > self._most_byte:
                raise NodeError(
                    f"the disk below the nodes' layers ({folder}) lost {format_byte(gone_byte)} in this trial, more "
                    f"than the limit of {format_byte(self._most_byte)}; write less, or raise disk under [limits]"
                )
            if free_byte < min(_reserve_byte(folder), gone_byte):
                raise NodeError(
                    f"the disk below the nodes' layers ({folder}) has only {format_byte(free_byte)} left, after "
                    f"{format_byte(gone_byte)} in this trial; write less, or make room"
                )


def _free_byte(folder: Path) -> int:
    file_system = os.statvfs(folder)
    return file_system.f_bavail * file_system.f_frsize


def _reserve_byte(folder: Path) -> int:
    file_system = os.statvfs(folder)
    return min(_MOST_RESERVED_BYTE, int(_RESERVE * file_system.f_blocks * file_system.f_frsize))


class TrialLooks:
    """One trial's looks; the results are recorded in its ``Measured``."""

    def __init__(
        self,
        context: Context,
        prepared: Prepared,
        measured: Measured,
        clocks: ClockWatch,
        observation: Observation,
    ) -> None:
        self._context, self._prepared, self._measured = context, prepared, measured
        self._watched = prepared.watched
        self._clocks, self._observation = clocks, observation
        self._disk = DiskRoom(prepared.up.nodes)
        self._host_clocks = clocks_of_hosts(prepared.trial, prepared.up.nodes)
        self._counters: Counters | None = None
        self._seen: list[Mapping[str, Any]] = []

    def around(self) -> Around:
        return Around(
            ready=self.ready,
            begin=self.begin,
            end=self.end,
            tick=self.tick,
            beside=self._clocks.beside,
            up_s=self._prepared.up.up_s,
            until_s=self._context.until_s,
        )

    def ready(self, instances: Sequence[Instance], stopwatches: Sequence[Stopwatch]) -> None:
        """Before each start of the commands: caches are emptied where they want cold files.

        ``UnequalArms`` if the host treats them differently from native ones, ``NodeError`` where a cache stays.
        """
        read = require_equal_commands(instances, stopwatches, self._context.expected)
        self._measured.parity = read or self._measured.parity
        self._seen += [stopwatch.seen for stopwatch in own_stopwatches(instances, stopwatches)]
        self._measured.learn(empty_caches([instance.seat for instance in instances if instance.job.cold]))

    def begin(self) -> None:
        """When the first commands are about to start."""
        self._host_clocks.probe()
        self._clocks.begin()
        self._prepared.company.begin()
        self._observation.begin()
        self._counters = Counters(self._watched)
        self._measured.helpers = self._counters.helpers

    def end(self) -> None:
        """Right after the last command's end."""
        if self._counters is not None:
            self._counters.stop()
        self._observation.end()
        self._prepared.company.check()
        self._clocks.end()
        self._host_clocks.probe()
        self._measured.host_clocks = self._host_clocks.found()

    def tick(self) -> None:
        self._context.tick()
        self._clocks.ask()
        self._host_clocks.glance()
        self._observation.glance()
        self._disk.check()
        refuse_bomb(self._watched)

    def turn(self) -> AbstractContextManager[None]:
        """Around a counted turn of this arm, for what can only be counted on the whole host."""
        return self._observation.turn()

    def between_turns(self) -> None:
        """As ``tick``, but between turns; it is finished on return, so that none of it falls into a turn."""
        self._observation.glance()
        self._clocks.probe()
        self._host_clocks.glance()
        self._disk.check()

    def note(self, *, whole: bool = True) -> None:
        """Record all counts; ``NodeError`` if a limit killed a process, ``UnequalArms`` if a weight changed meanwhile.

        ``whole``: the commands ran from GO to DONE without a pause, so that their wall and CPU times are samples.
        """
        self._count(whole=whole)
        self._observe()
        refuse_victims(self._watched)
        for node in self._watched.nodes:
            require_equal_path(self._watched.provider, node, self._context.expected)

    def _count(self, *, whole: bool) -> None:
        measured, counters = self._measured, self._counters
        if counters is None:
            return
        instances, runs = measured.gathered.begun, measured.gathered.runs
        spanning = any(
            len(instance.seat.members) > 1 for instance in instances
        )  # mpirun's account is its own
        by_rusage = measured.facts.get(CPU_TIME) == BY_RUSAGE and not spanning
        measured.cpu_s = rusage_s(runs) if by_rusage else counters.cpu_s
        measured.helper_cpu_s, measured.vcpu_wait_s = counters.helper_cpu_s, counters.vcpu_wait_s
        measured.steal_s = self._clocks.steal_s
        findings = self._clocks.findings()
        for facts in findings.facts:
            measured.learn(facts)
        inverted = inversions(runs, instances)
        measured.timer_inversions = len(inverted)
        if inverted:
            measured.facts["CPU time over wall time"] = "; ".join(inverted)
        measured.timing = judge(runs, instances, findings.fault)
        if whole:
            measured.samples += wall_samples(runs, instances, measured.timing)
            measured.samples += cpu_samples(measured.gathered, measured.cpu_s, by_rusage=by_rusage)

    def _observe(self) -> None:
        measured = self._measured
        counted = Counted(
            cpu_s=measured.cpu_s,
            helper_cpu_s=measured.helper_cpu_s,
            vcpu_wait_s=measured.vcpu_wait_s,
            steal_s=measured.steal_s,
            runs=measured.gathered.runs,
            seen=self._seen,
        )
        measured.signals, measured.excluded = self._observation.told(counted, self._context.exclude)
        measured.load = self._observation.load(measured.signals)
        measured.host_signals = self._observation.by_host
        measured.samples += energy_samples(measured.signals.signals)


@contextmanager
def looked_at(
    context: Context, prepared: Prepared, measured: Measured, others: Sequence[NodeGroup] = ()
) -> Iterator[TrialLooks]:
    """Open everything that the looks need, before anything is timed.

    ``others``: the groups of the other arms, if several take turns: their load is not foreign load.
    """
    watched, company = prepared.watched, prepared.company.groups
    beside = None if company is None else [*company, *others]
    with (
        watched_clocks(watched.provider, watched.nodes, prepared.up.ways) as clocks,
        observed(prepared.trial, watched, beside, context.process_stats) as observation,
    ):
        yield TrialLooks(context, prepared, measured, clocks, observation)
