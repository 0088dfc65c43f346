# SPDX-License-Identifier: Apache-2.0
"""Line-by-line communication with a program in a node, through pipes all the way into the node."""

import os
import select
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress

from tare.errors import NodeError
from tare.host.process import USUAL_UMASK, end_session, tool_environment
from tare.measure import protocol

_CHATTER_LIMIT_BYTE = 1 << 20
_END_LIMIT_S = 5.0
_SEND_LIMIT_S = 20.0
_PIPE_BYTE = 1 << 16


class NodePipe:
    """The runner's end."""

    def __init__(self, argv: Sequence[str]) -> None:
        """Start the program; ``NodeError`` if the first of ``argv`` cannot be started."""
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
        assert self._process.stdin is not None  # noqa: S101 - it was asked for as a pipe
        os.set_blocking(self._process.stdin.fileno(), False)
        self._writable = select.poll()
        self._writable.register(self._process.stdin, select.POLLOUT)
        self._readable = select.poll()
        self._readable.register(self.fileno(), select.POLLIN)
        self._received = b""

    def fileno(self) -> int:
        assert self._process.stdout is not None  # noqa: S101 - it was asked for as a pipe
        return self._process.stdout.fileno()

    @property
    def is_silent(self) -> bool:
        """Whether everything it printed was read."""
        return not self._received and not self.has_said()

    def close(self) -> None:
        """Close its input, wait for its end, and end its session."""
        self.close_input()
        try:
            end_session(self._process, _END_LIMIT_S)
        finally:
            for stream in (self._process.stdout, self._process.stderr):
                if stream is not None:
                    stream.close()

    def has_said(self) -> bool:
        """Whether there is something to read."""
        return b"\n" in self._received or bool(self._readable.poll(0))

    def wait(self, limit_s: float) -> None:
        """Wait until it has ended, whatever it still prints; no error if it has not."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=limit_s)

    def send(self, line: bytes) -> None:
        """Send a line; ``NodeError`` if the program has ended, or the pipe is full because it does not read."""
        assert self._process.stdin is not None  # noqa: S101 - it was asked for as a pipe
        deadline = time.monotonic() + _SEND_LIMIT_S
        try:
            while line := line[self._process.stdin.write(line) or 0 :]:
                if not self._writable.poll(max(0.0, deadline - time.monotonic()) * 1000):
                    raise NodeError(f"the way into the node takes nothing more after {_SEND_LIMIT_S:g} s")
        except BrokenPipeError:
            raise self._ended() from None

    def expect(self, word: bytes, deadline: float, *others: bytes) -> bytes:
        """The rest of the next line, which begins with ``word``; a line with another word is returned whole."""
        while b"\n" not in self._received:
            if not self._readable.poll(max(0.0, deadline - time.monotonic()) * 1000):
                said = self._complaint()
                words = f"the stopwatch in the node did not say {word.decode().strip()} in time"
                raise NodeError(f"{words}: {_last(said)}", said or None)
            self._receive()
        return self._line(word, *others)

    def next_line(self, word: bytes, *others: bytes) -> bytes | None:
        """The next line; ``None`` while it is incomplete. Never waits."""
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
        self.close_input()
        try:
            code: int | str = self._process.wait(timeout=_END_LIMIT_S)
        except subprocess.TimeoutExpired:
            code = "no exit code yet"
        said = self._complaint()
        return NodeError(f"the way into the node broke ({code}): {_last(said)}", said or None)

    def _complaint(self) -> str:
        """Its standard error so far, without waiting for more; a pipe holds 64 KiB."""
        assert self._process.stderr is not None  # noqa: S101 - it was asked for as a pipe
        descriptor = self._process.stderr.fileno()
        os.set_blocking(descriptor, False)
        with suppress(BlockingIOError):
            return os.read(descriptor, _PIPE_BYTE).decode(errors="replace").strip()[-2000:]
        return ""

    def close_input(self) -> None:
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()


def _last(said: str) -> str:
    return said.splitlines()[-1] if said else "it said nothing"
