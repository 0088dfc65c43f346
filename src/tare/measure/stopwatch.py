# SPDX-License-Identifier: Apache-2.0
"""The runner's side of the stopwatch: one command in one node, spoken to over a pipe, line by line.

The stopwatch reports READY with facts about its node. It answers PING and CLOCKS with its clocks, QUALITY with a test
of them and STEAL with the time stolen by a hypervisor. On GO it starts the command, at once or at a set time, and
reports DONE with the command's figures; when the pipe closes it ends, together with the command. NEXT makes it a
stopwatch for another command. A command that works in turns gets each by TURN, and its answer comes as TOOK; END closes
its input, so that it ends by itself.
"""

import os
import selectors
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from tare.errors import EndedInTurn, NodeError
from tare.measure import protocol
from tare.measure.clock_line import ClockProbe
from tare.measure.clocks import PROBES, host_ns
from tare.measure.node_pipe import NodePipe
from tare.measure.starts import StartClock, start_clocks
from tare.records import User

_PROBE_LIMIT_S = 20.0
_TICK_S = 1.0
_LEAD_NS = 20_000_000
"""Lead of a GO for several before their start: some ways into a node took 8 ms instead of the usual 0.3."""
_MOST_LEAD_NS = 200_000_000
"""Upper limit of the lead: a node that answers slowly on purpose would make all others wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """The command that one stopwatch runs; paths as the node sees them."""

    argv: tuple[str, ...]
    directory: str
    variables: Mapping[str, str]
    limit_s: float
    processors: tuple[int, ...] = ()
    file_limit_byte: int = 1 << 30
    resource_limits: Mapping[str, int] = field(default_factory=dict)
    """Name in getrlimit(2) → maximum for the command."""
    input: str | None = None
    """File that it reads as its standard input; ``None``: nothing."""
    turns: bool = False
    """Whether it reads a line for each of its turns and answers with one."""
    user: User | None = None
    """User that it runs as; ``None``: as the stopwatch."""

    def options(self, output_folder: str) -> list[str]:
        """The stopwatch's own arguments."""
        parts = ["--directory", self.directory, "--limit-s", f"{self.limit_s:.3f}"]
        parts += ["--stdout", f"{output_folder}/stdout", "--stderr", f"{output_folder}/stderr"]
        parts += ["--file-limit-byte", str(self.file_limit_byte)]
        if self.input:
            parts += ["--stdin", self.input]
        if self.user:
            parts += ["--user", str(self.user)]
        for name, most in self.resource_limits.items():
            parts += ["--limit", f"{name}={most}"]
        if self.turns:
            parts += ["--turns", "yes"]
        if self.processors:
            parts += ["--processors", ",".join(map(str, self.processors))]
        for name, value in self.variables.items():
            parts += ["--env", f"{name}={value}"]
        return [*parts, "--", *self.argv]


def ending(done: Mapping[str, Any]) -> str:
    """How a command ended, in words."""
    if done["error"] is not None:
        return str(done["error"])
    if done["timed_out"]:
        return "its time limit was over"
    return f"signal {done['signal']}" if done["signal"] is not None else f"exit code {done['exit_code']}"


