# SPDX-License-Identifier: Apache-2.0
"""The frames of native/channel/frame.hpp, written a second time so that a mistake in one shows."""

import enum
import itertools
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MAGIC = 0x7A5E
WINDOW_BYTE = 256 << 10
CHUNK_BYTE = 16 << 10
LARGEST_PAYLOAD_BYTE = 256 << 10
_HEADER = struct.Struct("<HBBII")
_SUM = struct.Struct("<I")


class Type(enum.IntEnum):
    HELLO = 1
    EXECUTE = 2
    INPUT = 3
    END_OF_INPUT = 4
    OUTPUT = 5
    ERROR_OUTPUT = 6
    CREDIT = 7
    SIGNAL = 8
    HANG_UP = 9
    EXIT = 10
    SET_CLOCK = 11
    POWER_OFF = 12


class How(enum.IntEnum):
    CODE = 0
    SIGNAL = 1
    FAILED = 2


@dataclass(frozen=True, slots=True)
class Frame:
    type: Type
    stream: int
    payload: bytes = b""


def encode(frame: Frame) -> bytes:
    header = _HEADER.pack(MAGIC, frame.type, 0, frame.stream, len(frame.payload))
    return header + _SUM.pack(zlib.crc32(header + frame.payload)) + frame.payload


class Decoder:
    """Takes bytes as they come; raises on what is no frame."""

    def __init__(self) -> None:
        self._bytes = b""

    def push(self, piece: bytes) -> Iterator[Frame]:
        self._bytes += piece
        whole = _HEADER.size + _SUM.size
        while len(self._bytes) >= whole:
            magic, kind, zero, stream, length = _HEADER.unpack_from(self._bytes)
            if len(self._bytes) < whole + length:
                return
            payload = self._bytes[whole : whole + length]
            frame = Frame(Type(kind), stream, payload)
            if (magic, zero) != (MAGIC, 0) or encode(frame) != self._bytes[: whole + length]:
                raise ValueError(self._bytes[:whole].hex())
            self._bytes = self._bytes[whole + length :]
            yield frame


def words(texts: Sequence[bytes]) -> bytes:
    return b"".join(struct.pack("<I", len(text)) + text for text in texts)


def read_words(payload: bytes) -> list[bytes]:
    collected = []
    while payload:
        (length,) = struct.unpack_from("<I", payload)
        collected.append(payload[4 : 4 + length])
        payload = payload[4 + length :]
    return collected


def hello(version: bytes = b"1", pace: bytes = b"quick") -> Frame:
    return Frame(Type.HELLO, 0, words([version, b"6.1.0-test", pace]))


def execute_payload(
    arguments: Sequence[bytes], *, directory: bytes = b"/", variables: Sequence[bytes] = ()
) -> bytes:
    return words([directory, struct.pack("<I", len(arguments)), *arguments, *variables])


def read_execute(payload: bytes) -> tuple[bytes, list[bytes], list[bytes]]:
    """Directory, arguments and variables."""
    directory, count, *rest = read_words(payload)
    (number,) = struct.unpack("<I", count)
    return directory, rest[:number], rest[number:]


def exit_payload(how: How, number: int, text: bytes = b"") -> bytes:
    return words([bytes([how]), struct.pack("<i", number), text])


def read_exit(payload: bytes) -> tuple[How, int, str]:
    how, number, text = read_words(payload)
    return How(how[0]), struct.unpack("<i", number)[0], text.decode()


def credit_payload(flow: int, count: int) -> bytes:
    """Flows: 0 input, 1 output, 2 error output."""
    return struct.pack("<BI", flow, count)


def read_credit(payload: bytes) -> tuple[int, int]:
    flow, count = struct.unpack("<BI", payload)
    return flow, count


def pieces(content: bytes, size: int = CHUNK_BYTE) -> Iterator[bytes]:
    return (
        content[start : start + size]
        for start in itertools.takewhile(lambda at: at < len(content), itertools.count(0, size))
    )
