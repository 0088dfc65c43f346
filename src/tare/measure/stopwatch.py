# SPDX-License-Identifier: Apache-2.0
"""The runner's side of the stopwatch: one command in one node, spoken to over a pipe, line by line.

The stopwatch says READY with what it sees of its node, answers PING and CLOCKS with its clocks, QUALITY with a test of
these and STEAL with what a hypervisor took from it, starts the command on GO, at once or when its clock says so, and
says DONE with what it saw of it; it ends when the pipe closes, and takes the command with it. NEXT makes it a stopwatch
for another command. A command that works in turns gets each by TURN, and TOOK is what it answered; END closes its
input, so that it ends by itself.
"""

import os
import select
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from tare.errors import EndedInTurn, NodeError
from tare.host.process import USUAL_UMASK, ended_within, tool_environment
from tare.measure import protocol
from tare.measure.clock_line import ClockProbe
from tare.measure.clocks import PROBES, host_ns, offset_ns
from tare.records import User

_CHATTER_LIMIT_BYTE = 1 << 20
_PROBE_LIMIT_S = 20.0
_TICK_S = 1.0
_END_LIMIT_S = 5.0
_KILL_LIMIT_S = 10.0
_PIPE_BYTE = 1 << 16
_LEAD_NS = 20_000_000
"""A GO for several goes out so long before their start: some ways into a node took 8 ms for what usually takes 0.3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What one stopwatch is to run; paths as the node sees them."""

    argv: tuple[str, ...]
    directory: str
    variables: Mapping[str, str]
    limit_s: float
    processors: tuple[int, ...] = ()
    file_limit_byte: int = 1 << 30
    resource_limits: Mapping[str, int] = field(default_factory=dict)
    """Names of getrlimit(2) and what the command may have at most."""
    turns: bool = False
    """It reads a line for each of its turns and answers it with one."""
    user: User | None = None
    """Whom it runs as; ``None``: as the stopwatch."""

    def options(self, output_folder: str) -> list[str]:
        """The stopwatch's own arguments."""
        parts = ["--directory", self.directory, "--limit-s", f"{self.limit_s:.3f}"]
        parts += ["--stdout", f"{output_folder}/stdout", "--stderr", f"{output_folder}/stderr"]
        parts += ["--file-limit-byte", str(self.file_limit_byte)]
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
        try:
            self._process = subprocess.Popen(
                list(argv),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=tool_environment(),
                start_new_session=True,
                bufsize=0,
                umask=USUAL_UMASK,
            )
        except OSError as error:
            raise NodeError(f"the way into the node is closed: {argv[0]}: {error.strerror}") from error
        self._readable = select.poll()
        self._readable.register(self.fileno(), select.POLLIN)
        self._received = b""
        self.seen: Mapping[str, Any] = {}
        """What the stopwatch said with READY."""
        self._went_ns = self._done_ns = 0

    def __enter__(self) -> Self:
        return self

    @property
    def is_free(self) -> bool:
        """Whether its command has ended or was never begun, and all that it said was heard."""
        return self._went_ns <= self._done_ns and not self._received and not self.has_said()

    def become(self, words: Sequence[str]) -> None:
        """Measure another command, by these words of its own: it says READY anew. Only one that ``is_free`` can."""
        content = b"".join(os.fsencode(word) + b"\0" for word in words)
        self._send(b"NEXT %d\n" % len(content) + content)
        self.seen, self._went_ns, self._done_ns = {}, 0, 0

    def dismiss(self) -> None:
        """Let it end, without waiting."""
        self._close_input()

    def __exit__(self, *_: object) -> None:
        self._close_input()
        try:
            self._end()
        finally:
            for stream in (self._process.stdout, self._process.stderr):
                if stream is not None:
                    stream.close()

    def _end(self) -> None:
        """Wait for its own end, then take its session with it."""
        if ended_within(self._process, _END_LIMIT_S):
            return
        os.killpg(self._process.pid, signal.SIGKILL)
        try:
            self._process.wait(timeout=_KILL_LIMIT_S)
        except subprocess.TimeoutExpired as error:
            raise NodeError(f"process {self._process.pid} on the way into the node does not die") from error

    def fileno(self) -> int:
        assert self._process.stdout is not None  # noqa: S101 - it was asked for as a pipe
        return self._process.stdout.fileno()

    def wait_ready(self, limit_s: float) -> None:
        """Until READY; ``NodeError`` with what the prefix or the stopwatch said instead."""
        line = self._expect(b"READY ", time.monotonic() + limit_s)
        self.seen = protocol.ready(line)

    def probe(self) -> list[ClockProbe]:
        return [self._probe_once() for _ in range(PROBES)]

    def _probe_once(self) -> ClockProbe:
        asked_ns = host_ns()
        self._send(b"PING\n")
        line = self._expect(b"PONG ", time.monotonic() + _PROBE_LIMIT_S)
        answered_ns = host_ns()
        return ClockProbe(asked_ns=asked_ns, node_ns=protocol.clock_ns(line), answered_ns=answered_ns)

    def ask_clocks(self) -> None:
        self._send(b"CLOCKS\n")

    def await_clocks(self) -> Mapping[str, int]:
        """What each of the node's clocks says, as soon as it is here."""
        return protocol.clock_readings(self._expect(b"CLOCKS ", time.monotonic() + _PROBE_LIMIT_S))

    def told_clocks(self) -> Mapping[str, int] | None:
        """The same, once its line is here; never waits."""
        line = self._next_line(b"CLOCKS ")
        return None if line is None else protocol.clock_readings(line)

    def steal_s(self) -> float | None:
        """Time that a hypervisor took from the node since its kernel started; ``None`` where that is not counted."""
        self._send(b"STEAL\n")
        return protocol.steal_s(self._expect(b"STEAL ", time.monotonic() + _PROBE_LIMIT_S))

    def quality(self) -> Mapping[str, Any]:
        """What the node's clocks are and how they behave; takes up to 0.3 s, so ask before anything is timed."""
        self._send(b"QUALITY\n")
        return protocol.quality(self._expect(b"QUALITY ", time.monotonic() + _PROBE_LIMIT_S))

    def go(self) -> None:
        self._went_ns = host_ns()
        self._send(b"GO\n")

    def go_at(self, moment_ns: int, probes: Sequence[ClockProbe]) -> None:
        """Have the command start at a moment of the host's clock; ``probes`` say what the node's then reads."""
        self._went_ns = moment_ns
        self._send(f"GO {moment_ns + round(offset_ns(probes))}\n".encode())

    def done(self) -> Mapping[str, Any] | None:
        """What DONE said, once its line is here; never waits."""
        line = self._next_line(b"DONE ")
        if line is None:
            return None
        self._done_ns = host_ns()
        return protocol.done(line)

    def turn(self, text: str) -> None:
        """Give the command a turn: one line for its standard input."""
        self._send(f"TURN {text}\n".encode())

    def took(self) -> Mapping[str, Any] | None:
        """What TOOK said, once its line is here; never waits.

        ``EndedInTurn`` when the command ended instead.
        """
        line = self._next_line(b"TOOK ", b"DONE ")
        return None if line is None else self._taken(line)

    def await_took(self, limit_s: float) -> Mapping[str, Any]:
        """The same, as soon as it is here; ``NodeError`` after ``limit_s``."""
        return self._taken(self._expect(b"TOOK ", time.monotonic() + limit_s, b"DONE "))

    def end_turns(self) -> None:
        """No more turns: the command's input ends, and so should it; ``done`` says when."""
        self._send(b"END\n")

    def _taken(self, line: bytes) -> Mapping[str, Any]:
        if not line.startswith(b"DONE "):
            return protocol.took(line)
        self._done_ns = host_ns()
        done = protocol.done(line.removeprefix(b"DONE "))
        raise EndedInTurn(
            f"the program ended in the middle of its turns: {ending(done)}; its output says why", done
        )

    @property
    def host_span_s(self) -> float:
        """From GO, or the moment that it named, to DONE as it came, by the host's clock."""
        return (self._done_ns - self._went_ns) * 1e-9

    def has_said(self) -> bool:
        """Whether something waits to be read."""
        return b"\n" in self._received or bool(self._readable.poll(0))

    def end_command(self, limit_s: float) -> None:
        """Have the command ended and wait until the stopwatch has gone, whatever it still says; no error if not."""
        self._close_input()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=limit_s)

    def _send(self, line: bytes) -> None:
        assert self._process.stdin is not None  # noqa: S101 - it was asked for as a pipe
        try:
            while line:
                line = line[self._process.stdin.write(line) :]
        except BrokenPipeError:
            raise self._ended() from None

    def _expect(self, word: bytes, deadline: float, *others: bytes) -> bytes:
        """The rest of the next line, which begins with ``word``; the whole of one that begins with another."""
        while b"\n" not in self._received:
            if not self._readable.poll(max(0.0, deadline - time.monotonic()) * 1000):
                said = self._complaint()
                words = f"the stopwatch in the node did not say {word.decode().strip()} in time"
                raise NodeError(f"{words}: {_last(said)}", said or None)
            self._receive()
        return self._line(word, *others)

    def _next_line(self, word: bytes, *others: bytes) -> bytes | None:
        """What is there; ``None`` as long as the line is not whole. It never waits."""
        if b"\n" not in self._received and self._readable.poll(0):
            self._receive()
        return self._line(word, *others) if b"\n" in self._received else None

    def _receive(self) -> None:
        chunk = os.read(self.fileno(), 65536)
        if not chunk:
            raise self._ended()
        self._received += chunk
        if len(self._received) > _CHATTER_LIMIT_BYTE:
            raise NodeError(
                "the node floods the stopwatch's channel", self._received[:400].decode(errors="replace")
            )

    def _line(self, word: bytes, *others: bytes) -> bytes:
        line, _, self._received = self._received.partition(b"\n")
        if line.startswith(others):
            return line
        if not line.startswith(word):
            said = line.decode(errors="replace")[:400]
            if line.startswith(b"ERROR "):
                complaint = protocol.complaint(line.removeprefix(b"ERROR "))
                raise NodeError(f"the stopwatch in the node says: {complaint}", said)
            raise NodeError(
                f"the node answered {said!r} where the stopwatch says {word.decode().strip()}", said
            )
        return line.removeprefix(word)

    def _ended(self) -> NodeError:
        self._close_input()
        try:
            code: int | str = self._process.wait(timeout=_END_LIMIT_S)
        except subprocess.TimeoutExpired:
            code = "no exit code yet"
        said = self._complaint()
        return NodeError(f"the way into the node broke ({code}): {_last(said)}", said or None)

    def _complaint(self) -> str:
        """What is there of its standard error, without waiting for more; a pipe holds 64 KiB."""
        assert self._process.stderr is not None  # noqa: S101 - it was asked for as a pipe
        descriptor = self._process.stderr.fileno()
        os.set_blocking(descriptor, False)
        with suppress(BlockingIOError):
            return os.read(descriptor, _PIPE_BYTE).decode(errors="replace").strip()[-2000:]
        return ""

    def _close_input(self) -> None:
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()


