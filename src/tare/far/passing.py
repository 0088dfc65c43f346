# SPDX-License-Identifier: Apache-2.0
"""An image from this host to another one, or from another one to this: once, and only to whoever has the token.

The runner has the token made for one transfer, and tells both sides through its own connections to them. Neither side
trusts the other: the one that has the image serves that and nothing else, and the one that takes it limits how much may
come, unpacks it into an empty folder closed to others, and computes its digest afterwards. The content is as readable
on the way as MPI's messages are.
"""

import hmac
import ipaddress
import os
import select
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tare import network
from tare.errors import NodeError
from tare.host.packed import TOKEN_BYTE, most_byte, pack_argv, unpack_argv
from tare.host.process import tool_environment

_BEGIN_LIMIT_S = 15.0
"""Until the right one has connected, on either side."""
_TAR_LIMIT_S = 60.0
_BLOCK_BYTE = 1 << 20
_WAITING = 8


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a transfer may stand still, and where whoever asked for it is heard to end it."""

    asking: int = 0
    """A descriptor; nothing arrives by it as long as the transfer is wanted."""
    stall_s: float = 60.0

    def wait(self, descriptor: int, event: int, limit_s: float | None = None) -> None:
        """Until something can be done; ``NodeError`` when it cannot in time, or is not wanted any more."""
        poll = select.poll()
        poll.register(descriptor, event)
        poll.register(self.asking, select.POLLIN)
        waited_s = self.stall_s if limit_s is None else max(0.0, limit_s)
        ready = dict(poll.poll(waited_s * 1000))
        if self.asking in ready:
            raise NodeError("the image is not wanted any more")
        if not ready:
            raise NodeError(f"nothing came or went for {waited_s:.0f} s")


class Offer:
    """The image below ``root``, at a port of this host's own address in the subnet, until it was passed on once."""

    def __init__(self, root: Path, subnet: str) -> None:
        """``NodeError`` or ``OSError`` when nobody can be waited for there."""
        self._root = root
        self._listener = socket.create_server((network.address_within(subnet), 0), backlog=_WAITING)
        self._listener.settimeout(_BEGIN_LIMIT_S)
        self.address, self.port = self._listener.getsockname()

    def pass_on(self, token: bytes, to: str, patience: Patience) -> None:
        """To the first that connects from the address ``to``, if it has the token.

        ``NodeError`` or ``OSError`` say why it did not get all. The port is closed in any case.
        """
        try:
            with self._accepted(to, patience) as receiver:
                self.close()
                require_token(receiver, token, patience)
                with _tar(pack_argv(self._root), stdout=subprocess.PIPE) as tar:
                    assert tar.stdout is not None  # noqa: S101 - it was requested as a pipe
                    _copy(tar.stdout.fileno(), receiver.fileno(), patience)
        finally:
            self.close()

    def close(self) -> None:
        """Harmless when it is closed."""
        self._listener.close()

    def _accepted(self, to: str, patience: Patience) -> socket.socket:
        """Connections from anywhere else are closed at once, and the right one is waited for."""
        deadline = time.monotonic() + _BEGIN_LIMIT_S
        while True:
            patience.wait(self._listener.fileno(), select.POLLIN, deadline - time.monotonic())
            connection, (address, _) = self._listener.accept()
            if address == to:
                return connection
            connection.close()


def take(
    into: Path, source: tuple[str, int], token: bytes, subnet: str, most: int, patience: Patience
) -> None:
    """Unpack into the empty folder what the other host has at that address and port.

    ``NodeError`` or ``OSError`` when it does not come, stands still, or is more than ``most`` (``host.packed``).
    """
    if ipaddress.IPv4Address(source[0]) not in ipaddress.IPv4Network(subnet):
        raise NodeError(f"{source[0]} is not in {subnet}, in which the hosts pass the image on")
    own = (network.address_within(subnet), 0)
    with socket.create_connection(source, timeout=_BEGIN_LIMIT_S, source_address=own) as connection:
        connection.sendall(token)
        unpack(connection, into, most, patience)


def unpack(connection: socket.socket, into: Path, most: int, patience: Patience) -> None:
    """As ``take``, what comes by this connection."""
    with _tar(unpack_argv(str(into)), stdin=subprocess.PIPE) as tar:
        assert tar.stdin is not None  # noqa: S101 - it was requested as a pipe
        with suppress(BrokenPipeError):  # tar has ended, and says why
            _copy(connection.fileno(), tar.stdin.fileno(), patience, most)
        tar.stdin.close()
    if most_byte(into) > most:  # files with holes
        raise NodeError("what came is larger than the image")


def require_token(connection: socket.socket, token: bytes, patience: Patience) -> None:
    """``NodeError`` unless whoever connected says it, and nothing else."""
    deadline, said = time.monotonic() + _BEGIN_LIMIT_S, b""
    while len(said) < TOKEN_BYTE:
        patience.wait(connection.fileno(), select.POLLIN, deadline - time.monotonic())
        chunk = connection.recv(TOKEN_BYTE - len(said))
        if not chunk:
            break
        said += chunk
    if len(token) != TOKEN_BYTE or not hmac.compare_digest(said, token):
        raise NodeError("whoever connected does not have the token")


@contextmanager
def _tar(
    argv: Sequence[str], *, stdin: int = subprocess.DEVNULL, stdout: int = subprocess.DEVNULL
) -> Iterator["subprocess.Popen[bytes]"]:
    """One at work, which is ended with whatever it works for; ``NodeError`` with its words if it fails."""
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(argv, stdin=stdin, stdout=stdout, stderr=said, env=tool_environment()) as tar,
    ):
        try:
            yield tar
            code = tar.wait(_TAR_LIMIT_S)
        except subprocess.TimeoutExpired:
            raise NodeError(f"tar does not end within {_TAR_LIMIT_S:.0f} s") from None
        finally:
            tar.kill()
        if code != 0:
            raise NodeError(f"tar ended ({code}): {_first_line(said)}")


def _first_line(said: IO[bytes]) -> str:
    said.seek(0)
    return next(iter(said.read(1 << 12).decode(errors="replace").strip().splitlines()), "it said nothing")


def _copy(source: int, sink: int, patience: Patience, most: int | None = None) -> None:
    """Until the source ends; ``NodeError`` when it has more than ``most`` bytes."""
    for descriptor in (source, sink):
        os.set_blocking(descriptor, False)
    count = 0
    while True:
        patience.wait(source, select.POLLIN)
        chunk = os.read(source, _BLOCK_BYTE)
        if not chunk:
            return
        count += len(chunk)
        if most is not None and count > most:
            raise NodeError("more comes than the image has")
        left = memoryview(chunk)
        while left:
            patience.wait(sink, select.POLLOUT)
            left = left[os.write(sink, left) :]
