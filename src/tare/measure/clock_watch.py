# SPDX-License-Identifier: Apache-2.0
"""The clocks of nodes that have their own, read before, once a second during, and after a trial's run.

The clocks are read through an idle stopwatch; docs/method.md says what an answer costs. While a command runs, nothing
waits for the answer, so that the command's end is not noticed late. Where arms take turns, the question is asked and
answered between two turns, so that no arm's turn pays for another node's answer.
"""

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from tare.measure.clock_line import MILLION, ClockProbe
from tare.measure.clock_verdict import ClockFindings, findings
from tare.measure.clocks import PROBES, host_ns
from tare.measure.inspection import idle_stopwatch
from tare.measure.protocol import nonsense
from tare.measure.stopwatch import Stopwatch
from tare.measure.ways import Ways
from tare.nodes.provider import Node, Provider

_READY_LIMIT_S = 30.0
_PAUSE_NS = 900_000_000
"""Minimum time between two questions while a command runs; ticks trigger them each second, and at each end."""
READINGS = 5
"""Number of readings at each end; their medians count, as a reader may be interrupted between two clocks."""
_LEAST_SPAN_NS = 1_000_000_000
_LEAST_STEP_NS = 1_000_000

_Readings = Mapping[str, int]


class NodeClocks:
    """The clocks of one node."""

    def __init__(self, stopwatch: Stopwatch) -> None:
        self._stopwatch = stopwatch
        self._asked_ns: int | None = None
        self._answered_ns = 0
        self._steal_before_s: float | None = None
        self.steal_s: float | None = None
        """Time stolen from it between ``begin`` and ``end`` by its kernel's count; ``None`` if it never counted any."""
        self._told: list[Mapping[str, int]] = []
        self.probes: dict[str, list[ClockProbe]] = {}
        """Probes of each clock, in the order of the questions."""

    def fileno(self) -> int:
        return self._stopwatch.fileno()

    def begin(self) -> None:
        self._steal_before_s = self._stopwatch.steal_s()
        self.probe(PROBES)

    def end(self) -> None:
        if self._asked_ns is not None:
            self._note(self._stopwatch.await_clocks())
        after_s = self._stopwatch.steal_s()
        if after_s and self._steal_before_s is not None:  # a kernel that cannot know always reports 0
            self.steal_s = after_s - self._steal_before_s
        self.probe(PROBES)

    def ask(self) -> None:
        """Ask without waiting; do nothing while an answer is due or the last one is fresh."""
        if self._asked_ns is None and host_ns() - self._answered_ns > _PAUSE_NS:
            self._ask()

    def heard(self) -> None:
        """Receive the answer to ``ask``; ``NodeError`` if it makes no sense, or if nothing was asked."""
        told_clocks = self._stopwatch.told_clocks()
        if told_clocks is not None:
            self._note(told_clocks)

    @property
    def relations(self) -> Mapping[str, str]:
        """Facts on how its clocks ran relative to each other."""
        return relations(self._told[:READINGS], self._told[-READINGS:])

    def probe(self, times: int) -> None:
        """Ask, and wait for each answer."""
        for _ in range(times):
            self._ask()
            self._note(self._stopwatch.await_clocks())

    def _ask(self) -> None:
        self._asked_ns = host_ns()
        self._stopwatch.ask_clocks()

    def _note(self, readings: Mapping[str, int]) -> None:
        answered_ns = host_ns()
        if self._asked_ns is None:
            raise nonsense(b"an answer to no question")
        self._told.append(readings)
        for name, node_ns in readings.items():
            probe = ClockProbe(asked_ns=self._asked_ns, node_ns=node_ns, answered_ns=answered_ns)
            self.probes.setdefault(name, []).append(probe)
        self._asked_ns, self._answered_ns = None, answered_ns