class Stopwatch:
    """One running stopwatch; a context manager that always ends it."""

    def __init__(self, argv: Sequence[str]) -> None:
        """Start it; ``NodeError`` if the first program of ``argv`` cannot be started."""
        self._pipe = NodePipe(argv)
        self.seen: Mapping[str, Any] = {}
        """The stopwatch's report in READY."""
        self._sent_ns = self._went_ns = self._done_ns = 0

    def __enter__(self) -> Self:
        return self

    @property
    def is_free(self) -> bool:
        """Whether its command has ended or never began, and everything it reported was read."""
        return self._went_ns <= self._done_ns and self._pipe.is_silent

    def become(self, words: Sequence[str]) -> None:
        """Measure another command, given by ``words``: it reports READY again. Only if it ``is_free``."""
        content = b"".join(os.fsencode(word) + b"\0" for word in words)
        self._pipe.send(b"NEXT %d\n" % len(content) + content)
        self.seen = {}
        self._sent_ns = self._went_ns = self._done_ns = 0

    def dismiss(self) -> None:
        """Let it end, without waiting."""
        self._pipe.close_input()

    def __exit__(self, *_: object) -> None:
        self._pipe.close()

    def fileno(self) -> int:
        return self._pipe.fileno()

    def wait_ready(self, limit_s: float) -> None:
        """Wait for READY; ``NodeError`` with what the prefix or the stopwatch printed instead."""
        line = self._pipe.expect(b"READY ", time.monotonic() + limit_s)
        self.seen = protocol.ready(line)

    def probe(self) -> list[ClockProbe]:
        return [self._probe_once() for _ in range(PROBES)]

    def _probe_once(self) -> ClockProbe:
        asked_ns = host_ns()
        self._pipe.send(b"PING\n")
        line = self._pipe.expect(b"PONG ", time.monotonic() + _PROBE_LIMIT_S)
        answered_ns = host_ns()
        return ClockProbe(asked_ns=asked_ns, node_ns=protocol.clock_ns(line), answered_ns=answered_ns)

    def ask_clocks(self) -> None:
        self._pipe.send(b"CLOCKS\n")

    def await_clocks(self) -> Mapping[str, int]:
        """Wait for the readings of the node's clocks."""
        return protocol.clock_readings(self._pipe.expect(b"CLOCKS ", time.monotonic() + _PROBE_LIMIT_S))

    def told_clocks(self) -> Mapping[str, int] | None:
        """The readings of the node's clocks, if their line has arrived; never waits."""
        line = self._pipe.next_line(b"CLOCKS ")
        return None if line is None else protocol.clock_readings(line)

    def steal_s(self) -> float | None:
        """Time that a hypervisor took from the node since its kernel started; ``None`` if not counted."""
        self._pipe.send(b"STEAL\n")
        return protocol.steal_s(self._pipe.expect(b"STEAL ", time.monotonic() + _PROBE_LIMIT_S))

    def quality(self) -> Mapping[str, Any]:
        """The node's clocks and their behaviour; takes up to 0.3 s, so ask before anything is timed."""
        self._pipe.send(b"QUALITY\n")
        return protocol.quality(self._pipe.expect(b"QUALITY ", time.monotonic() + _PROBE_LIMIT_S))

    def go(self) -> None:
        self._sent_ns = self._went_ns = host_ns()
        self._pipe.send(b"GO\n")

    def go_at(self, moment_ns: int, clock: StartClock) -> None:
        """Start the command at a moment of this host's clock, as the node's clock shows it."""
        self._sent_ns, self._went_ns = host_ns(), moment_ns - clock.bound_ns
        self._pipe.send(f"GO {moment_ns + clock.offset_ns}\n".encode())

    def done(self) -> Mapping[str, Any] | None:
        """The report in DONE, if its line has arrived; never waits.

        ``NodeError`` if it comes before the command's planned start.
        """
        line = self._pipe.next_line(b"DONE ")
        return None if line is None else self._ended(line)

    def _ended(self, line: bytes) -> Mapping[str, Any]:
        self._done_ns = host_ns()
        if self._done_ns < self._went_ns:
            early_s = (self._went_ns - self._done_ns) * 1e-9
            raise NodeError(
                f"the command ended {early_s:.3f} s before all were to start: is the node's clock wrong?"
            )
        return protocol.done(line)

    def turn(self, text: str) -> None:
        """Give the command a turn: one line for its standard input."""
        self._pipe.send(f"TURN {text}\n".encode())

    def took(self) -> Mapping[str, Any] | None:
        """The answer in TOOK, if its line has arrived; never waits.

        ``EndedInTurn`` if the command ended instead.
        """
        line = self._pipe.next_line(b"TOOK ", b"DONE ")
        return None if line is None else self._taken(line)

    def await_took(self, limit_s: float) -> Mapping[str, Any]:
        """Wait for the answer in TOOK; ``NodeError`` after ``limit_s``."""
        return self._taken(self._pipe.expect(b"TOOK ", time.monotonic() + limit_s, b"DONE "))

    def end_turns(self) -> None:
        """End the turns: the command's input ends, and so should it; ``done`` reports when."""
        self._pipe.send(b"END\n")

    def _taken(self, line: bytes) -> Mapping[str, Any]:
        if not line.startswith(b"DONE "):
            return protocol.took(line)
        done = self._ended(line.removeprefix(b"DONE "))
        raise EndedInTurn(
            f"the program ended in the middle of its turns: {ending(done)}; its output says why", done
        )

    @property
    def sent_ns(self) -> int:
        """When GO was sent, by the host's clock: the command cannot have started earlier, whatever moment GO named."""
        return self._sent_ns

    @property
    def host_span_s(self) -> float:
        """From sending GO to receiving DONE, by the host's clock; never shorter than the command."""
        return (self._done_ns - self._sent_ns) * 1e-9

    def has_said(self) -> bool:
        """Whether there is something to read."""
        return self._pipe.has_said()

    def end_command(self, limit_s: float) -> None:
        """End the command and wait until the stopwatch has gone, whatever it still prints; no error if it stays."""
        self._pipe.close_input()
        self._pipe.wait(limit_s)


