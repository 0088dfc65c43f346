# SPDX-License-Identifier: Apache-2.0
"""Questions to a running QEMU, through its socket, by its machine protocol (QEMU's docs/interop/qmp-spec)."""

import json
import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tare.errors import NodeError
from tare.host.told import part, told

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


def virtual_processors(monitor: Monitor) -> tuple[int, ...]:
    """Thread ids on this host, in the order of the guest's processors."""
    answer = part(list[dict[str, Any]], monitor.ask("query-cpus-fast"), "query-cpus-fast")
    numbers = [(_whole(entry, "cpu-index"), _whole(entry, "thread-id")) for entry in answer]
    return tuple(thread for _, thread in sorted(numbers))


def _whole(entry: Mapping[str, Any], name: str) -> int:
    return part(int, entry.get(name), f"query-cpus-fast ({name})")


def pin(threads: Sequence[int], processors: Sequence[int]) -> None:
    """Pin each thread to one processor, in order; ``NodeError`` if that fails."""
    for thread, processor in zip(threads, processors, strict=True):
        _confine(thread, {processor})


def move_others(pids: Sequence[int], threads: Sequence[int], processors: Sequence[int]) -> None:
    """Move all threads of these processes except ``threads`` to these processors; new threads inherit them."""
    for pid in pids:
        for thread in _threads_of(pid):
            if thread not in threads:
                _confine(thread, set(processors))


def run_on(threads: Sequence[int]) -> tuple[int, ...]:
    """The processors on which these threads may run; ``NodeError`` when one has ended."""
    try:
        return tuple(sorted(set().union(*map(os.sched_getaffinity, threads))))
    except ProcessLookupError as error:
        raise NodeError("a thread of QEMU's that is a processor of the guest has ended") from error


def _threads_of(pid: int) -> list[int]:
    with suppress(OSError):
        return [int(entry.name) for entry in Path(f"/proc/{pid}/task").iterdir()]
    return []


def _confine(thread: int, processors: set[int]) -> None:
    try:
        os.sched_setaffinity(thread, processors)
    except ProcessLookupError:
        return  # a worker that has ended since
    except OSError as error:
        raise NodeError(f"QEMU's thread {thread} cannot be put on {processors}: {error.strerror}") from error