class ClockWatch:
    """The clocks of all of a trial's nodes that have clocks of their own."""

    def __init__(self, nodes: Mapping[str, NodeClocks]) -> None:
        self._nodes = nodes
        self._before: list[Mapping[str, int]] = []
        self._after: list[Mapping[str, int]] = []
        """Readings of the host's clocks, taken if no node has its own."""

    @property
    def beside(self) -> Sequence[NodeClocks]:
        return tuple(self._nodes.values())

    def begin(self) -> None:
        self._before = [] if self._nodes else host_readings()
        for clocks in self._nodes.values():
            clocks.begin()

    def ask(self) -> None:
        for clocks in self._nodes.values():
            clocks.ask()

    def probe(self) -> None:
        """Ask once and wait for the answer, while no command is running."""
        for clocks in self._nodes.values():
            clocks.probe(1)

    def end(self) -> None:
        for clocks in self._nodes.values():
            clocks.end()
        self._after = [] if self._nodes else host_readings()

    @property
    def steal_s(self) -> float | None:
        """Stolen time of all nodes; ``None`` without nodes, or if one does not report it."""
        stolen_s = [clocks.steal_s for clocks in self._nodes.values()]
        known = [steal_s for steal_s in stolen_s if steal_s is not None]
        return sum(known) if known and len(known) == len(stolen_s) else None

    def findings(self) -> ClockFindings:
        clock_findings = findings({name: clocks.probes for name, clocks in self._nodes.items()})
        paired = zip(clock_findings.facts, self._nodes.values(), strict=True)
        own = tuple({**facts, **clocks.relations} for facts, clocks in paired)
        return replace(clock_findings, facts=own or (relations(self._before, self._after),))


@contextmanager
def watched_clocks(provider: Provider, nodes: Sequence[Node], ways: Ways) -> Iterator[ClockWatch]:
    """Access to the clocks of each node that has its own kernel; ``NodeError`` if a node cannot be entered."""
    with ExitStack() as stack:
        clocks_by_name = {}
        for node in nodes:
            if node.own_kernel:
                stopwatch = stack.enter_context(idle_stopwatch(provider, node, ways))
                stopwatch.wait_ready(_READY_LIMIT_S)
                clocks_by_name[_called(node, len(nodes))] = NodeClocks(stopwatch)
        yield ClockWatch(clocks_by_name)


def _called(node: Node, count: int) -> str:
    """A label that is the same in every trial, unlike the node's name."""
    return "the node" if count == 1 else f"node {node.spec.index}"


def host_readings() -> list[_Readings]:
    """The host's clocks, read in direct succession, several times."""
    return [
        {
            "monotonic_raw_ns": time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW),
            "monotonic_ns": time.clock_gettime_ns(time.CLOCK_MONOTONIC),
            "realtime_ns": time.clock_gettime_ns(time.CLOCK_REALTIME),
        }
        for _ in range(READINGS)
    ]


def relations(before: Sequence[_Readings], after: Sequence[_Readings]) -> dict[str, str]:
    """Facts from readings at the beginning and at the end of a trial; none without readings.

    CLOCK_REALTIME and CLOCK_MONOTONIC are disciplined alike, so that only a step separates them;
    CLOCK_MONOTONIC_RAW is not disciplined at all, so that CLOCK_MONOTONIC's rate against it is the discipline
    (clock_gettime(2)).
    """
    if not before or not after:
        return {}
    span_ns = _median(after, "monotonic_raw_ns") - _median(before, "monotonic_raw_ns")
    gained_ns = _offset(after, "monotonic_raw_ns") - _offset(before, "monotonic_raw_ns")
    step_ns = _offset(before, "realtime_ns") - _offset(after, "realtime_ns")
    stepped = abs(step_ns) > _LEAST_STEP_NS
    facts = {"step of CLOCK_REALTIME": f"{step_ns * 1e-6:+.3f} ms" if stepped else "none"}
    if span_ns >= _LEAST_SPAN_NS:
        rate = f"{gained_ns / span_ns * MILLION:+.1f} ppm"
        facts["rate of CLOCK_MONOTONIC against CLOCK_MONOTONIC_RAW"] = rate
    return facts


def _offset(readings: Sequence[_Readings], other: str) -> float:
    """How far CLOCK_MONOTONIC is ahead of another clock."""
    return statistics.median(reading["monotonic_ns"] - reading[other] for reading in readings)


def _median(readings: Sequence[_Readings], name: str) -> float:
    return statistics.median(reading[name] for reading in readings)
