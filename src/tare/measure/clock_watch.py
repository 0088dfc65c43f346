# SPDX-License-Identifier: Apache-2.0
"""The clocks of nodes that have their own, asked before, once a second during, and after a trial's run.

The one asked is a stopwatch that never runs anything; docs/method.md says what an answer costs. While a command runs
it is not waited for, so that the command's end is not noticed late. Where arms take turns it is asked between two
turns and waited for, so that no arm's turn pays for the answer of another's node.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from tare.measure.clock_line import ClockProbe
from tare.measure.clock_relations import READINGS, host_readings, relations
from tare.measure.clock_verdict import ClockFindings, findings
from tare.measure.clocks import PROBES, host_ns
from tare.measure.inspection import idle_stopwatch
from tare.measure.protocol import nonsense
from tare.measure.stopwatch import Stopwatch
from tare.measure.ways import Ways
from tare.nodes.provider import Node, Provider

_READY_LIMIT_S = 30.0
_PAUSE_NS = 900_000_000
"""Between two questions while a command runs; the ticks that bring them come each second, and at each end."""


class NodeClocks:
    """The clocks of one node."""

    def __init__(self, stopwatch: Stopwatch) -> None:
        self._stopwatch = stopwatch
        self._asked_ns: int | None = None
        self._answered_ns = 0
        self._steal_before_s: float | None = None
        self.steal_s: float | None = None
        """What its kernel says was taken from it between ``begin`` and ``end``; ``None`` if it never counted any."""
        self._told: list[Mapping[str, int]] = []
        self.probes: dict[str, list[ClockProbe]] = {}
        """Of each clock, in the order in which they were asked."""

    def fileno(self) -> int:
        return self._stopwatch.fileno()

    def begin(self) -> None:
        self._steal_before_s = self._stopwatch.steal_s()
        self.probe(PROBES)

    def end(self) -> None:
        if self._asked_ns is not None:
            self._note(self._stopwatch.await_clocks())
        after_s = self._stopwatch.steal_s()
        if after_s and self._steal_before_s is not None:  # a kernel that cannot know says 0 for ever
            self.steal_s = after_s - self._steal_before_s
        self.probe(PROBES)

    def ask(self) -> None:
        """Without waiting; nothing as long as an answer is due, or the last one is fresh."""
        if self._asked_ns is None and host_ns() - self._answered_ns > _PAUSE_NS:
            self._ask()

    def heard(self) -> None:
        """Take the answer to ``ask``; ``NodeError`` if it makes no sense, or if nothing was asked."""
        told_clocks = self._stopwatch.told_clocks()
        if told_clocks is not None:
            self._note(told_clocks)

    @property
    def relations(self) -> Mapping[str, str]:
        """Facts on how its clocks went against each other."""
        return relations(self._told[:READINGS], self._told[-READINGS:])

    def probe(self, times: int) -> None:
        """Ask, and wait for each answer."""
        for _ in range(times):
            self._ask()
            self._note(self._stopwatch.await_clocks())

    def _ask(self) -> None:
        self._asked_ns = host_ns()
        self._stopwatch.ask_clocks()

    def _note(self, told: Mapping[str, int]) -> None:
        answered_ns = host_ns()
        if self._asked_ns is None:
            raise nonsense(b"an answer to no question")
        self._told.append(told)
        for name, node_ns in told.items():
            probe = ClockProbe(asked_ns=self._asked_ns, node_ns=node_ns, answered_ns=answered_ns)
            self.probes.setdefault(name, []).append(probe)
        self._asked_ns, self._answered_ns = None, answered_ns


class ClockWatch:
    """The clocks of all of a trial's nodes that have clocks of their own."""

    def __init__(self, nodes: Mapping[str, NodeClocks]) -> None:
        self._nodes = nodes
        self._before: list[Mapping[str, int]] = []
        self._after: list[Mapping[str, int]] = []
        """What the host's clocks said; asked where no node has its own."""

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
        """Ask once and wait for the answer: for when no command is at work."""
        for clocks in self._nodes.values():
            clocks.probe(1)

    def end(self) -> None:
        for clocks in self._nodes.values():
            clocks.end()
        self._after = [] if self._nodes else host_readings()

    @property
    def steal_s(self) -> float | None:
        """Of all nodes; ``None`` without any, or when one does not tell."""
        told = [clocks.steal_s for clocks in self._nodes.values()]
        known = [steal_s for steal_s in told if steal_s is not None]
        return sum(known) if known and len(known) == len(told) else None

    def findings(self) -> ClockFindings:
        clock_findings = findings({name: clocks.probes for name, clocks in self._nodes.items()})
        told = zip(clock_findings.facts, self._nodes.values(), strict=True)
        own = tuple({**facts, **clocks.relations} for facts, clocks in told)
        return replace(clock_findings, facts=own or (relations(self._before, self._after),))


@contextmanager
def watched_clocks(provider: Provider, nodes: Sequence[Node], ways: Ways) -> Iterator[ClockWatch]:
    """A way to the clocks of each node that has its own kernel; ``NodeError`` when one cannot be entered."""
    with ExitStack() as stack:
        found = {}
        for node in nodes:
            if node.own_kernel:
                stopwatch = stack.enter_context(idle_stopwatch(provider, node, ways))
                stopwatch.wait_ready(_READY_LIMIT_S)
                found[_called(node, len(nodes))] = NodeClocks(stopwatch)
        yield ClockWatch(found)


def _called(node: Node, count: int) -> str:
    """The same in every trial, as the node's name is not."""
    return "the node" if count == 1 else f"node {node.spec.index}"
