# SPDX-License-Identifier: Apache-2.0
"""The clocks of a trial's hosts against this one's: asked over their connections before, during and after its run.

What comes before and after is asked of all hosts at once. Within a trial each is asked once in ``_PAUSE_NS``, one
after the other, so that the end of a command is noticed late by a few round trips at most, and only by this host's
clock: the node's own stops the time.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from tare.environments.ssh.readings import host_clock_ns
from tare.measure.clock_line import ClockProbe
from tare.measure.clock_offset import drift_of, offset_at
from tare.measure.clocks import host_ns
from tare.measure.placement import effective_layout
from tare.nodes.provider import Node
from tare.records import Trial
from tare.records.host_clocks import HostClock

_EXCHANGES = 8
_PAUSE_NS = 10_000_000_000
_ASKED_AT_ONCE = 16
_NS = 1e-9

Ask = Callable[[], int]
"""Reads a host's clock, in nanoseconds."""


class HostClocks:
    """The exchanges with each host, by the host's name."""

    def __init__(self, asks: Mapping[str, Ask]) -> None:
        self._asks = asks
        self._probes: dict[str, list[ClockProbe]] = {host: [] for host in asks}
        self._asked_ns = 0

    def probe(self) -> None:
        """Several exchanges with every host, all at once; ``NodeError`` if one does not answer."""
        if self._asks:
            with ThreadPoolExecutor(_ASKED_AT_ONCE) as pool:
                list(pool.map(self._probe_several, self._asks))
        self._asked_ns = host_ns()

    def glance(self) -> None:
        """One exchange with every host, unless the last ones are fresh."""
        if self._asks and host_ns() - self._asked_ns > _PAUSE_NS:
            for host in self._asks:
                self._probe_once(host)
            self._asked_ns = host_ns()

    def found(self) -> dict[str, HostClock]:
        return {host: host_clock(probes) for host, probes in self._probes.items() if probes}

    def _probe_several(self, host: str) -> None:
        for _ in range(_EXCHANGES):
            self._probe_once(host)

    def _probe_once(self, host: str) -> None:
        asked_ns = host_ns()
        node_ns = self._asks[host]()
        self._probes[host].append(ClockProbe(asked_ns=asked_ns, node_ns=node_ns, answered_ns=host_ns()))


def clocks_of_hosts(trial: Trial, nodes: Sequence[Node]) -> HostClocks:
    """For the hosts of this trial's nodes, each by its first node; for none without a list of hosts."""
    asks = {host: _asking(own[0]) for host, own in by_host(trial, nodes).items()}
    return HostClocks(asks)


def by_host(trial: Trial, nodes: Sequence[Node]) -> dict[str, list[Node]]:
    """Host of the campaign's list → the trial's nodes there; empty without such a list."""
    there: dict[str, list[Node]] = {}
    layout = effective_layout(trial)
    for node in nodes if trial.hosts else ():
        if node.elsewhere is not None:
            there.setdefault(trial.hosts[layout.host_of(node.spec.index)], []).append(node)
    return there


def host_clock(probes: Sequence[ClockProbe]) -> HostClock:
    """The record; offset and bound are in the middle of the exchanges."""
    first, last = probes[0], probes[-1]
    at_ns = (first.asked_ns + last.answered_ns) // 2
    offset = offset_at(probes, at_ns)
    drift = None if offset is None else drift_of(probes)
    return HostClock(
        offset_s=None if offset is None else float(offset.middle_ns) * _NS,
        bound_s=None if offset is None else float(offset.bound_ns) * _NS,
        drift_low_ppm=None if drift is None else drift.low_ppm,
        drift_high_ppm=None if drift is None else drift.high_ppm,
        exchanges=len(probes),
        least_round_trip_s=min(probe.round_trip_ns for probe in probes) * _NS,
        span_s=(last.answered_ns - first.asked_ns) * _NS,
        at_s=at_ns * _NS,
    )


def _asking(node: Node) -> Ask:
    return lambda: host_clock_ns(node)
