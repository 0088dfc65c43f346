# SPDX-License-Identifier: Apache-2.0
"""Use of the processors by others: just before the first trial, and while each trial's commands run.

A trial's own processes are all below this one, and the processes of its nodes, their helpers and their neighbours. Time
of kernel threads and of environments' daemons may be an environment's own cost, and does not count as foreign load.
"""

import os
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from tare.host import busy
from tare.host.facts import online_processors
from tare.host.process_stats import ProcessStats
from tare.measure.counted import Watched
from tare.measure.exclusion import FOREIGN
from tare.nodes.provider import NodeGroup
from tare.records import BusyProgram, HostLoad
from tare.signals.place import Place, control_group
from tare.signals.watch import Found

LOOK_S = 0.5
"""Duration of the look before the first trial: 50 ticks for each processor."""
NAMED = 0.05
"""Processors' worth; programs below it are not named."""
_MOST_NAMED = 3
_SLACK_TICKS = 2
"""Possible error of a time in ticks, one at each end: for each process, and for each processor as a whole."""
UNSEEN = "others, ended meanwhile"
_DAEMONS = frozenset(
    {
        *("containerd", "containerd-shim", "dockerd", "docker-proxy", "libvirtd", "virtqemud", "virtlogd"),
        *(
            "lxcfs",
            "lxc-monitord",
            "systemd-machine",
            "VBoxSVC",
            "VBoxXPCOMIPCD",
            "vmware-hostd",
            "xenstored",
        ),
    }
)
"""Names as the kernel truncates them, at 15 letters."""