class Beside(Protocol):
    """Another source of input while commands run."""

    def fileno(self) -> int: ...

    def heard(self) -> None:
        """Read what has arrived."""
        ...


def wait_all(
    stopwatches: Sequence[Stopwatch],
    limit_s: float,
    tick: Callable[[], None] = lambda: None,
    beside: Sequence[Beside] = (),
) -> list[Mapping[str, Any]]:
    """Wait for every DONE, asleep in between; ``tick`` is called each second and at each DONE.

    ``NodeError`` after ``limit_s``.
    """
    ended = _already_done(stopwatches)
    deadline = time.monotonic() + limit_s
    next_tick = time.monotonic() + _TICK_S
    with selectors.DefaultSelector() as selector:
        for index, stopwatch in enumerate(stopwatches):
            if index not in ended:
                selector.register(stopwatch, selectors.EVENT_READ, index)
        for source in beside:
            selector.register(source, selectors.EVENT_READ, source)
        while len(ended) < len(stopwatches):
            for key, _ in selector.select(max(0.0, min(next_tick, deadline) - time.monotonic())):
                if not isinstance(key.data, int):
                    key.data.heard()
                elif (said := stopwatches[key.data].done()) is not None:
                    ended[key.data] = said
                    selector.unregister(stopwatches[key.data])
                    next_tick = 0.0
            if len(ended) < len(stopwatches) and time.monotonic() > deadline:
                raise NodeError(
                    f"no end of the command after {limit_s:.0f} s, which is past its limit, and the node has not "
                    "ended it; does it start processes without end, or hang in the kernel?"
                )
            if time.monotonic() >= next_tick:
                next_tick = time.monotonic() + _TICK_S
                tick()
    return [ended[index] for index in range(len(stopwatches))]


def go_together(
    stopwatches: Sequence[Stopwatch],
    probes: Sequence[Sequence[ClockProbe]],
    clocks: Sequence[StartClock] | None = None,
) -> int:
    """Send GO to all; return when they start, by the host's clock. ``probes``: probes of each, taken just before.

    A single one starts at once. Several start at a moment by which GO has arrived over the slowest way into a node,
    judged by each way's quickest answer, as a single late answer does not make a slow way. A node on another host is
    told the moment by that host's clock. A guest with its own clock, which may be wrong, is sent GO at that moment
    instead. ``clocks``: as from ``start_clocks``; by default no node is on another host.
    """
    if len(stopwatches) == 1:
        now_ns = host_ns()
        stopwatches[0].go()
        return now_ns
    slowest_ns = max(min(probe.round_trip_ns for probe in own) for own in probes)
    moment_ns = host_ns() + min(_LEAD_NS + 2 * slowest_ns, _MOST_LEAD_NS)
    by_host = []
    for stopwatch, clock in zip(stopwatches, clocks or start_clocks(probes), strict=True):
        if clock.trusted:
            stopwatch.go_at(moment_ns, clock)
        else:
            by_host.append(stopwatch)
    if by_host:
        time.sleep(max(0, moment_ns - host_ns()) * 1e-9)
    for stopwatch in by_host:
        stopwatch.go()
    return moment_ns


def _already_done(stopwatches: Sequence[Stopwatch]) -> dict[int, Mapping[str, Any]]:
    """Stopwatches whose DONE was read together with earlier lines, so that their pipes may stay silent."""
    said = {index: each.done() for index, each in enumerate(stopwatches) if each.has_said()}
    return {index: done for index, done in said.items() if done is not None}
