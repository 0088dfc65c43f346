# SPDX-License-Identifier: Apache-2.0
"""Queries in a network namespace without a process in it: opened there once, then read from anywhere."""

import os
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tare.errors import NodeError
from tare.host import network_namespace as namespace
from tare.signals.family import TextSource, Unreadable

HEADER = struct.Struct("=IHHII")
"""Length, type, flags, sequence number and port of a netlink message (netlink(7))."""
DONE = 3
_ERROR = 2
_REQUEST_DUMP = 0x1 | 0x300
_LIMIT_S = 1.0
_LARGEST_BYTE = 1 << 16


@dataclass(frozen=True, slots=True)
class HeldFile(TextSource):
    """A file of /proc/net, which keeps showing the namespace in which it was opened."""

    descriptor: int

    def read(self) -> bytes:
        text = b""
        while part := os.pread(self.descriptor, _LARGEST_BYTE, len(text)):
            text += part
        return text

    def close(self) -> None:
        os.close(self.descriptor)


@dataclass(frozen=True, slots=True)
class Dump(TextSource):
    """All objects of a kind, as rtnetlink(7) lists them: a socket stays in the namespace in which it was created."""

    kernel: socket.socket
    kind: int
    body: bytes

    def read(self) -> bytes:
        request = HEADER.pack(HEADER.size + len(self.body), self.kind, _REQUEST_DUMP, 1, 0) + self.body
        try:
            self.kernel.sendto(request, (0, 0))
            parts = [self.kernel.recv(_LARGEST_BYTE)]
            while not _ended(parts[-1]):
                parts.append(self.kernel.recv(_LARGEST_BYTE))
        except OSError as error:
            raise Unreadable(f"the kernel does not list queues: {error.strerror or error}") from error
        return b"".join(parts)

    def close(self) -> None:
        self.kernel.close()


def _ended(datagram: bytes) -> bool:
    """Whether its messages include the end of the list, or a refusal."""
    offset = 0
    while offset + HEADER.size <= len(datagram):
        length, kind, *_ = HEADER.unpack_from(datagram, offset)
        if kind in {DONE, _ERROR} or length < HEADER.size:
            return True
        offset += length + (-length % 4)
    return False


def opened_in(path: Path, name: str) -> HeldFile:
    """A file of /proc/net in the namespace at ``path``; ``Unreadable`` without the rights to enter it."""
    held_files: list[HeldFile] = []
    _inside(path, lambda: held_files.append(HeldFile(os.open(f"/proc/thread-self/net/{name}", os.O_RDONLY))))
    return held_files[0]


def dump_in(path: Path, kind: int, body: bytes) -> Dump:
    """A query to the kernel in the namespace at ``path``; ``Unreadable`` as above."""
    dumps: list[Dump] = []

    def ask() -> None:
        kernel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        kernel.settimeout(_LIMIT_S)
        dumps.append(Dump(kernel, kind, body))

    _inside(path, ask)
    return dumps[0]


def _inside(path: Path, action: Callable[[], None]) -> None:
    try:
        namespace.inside(path, action)
    except NodeError as error:
        raise Unreadable("the trial's network namespaces cannot be entered without root's rights") from error
    except OSError as error:
        raise Unreadable(f"the trial's network namespaces cannot be read: {error.strerror}") from error
