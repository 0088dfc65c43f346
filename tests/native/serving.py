# SPDX-License-Identifier: Apache-2.0
"""A host's end of the channel for tests of ``init serve``, over a pseudo-terminal that plays the serial line."""

import contextlib
import os
import pty
import select
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.native import frames
from tests.native.frames import Frame, How, Type

LIMIT_S = 20.0
PIECE_BYTE = 500
VARIABLES = (b"PATH=/usr/local/bin:/usr/bin:/bin",)


@dataclass
class Stream:
    """What came of one command."""

    output: bytes = b""
    error_output: bytes = b""
    exit: tuple[How, int, str] | None = None
    credit_byte: int = frames.WINDOW_BYTE
    ends: list[Type] = field(default_factory=list)


class Host:
    """Speaks with one ``init serve``. Streams in ``silent`` are given no credit."""

    def __init__(self, program: Path, options: Sequence[str] = ()) -> None:
        self._master, self._slave = pty.openpty()
        self.process = subprocess.Popen(
            [program, "serve", "--serial", os.ttyname(self._slave), *options],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self._decoder = frames.Decoder()
        self._to_send = b""
        self.streams: dict[int, Stream] = defaultdict(Stream)
        self.silent: set[int] = set()
        self.hellos: list[list[bytes]] = []

    def send(self, kind: Type, stream: int = 0, payload: bytes = b"") -> None:
        self._to_send += frames.encode(Frame(kind, stream, payload))

    def send_raw(self, content: bytes) -> None:
        self._to_send += content

    def execute(
        self, stream: int, *arguments: str, variables: Sequence[bytes] = VARIABLES, at: str = "/"
    ) -> None:
        words = [argument.encode() for argument in arguments]
        payload = frames.execute_payload(words, directory=at.encode(), variables=variables)
        self.send(Type.EXECUTE, stream, payload)

    def step(self, limit_s: float = LIMIT_S, most_byte: int = 65536) -> None:
        """Move bytes once, at most after ``limit_s``."""
        wanted = [self._master] if self._to_send else []
        readable, writable, _ = select.select([self._master], wanted, [], limit_s)
        if writable:
            self._to_send = self._to_send[os.write(self._master, self._to_send[:2048]) :]
        if readable:
            for frame in self._decoder.push(os.read(self._master, most_byte)):
                self._take(frame)

    def until_exit(self, *streams: int) -> list[tuple[How, int, str]]:
        """The ends of all these commands."""
        deadline = time.monotonic() + LIMIT_S
        while any(self.streams[stream].exit is None for stream in streams):
            assert time.monotonic() < deadline, f"no end of {streams}: {dict(self.streams)!r:.2000}"
            self.step(1.0)
        return [result for stream in streams if (result := self.streams[stream].exit) is not None]

    def run(self, *arguments: str, stream: int = 1, **how: object) -> Stream:
        """Run a command without input to its end; the stream is free again afterwards."""
        self.streams.pop(stream, None)
        self.execute(stream, *arguments, **how)  # type: ignore[arg-type]
        self.send(Type.END_OF_INPUT, stream)
        self.until_exit(stream)
        return self.streams.pop(stream)

    def flush(self) -> None:
        while self._to_send:
            self.step(1.0)

    def settle(self, quiet_s: float = 0.3) -> None:
        """Go on until nothing has come for a while."""
        self.flush()
        while select.select([self._master], [], [], quiet_s)[0]:
            self.step()

    def settle_at(self, byte_per_s: float, duration_s: float) -> None:
        """Take what comes for a while, no faster than so."""
        deadline = time.monotonic() + duration_s
        while (left_s := deadline - time.monotonic()) > 0:
            self.step(left_s, PIECE_BYTE)
            time.sleep(PIECE_BYTE / byte_per_s)

    def ends(self) -> tuple[int, str]:
        """Exit code and complaint of the server, which must be ending."""
        assert self.process.stderr is not None
        code = self.process.wait(timeout=LIMIT_S)
        return code, self.process.stderr.read().decode()

    def close_line(self) -> None:
        for descriptor in (self._slave, self._master):
            os.close(descriptor)
        self._slave = self._master = -1

    def close(self) -> None:
        self.process.kill()
        self.process.wait(timeout=LIMIT_S)
        assert self.process.stderr is not None
        self.process.stderr.close()
        if self._master >= 0:
            self.close_line()

    def _take(self, frame: Frame) -> None:
        stream = self.streams[frame.stream] if frame.stream else Stream()
        assert stream.exit is None, f"{frame.type} after the end"
        match frame.type:
            case Type.HELLO:
                self.hellos.append(frames.read_words(frame.payload))
            case Type.OUTPUT | Type.ERROR_OUTPUT:
                self._take_data(stream, frame)
            case Type.CREDIT:
                flow, count = frames.read_credit(frame.payload)
                assert flow == 0
                stream.credit_byte += count
            case Type.EXIT:
                stream.exit = frames.read_exit(frame.payload)
            case _:
                raise AssertionError(frame)

    def _take_data(self, stream: Stream, frame: Frame) -> None:
        assert frame.type not in stream.ends, "bytes after the end of their flow"
        assert len(frame.payload) <= frames.CHUNK_BYTE
        if not frame.payload:
            stream.ends.append(frame.type)
        flow = frame.type - Type.OUTPUT + 1
        if flow == 1:
            stream.output += frame.payload
        else:
            stream.error_output += frame.payload
        if frame.payload and frame.stream not in self.silent:
            self.send(Type.CREDIT, frame.stream, frames.credit_payload(flow, len(frame.payload)))


@contextlib.contextmanager
def serving(program: Path, options: Sequence[str] = ()) -> Iterator[Host]:
    """A host that has heard the guest's hello."""
    host = Host(program, options)
    try:
        deadline = time.monotonic() + LIMIT_S
        while not host.hellos:
            assert time.monotonic() < deadline, "no hello"
            host.step(1.0)
        yield host
    finally:
        host.close()
