# SPDX-License-Identifier: Apache-2.0
"""Asking a running QEMU, over its socket, by its machine protocol (QEMU's docs/interop/qmp-spec)."""

import json
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tare.errors import NodeError

_LIMIT_S = 20.0


class Monitor:
    """One conversation; QEMU holds one at a time."""

    def __init__(self, connection: socket.socket) -> None:
        self._lines = connection.makefile("rwb")

    def greet(self) -> None:
        self._receive()
        self.ask("qmp_capabilities")

    def ask(self, command: str, **arguments: Any) -> Any:
        """What it returns; ``NodeError`` with its words when it refuses."""
        self._lines.write(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        self._lines.flush()
        while True:
            said = self._receive()
            if "return" in said:
                return said["return"]
            if "error" in said:
                raise NodeError(f"QEMU refuses {command}: {said['error'].get('desc', said['error'])}")

    def _receive(self) -> Mapping[str, Any]:
        line = self._lines.readline()
        try:
            found = json.loads(line)
        except ValueError as error:
            raise NodeError(f"QEMU's monitor said {line[:200]!r}; has QEMU ended?") from error
        if not isinstance(found, dict):
            raise NodeError(f"QEMU's monitor said {line[:200]!r}")
        return found


@contextmanager
def connected(directory: Path) -> Iterator[Monitor]:
    """To the machine of the node with this folder; ``NodeError`` when it is gone or does not answer."""
    held = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(_LIMIT_S)
            connection.connect(f"/proc/self/fd/{held}/qmp")  # a path of any length (unix(7) takes 107 bytes)
            monitor = Monitor(connection)
            monitor.greet()
            yield monitor
    except OSError as error:
        raise NodeError(f"QEMU's monitor does not answer: {error.strerror or error}") from error
    finally:
        os.close(held)
