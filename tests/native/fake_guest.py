# SPDX-License-Identifier: Apache-2.0
"""Plays a virtual machine and its guest: ``fake_guest.py DESCRIPTOR|SOCKET LOG OPENING``.

It speaks the frames of the channel over the descriptor, or over a connection to the socket that it listens at. Each
frame that comes is a line of the log. ``OPENING`` is ``hello``, ``silence``, or other bytes in hexadecimal to begin
with. The "commands" that it runs are those of ``Guest.begin_...``; a real guest's are another test's.
"""

import os
import select
import signal
import socket
import sys
import time
from pathlib import Path

from tests.native import frames
from tests.native.frames import Frame, How, Type


class Stream:
    def __init__(self, arguments: list[str]) -> None:
        self.arguments = arguments
        self.waiting = b""
        self.credit = frames.WINDOW_BYTE
        self.ended = False


class Guest:
    def __init__(self, channel: socket.socket, log: Path) -> None:
        self._channel = channel
        self._log = log
        self._queue = bytearray()
        self._streams: dict[int, Stream] = {}

    def send(self, kind: Type, stream: int, payload: bytes = b"") -> None:
        self._queue += frames.encode(Frame(kind, stream, payload))

    def send_raw(self, content: bytes) -> None:
        self._queue += content

    def end(self, number: int, how: How, code: int, text: str = "") -> None:
        self.send(Type.EXIT, number, frames.exit_payload(how, code, text.encode()))
        self._streams.pop(number, None)

    def serve(self) -> None:
        decoder = frames.Decoder()
        while True:
            wanted = [self._channel] if self._queue else []
            readable, writable, _ = select.select([self._channel], wanted, [])
            if writable:
                del self._queue[: self._channel.send(self._queue)]
            if readable:
                piece = self._channel.recv(1 << 16)
                if not piece:
                    return
                for frame in decoder.push(piece):
                    self.obey(frame)

    def note(self, frame: Frame) -> None:
        payload = frame.payload.hex() if frame.type is not Type.INPUT else str(len(frame.payload))
        with self._log.open("a") as log:
            log.write(f"{time.time():.6f} {frame.type.name} {frame.stream} {payload}\n")

    def obey(self, frame: Frame) -> None:
        self.note(frame)
        if frame.type is Type.POWER_OFF:
            sys.exit(0)
        if frame.type is Type.EXECUTE:
            _, arguments, _ = frames.read_execute(frame.payload)
            self._streams[frame.stream] = Stream([argument.decode() for argument in arguments])
            self.begin(frame.stream, *self._streams[frame.stream].arguments)
        elif frame.stream in self._streams:
            self.tell(self._streams[frame.stream], frame)

    def begin(self, number: int, name: str, *words: str) -> None:
        """Those that are not here wait until they are told something."""
        beginning = getattr(self, f"begin_{name}", None)
        if beginning is not None:
            beginning(number, *words)

    def begin_code(self, number: int, code: str, *_: str) -> None:
        self.end(number, How.CODE, int(code))

    def begin_signal(self, number: int, signal_number: str) -> None:
        self.end(number, How.SIGNAL, int(signal_number))

    def begin_failed(self, number: int, error_number: str, text: str) -> None:
        self.end(number, How.FAILED, int(error_number), text)

    def begin_say(self, number: int, output: str, error_output: str) -> None:
        self.send(Type.OUTPUT, number, output.encode())
        self.send(Type.ERROR_OUTPUT, number, error_output.encode())
        self.end(number, How.CODE, 0)

    def begin_raw(self, number: int, *words: str) -> None:
        self.send_raw(b"".join(self.hostile(number, bytes.fromhex(word)) for word in words))

    def begin_last(self, _: int, content: str) -> None:
        self._channel.sendall(bytes.fromhex(content))
        os._exit(0)

    def begin_flood(self, number: int, size_byte: str) -> None:
        self._streams[number].waiting = bytes(int(size_byte))
        self._streams[number].ended = True
        self.pass_on(number)

    def begin_greedy(self, number: int, size_byte: str) -> None:
        """Output beyond the window."""
        for piece in frames.pieces(bytes(int(size_byte))):
            self.send(Type.OUTPUT, number, piece)

    def begin_die(self, _: int, code: str) -> None:
        os._exit(int(code))

    def begin_close(self, _: int) -> None:
        self._channel.close()
        time.sleep(60)

    @staticmethod
    def hostile(number: int, content: bytes) -> bytes:
        """As it is, but that 4 bytes of 0xEE stand for this stream's number, and the sum is made right."""
        if content[4:8] != b"\xee" * 4:
            return content
        return frames.encode(Frame(Type(content[2]), number, content[16:]))

    def tell(self, stream: Stream, frame: Frame) -> None:
        if frame.type is Type.INPUT:
            stream.waiting += frame.payload
            self.send(Type.CREDIT, frame.stream, frames.credit_payload(0, len(frame.payload)))
        elif frame.type is Type.END_OF_INPUT:
            stream.ended = True
        elif frame.type is Type.CREDIT:
            flow, count = frames.read_credit(frame.payload)
            stream.credit += count if flow == 1 else 0
        elif frame.type is Type.SIGNAL:
            self.end(frame.stream, How.SIGNAL, int.from_bytes(frame.payload, "little"))
            return
        elif frame.type is Type.HANG_UP:
            self.end(frame.stream, How.SIGNAL, signal.SIGKILL)
            return
        self.pass_on(frame.stream)

    def pass_on(self, number: int) -> None:
        """What ``echo`` read and ``flood`` has, as far as the window goes."""
        stream = self._streams[number]
        if stream.arguments[0] not in {"echo", "flood"}:
            return
        while stream.waiting and stream.credit:
            piece = stream.waiting[: min(stream.credit, frames.CHUNK_BYTE)]
            stream.waiting = stream.waiting[len(piece) :]
            stream.credit -= len(piece)
            self.send(Type.OUTPUT, number, piece)
        if stream.ended and not stream.waiting:
            self.send(Type.OUTPUT, number)
            self.end(number, How.CODE, 0)


def channel_of(place: str) -> socket.socket:
    if place.isdecimal():
        return socket.socket(fileno=int(place))
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(place)
        listening.listen()
        connection, _ = listening.accept()
        return connection


def main() -> None:
    place, log, opening = sys.argv[1:4]
    guest = Guest(channel_of(place), Path(log))
    match opening:
        case "hello":
            guest.send_raw(frames.encode(frames.hello()) * 2)  # a real one repeats it until it is heard
        case "silence":
            pass
        case content:
            guest.send_raw(bytes.fromhex(content))
    guest.serve()


if __name__ == "__main__":
    main()
