# SPDX-License-Identifier: Apache-2.0
"""The signals of a trial whose nodes are on other hosts: each host's own, and all of them together.

Each node's host reads for the node; what belongs to a host as a whole is taken from the first of its nodes.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache

from tare.environments.ssh.readings import FarReadings, begin_signals, end_signals, glance_at_signals
from tare.measure.clocks import host_ns
from tare.measure.exclusion import FOREIGN
from tare.measure.host_clocks import by_host
from tare.nodes.provider import Node
from tare.records import Scope, Signal, Trial
from tare.records.signals import HostSignals
from tare.signals import FAMILIES
from tare.signals.family import Kind, SignalFamily
from tare.signals.watch import Found
from tare.untrusted import writable

_ASKED_AT_ONCE = 32
_PAUSE_NS = 10_000_000_000
_UNKNOWN = "the CPU time of the trial itself is not known"
_LONGEST_WHY = 300
_MOST = 1e18
"""No count or time of one trial is as large; sums beyond it could leave the range of numbers."""
_NOT_TOLD = "the other host does not tell it"


class FarSignals:
    """All hosts of one trial; nothing for a trial without a list of hosts."""

    def __init__(self, hosts: Mapping[str, Sequence[Node]]) -> None:
        self._hosts = hosts
        self._glanced_ns = 0
        self.by_host: dict[str, HostSignals] = {}

    def __bool__(self) -> bool:
        return bool(self._hosts)

    def begin(self) -> None:
        """Read everything on all hosts at once; ``NodeError`` if one does not answer."""
        self._of_all(lambda host, node: begin_signals(node, self._processors(host)))
        self._glanced_ns = host_ns()

    def glance(self) -> None:
        """Read levels and what wraps, seldom: hosts answer one after the other, and somebody waits meanwhile."""
        if self._hosts and host_ns() - self._glanced_ns > _PAUSE_NS:
            for nodes in self._hosts.values():
                glance_at_signals(nodes[0])
            self._glanced_ns = host_ns()

    def end(self) -> None:
        answered = self._of_all(lambda _, node: end_signals(node))
        self.by_host = {
            host: host_signals(readings, len(self._processors(host))) for host, readings in answered.items()
        }

    def found(self) -> Found:
        """The hosts' signals together; one that a host lacks is missing, with why."""
        return together(self.by_host)

    def _processors(self, host: str) -> list[int]:
        return sorted({number for node in self._hosts[host] for number in node.spec.processors})

    def _of_all(self, ask: Callable[[str, Node], FarReadings | None]) -> dict[str, list[FarReadings]]:
        asked = [(host, node) for host, nodes in self._hosts.items() for node in nodes]
        if not asked:
            return {}
        with ThreadPoolExecutor(_ASKED_AT_ONCE) as pool:
            answers = list(pool.map(lambda each: ask(*each), asked))
        answered: dict[str, list[FarReadings]] = {}
        for (host, _), answer in zip(asked, answers, strict=True):
            if answer is not None:
                answered.setdefault(host, []).append(answer)
        return answered


def far_signals(trial: Trial, nodes: Sequence[Node]) -> FarSignals:
    return FarSignals(by_host(trial, nodes))


def host_signals(readings: Sequence[FarReadings], processors: int) -> HostSignals:
    """One host's, from what each of its nodes' agents told.

    ``foreign_cpu_s`` is what neither the nodes nor the agents used; ssh's own part is in it.
    """
    answered = {name: signal for name in _known() if (signal := _of_nodes(name, readings)) is not None}
    missing = {name: _why(name, readings) for name in _known() if name not in answered}
    foreign_s = _foreign_s(readings)
    if foreign_s is None:
        missing[FOREIGN] = _UNKNOWN
    else:
        answered[FOREIGN] = Signal(name=FOREIGN, unit="s", scope=Scope.HOST, value=foreign_s)
    span_s = readings[0]["span_s"]
    return HostSignals(
        processors=processors, span_s=span_s, signals=tuple(answered.values()), missing=missing
    )


def together(hosts: Mapping[str, HostSignals]) -> Found:
    combined = Found()
    for host, own in hosts.items():
        for name, why in own.missing.items():
            combined.missing.setdefault(name, f"{why} (on {host})")
    named: dict[str, list[Signal]] = {}
    for own in hosts.values():
        for signal in own.signals:
            if signal.name not in combined.missing:
                named.setdefault(signal.name, []).append(signal)
    combined.signals += [_joined(signals) for signals in named.values()]
    return combined


def _of_nodes(name: str, readings: Sequence[FarReadings]) -> Signal | None:
    """All nodes' together; only name, scope and value are the other host's word."""
    answered = [
        signal
        for each in readings
        for signal in each["signals"]
        if signal["name"] == name and abs(signal["value"]) < _MOST
    ]
    if len(answered) != len(readings):
        return None
    scope = Scope.HOST if answered[0]["scope"] == Scope.HOST else Scope.NODE
    kind = _known()[name][1]
    return _joined(
        [
            Signal(name=name, unit=kind.unit, scope=scope, value=signal["value"], lost_time=kind.lost_time)
            for signal in (answered if scope is Scope.NODE else answered[:1])
        ]
    )


def _why(name: str, readings: Sequence[FarReadings]) -> str:
    why = next((each["missing"][name] for each in readings if name in each["missing"]), _NOT_TOLD)
    return writable(why[:_LONGEST_WHY])


def _joined(signals: Sequence[Signal]) -> Signal:
    """Of several nodes or hosts, as the signal's family joins its sources."""
    first = signals[0]
    values = [signal.value for signal in signals]
    family = _known()[first.name][0] if first.name in _known() else None
    return replace(first, value=float(sum(values) if family is None else family.joined(values)))


def _foreign_s(readings: Sequence[FarReadings]) -> float | None:
    used_s, own_s = readings[0]["used_s"], sum(each["own_s"] for each in readings)
    nodes_s = [each["node_s"] for each in readings]
    if used_s is None or None in nodes_s:
        return None
    return max(0.0, used_s - own_s - sum(node_s for node_s in nodes_s if node_s is not None))


@cache
def _known() -> Mapping[str, tuple[SignalFamily, Kind]]:
    """The names that a host may tell."""
    return {kind.name: (family, kind) for family in FAMILIES for kind in family.kinds}