def look_before_start(wait_s: float | None = None) -> HostLoad:
    """Present use of all processors by others; a process without CPU time in this half second is not seen."""
    quotas, numbers = busy.quota_files(), online_processors()
    with closing(ProcessStats()) as stats:
        before = busy.snapshot(stats, quotas)
        time.sleep(LOOK_S if wait_s is None else wait_s)
        after = busy.snapshot(stats, quotas)
    span_s = after.at_s - before.at_s
    others = [
        used
        for used in busy.spent_between(before, after)
        if not used.process.kernel and os.getpid() not in busy.line_of(used.process.pid, after)
    ]
    load = HostLoad(
        processors=len(numbers),
        foreign=min(len(numbers), sum(used.cpu_s for used in others) / span_s),
        steal=busy.stolen(before, after, numbers) or 0.0,
        throttled=busy.throttled_share(before, after),
    )
    return _named(load, others, span_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shares:
    """CPU time between two snapshots."""

    others: Sequence[busy.Used]
    known_s: float
    """Everything seen outside the trial's own account: others, the kernel, daemons, Tare's own tools."""


class OthersWatch:
    """Who else uses the processors of one trial."""

    def __init__(
        self,
        place: Place,
        watched: Watched,
        neighbours: Sequence[NodeGroup] | None,
        stats: ProcessStats,
    ) -> None:
        """``neighbours``: the groups of the trial's neighbours. ``stats``: the session's."""
        self._place, self._watched = place, watched
        self._groups = [*watched.all_groups, *(neighbours or ())]
        self._quotas = () if place.elsewhere else busy.quota_files()
        self._stats = stats
        self._looks: list[busy.Snapshot] = []
        self._members: set[int] = set()

    def look(self) -> None:
        """Take a snapshot, once before GO and once after the last DONE, outside the timed part."""
        if not self._place.elsewhere:
            self._looks.append(busy.snapshot(self._stats, self._quotas))
        if len(self._looks) > 1:
            groups = filter(None, map(control_group, self._groups))
            self._members = {pid for group in groups for pid in group.counted()}

    def load(self, signals: Found, span_s: float) -> HostLoad | None:
        """``signals``: the trial's signals over ``span_s``; ``None`` where the trial ran on another host."""
        if len(self._looks) < 2:  # noqa: PLR2004 - before and after
            return None
        before, after = self._looks[0], self._looks[-1]
        whole_s = after.at_s - before.at_s
        shares = self._shares(before, after)
        steal_s = _signal(signals, "host_steal_s") or 0.0
        count = len(self._place.processors)
        slack_s = _SLACK_TICKS * busy.TICK_S * count
        beyond_s = _signal(signals, FOREIGN)
        others_s = sum(max(0.0, used.cpu_s - _SLACK_TICKS * busy.TICK_S) for used in shares.others)
        unseen_s = 0.0 if beyond_s is None else max(0.0, beyond_s - steal_s - shares.known_s - slack_s)
        most_s = span_s * count if beyond_s is None else beyond_s - steal_s
        load = HostLoad(
            processors=count,
            foreign=max(0.0, min(others_s + unseen_s, most_s)) / span_s,
            steal=max(0.0, steal_s - slack_s) / span_s,
            throttled=busy.throttled_share(before, after),
        )
        named = _named(load, shares.others, whole_s)
        return _with_unseen(named, unseen_s / span_s) if named.busy else named

    def _shares(self, before: busy.Snapshot, after: busy.Snapshot) -> _Shares:
        nodes, own_pid = self._node_processes(), os.getpid()
        others: list[busy.Used] = []
        known_s = 0.0
        for used in busy.spent_between(before, after):
            line = busy.line_of(used.process.pid, after)
            of_nodes = not line.isdisjoint(nodes)
            if not of_nodes and used.process.pid != own_pid:
                known_s += used.cpu_s
            if not (of_nodes or own_pid in line or used.process.kernel or used.process.name in _DAEMONS):
                others.append(used)
        return _Shares(others=others, known_s=known_s)

    def _node_processes(self) -> set[int]:
        """The processes covered by the trial's account of CPU time."""
        own = {node.init_pid for node in self._watched.nodes if node.init_pid is not None}
        return own | self._members | set(self._watched.helpers())


def busy_said(load: HostLoad) -> str:
    """What a user should know of a busy host before the first trial."""
    return f"this machine is busy: {said(load)}; claims may be withheld; wait until it is over, or stop it"


def said(load: HostLoad) -> str:
    """Such as "stress (pid 123, user alice) uses 1.0 of 2 processors"."""
    of = f"of {load.processors} processor{'s' if load.processors > 1 else ''}"
    parts = [
        f"{program.name}{_whose(program)} {'use' if program.pid is None else 'uses'} {program.processors:.1f}"
        for program in load.others
    ]
    if round(load.steal, 1):
        parts.append(f"a hypervisor below takes {load.steal:.1f}")
    if parts:
        parts[-1] += f" {of}"
    if load.throttled:
        parts.append(_throttled(load))
    return ", ".join(parts) or f"others use {load.foreign:.1f} {of}"


def said_of_trial(load: HostLoad) -> str:
    """Such as "others take 0.5 of its 1 processor: stress (pid 123, user alice)"."""
    of = f"of its {load.processors} processor{'s' if load.processors > 1 else ''}"
    who = ", ".join(f"{busy_program.name}{_whose(busy_program)}" for busy_program in load.others)
    parts = [f"others take {load.foreign:.1f} {of}{f': {who}' if who else ''}"] if load.foreign else []
    if round(load.steal, 1):
        parts.append(f"a hypervisor below takes {load.steal:.1f} {of}")
    if load.throttled:
        parts.append(_throttled(load))
    return "; ".join(parts)


def _throttled(load: HostLoad) -> str:
    return f"a CPU quota holds Tare itself back {100 * load.throttled:.0f} % of the time"


def _whose(program: BusyProgram) -> str:
    known = [
        f"pid {program.pid}" if program.pid is not None else "",
        f"user {program.user}" if program.user else "",
    ]
    words = ", ".join(filter(None, known))
    return f" ({words})" if words else ""


def _signal(signals: Found, name: str) -> float | None:
    return next((signal.value for signal in signals.signals if signal.name == name), None)


def _named(load: HostLoad, others: Iterable[busy.Used], span_s: float) -> HostLoad:
    """Add the busiest programs, if the host is busy."""
    if not load.busy:
        return load
    largest = [program for program in busy.programs(others, span_s) if program.processors >= NAMED]
    named = (
        BusyProgram(name=program.name, user=program.user, pid=program.pid, processors=program.processors)
        for program in largest[:_MOST_NAMED]
    )
    return replace(load, others=tuple(named))


def _with_unseen(load: HostLoad, processors: float) -> HostLoad:
    """Add load without a known program as an unknown one."""
    if processors < NAMED:
        return load
    unseen = BusyProgram(name=UNSEEN, user=None, pid=None, processors=processors)
    return replace(load, others=(*load.others, unseen))