def _last(said: str) -> str:
    return said.splitlines()[-1] if said else "it said nothing"


class Beside(Protocol):
    """Something else that may be heard of while commands run."""

    def fileno(self) -> int: ...

    def heard(self) -> None:
        """Take what is there to be read."""
        ...


def wait_all(
    stopwatches: Sequence[Stopwatch],
    limit_s: float,
    tick: Callable[[], None] = lambda: None,
    beside: Sequence[Beside] = (),
) -> list[Mapping[str, Any]]:
    """Wait for every DONE, asleep in between; ``tick`` is called each second and at each of them.

    ``NodeError`` after ``limit_s``.
    """
    ended = _already_done(stopwatches)
    deadline = time.monotonic() + limit_s
    next_tick = time.monotonic() + _TICK_S
    with selectors.DefaultSelector() as selector:
        for index, stopwatch in enumerate(stopwatches):
            if index not in ended:
                selector.register(stopwatch, selectors.EVENT_READ, index)
        for one in beside:
            selector.register(one, selectors.EVENT_READ, one)
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
                    f"no end of the command after {limit_s:.0f} s, though the stopwatch was to end it"
                )
            if time.monotonic() >= next_tick:
                next_tick = time.monotonic() + _TICK_S
                tick()
    return [ended[index] for index in range(len(stopwatches))]


def go_together(stopwatches: Sequence[Stopwatch], probes: Sequence[Sequence[ClockProbe]]) -> int:
    """GO to all; returns when they start, by the host's clock. ``probes``: each one's, just before.

    A single one starts at once. Several start at a moment by which the slowest way into a node has brought them GO.
    """
    if len(stopwatches) == 1:
        now_ns = host_ns()
        stopwatches[0].go()
        return now_ns
    slowest_ns = max(probe.round_trip_ns for own in probes for probe in own)
    moment_ns = host_ns() + _LEAD_NS + 2 * slowest_ns
    for stopwatch, own in zip(stopwatches, probes, strict=True):
        stopwatch.go_at(moment_ns, own)
    return moment_ns


def _already_done(stopwatches: Sequence[Stopwatch]) -> dict[int, Mapping[str, Any]]:
    """Those whose DONE was read together with what came before it, so that their pipes may stay silent."""
    said = {index: each.done() for index, each in enumerate(stopwatches) if each.has_said()}
    return {index: done for index, done in said.items() if done is not None}
