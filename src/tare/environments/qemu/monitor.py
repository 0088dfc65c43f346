# SPDX-License-Identifier: Apache-2.0
"""Questions to a running QEMU, through its socket, by its machine protocol (QEMU's docs/interop/qmp-spec)."""

import json
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tare.errors import NodeError
from tare.host.told import told

_LIMIT_S = 20.0
_LONGEST_BYTE = 1 << 20
_LONGEST_WORDS = 400
_MOST_EVENTS = 1000
"""The most events that QEMU may report between a question and its answer."""


class Monitor:
    """One conversation; QEMU holds one at a time."""

    def __init__(self, connection: socket.socket) -> None:
        self._lines = connection.makefile("rwb")

    def greet(self) -> None:
        self._receive()
        self.ask("qmp_capabilities")

    def ask(self, command: str, **arguments: Any) -> Any:
        """The command's result; ``NodeError`` with QEMU's words when it refuses."""
        self._lines.write(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        self._lines.flush()
        for _ in range(_MOST_EVENTS):
            said = self._receive()
            if "return" in said:
                return said["return"]
            if "error" in said:
                raise NodeError(f"QEMU refuses {command}: {_words(said['error'])}")
        raise NodeError(f"QEMU's monitor reports events without end, and does not answer {command}")

    def _receive(self) -> Mapping[str, Any]:
        line = self._lines.readline(_LONGEST_BYTE)
        if not line.endswith(b"\n"):
            raise NodeError(f"QEMU's monitor said {line[:200]!r}; has QEMU ended?")
        return told(dict[str, Any], line, "QEMU's monitor")


def _words(error: Any) -> str:
    words = error.get("desc", error) if isinstance(error, dict) else error
    return str(words)[:_LONGEST_WORDS]


@contextmanager
def connected(directory: Path) -> Iterator[Monitor]:
    """Connect to the machine of the node with this folder; ``NodeError`` when it is gone or does not answer."""
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
