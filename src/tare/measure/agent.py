# SPDX-License-Identifier: Apache-2.0
"""The runner's end of the launch agent: runs mpirun's daemons in the nodes, through the providers' own ways in.

mpirun calls ``agent`` (native/agent) where it would call ssh. The agent's request comes over a Unix socket with its
standard files, which the command gets as they are; the answer is the command's exit code. When either end goes, the
command goes too. Requests are served by threads, which sleep while the daemons run.
"""

import json
import os
import select
import signal
import socket
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tare.errors import NodeError
from tare.host.process import tool_environment
from tare.workloads.mpi import last_words

_REQUEST_BYTE = 1 << 20
_FILES = 3
_ENDING_LIMIT_S = 5.0
_CANNOT = 126


@dataclass(frozen=True, slots=True, kw_only=True)
class Daemon:
    """One command that the agent had started in a node."""

    node: str
    code: int | None
    """Its exit code; 126 if it could not be started at all, ``None`` if it was ended here, as mpirun had left."""


class AgentServer:
    """Serves one launcher; a context manager that ends all it started."""

    name = ".agent"
    """The socket's, in the folder that launcher and runner share."""

    def __init__(self, folder: Path, ways: Mapping[str, list[str]]) -> None:
        """Listen in ``folder``; ``ways`` maps a node's name to the argv prefix that enters it."""
        self._path = folder / self.name
        self._ways = ways
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._stop, self._stopping = os.pipe()
        self._threads: list[threading.Thread] = []
        self.ended: list[Daemon] = []
        """The daemons that ended so far, in the order of their ends."""

    def __enter__(self) -> Self:
        # The path of a socket has room for 107 bytes (unix(7)); this one is short wherever the folder lies.
        folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            self._listening.bind(f"/proc/self/fd/{folder}/{self._path.name}")
        finally:
            os.close(folder)
        self._listening.listen()
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._stopping)
        for thread in self._threads:
            thread.join(_ENDING_LIMIT_S)
        self._listening.close()
        os.close(self._stop)

    def failure(self) -> Daemon | None:
        """The first daemon that did not end well."""
        return next((daemon for daemon in self.ended if daemon.code), None)

    def _start(self, work: object, *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while self._stop not in _readable(self._listening.fileno(), self._stop):
            connection, _ = self._listening.accept()
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            text, files, *_ = socket.recv_fds(connection, _REQUEST_BYTE, _FILES)
            try:
                node, code = self._run(json.loads(text), files, connection)
            finally:
                for file in files:
                    os.close(file)
            self.ended.append(Daemon(node=node, code=code))
            with suppress(OSError):
                connection.send(str(code).encode())

    def _run(
        self, request: Mapping[str, str], files: list[int], connection: socket.socket
    ) -> tuple[str, int | None]:
        node, command = request["node"], request["command"]
        if node not in self._ways or len(files) != _FILES:
            return node, _CANNOT
        try:
            child = subprocess.Popen(
                [*self._ways[node], "sh", "-c", command],
                stdin=files[0],
                stdout=files[1],
                stderr=files[2],
                env=tool_environment(),
                start_new_session=True,
            )
        except OSError:
            return node, _CANNOT
        return node, self._wait(child, connection)

    def _wait(self, child: "subprocess.Popen[bytes]", connection: socket.socket) -> int | None:
        """Until the child's end, or until the agent or this server goes, which ends the child."""
        ended = os.pidfd_open(child.pid)
        try:
            if ended not in _readable(ended, connection.fileno(), self._stop):
                _end(child)
                return None
        finally:
            os.close(ended)
        code = child.wait()
        return code if code >= 0 else 128 - code


def _readable(*descriptors: int) -> list[int]:
    """Wait, without limit, for the first of them; each ends when this runner's part ends."""
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return [descriptor for descriptor, _ in poll.poll()]


def _end(child: "subprocess.Popen[bytes]") -> None:
    for number, limit_s in ((signal.SIGTERM, _ENDING_LIMIT_S / 5), (signal.SIGKILL, _ENDING_LIMIT_S)):
        with suppress(ProcessLookupError):
            os.killpg(child.pid, number)
        with suppress(subprocess.TimeoutExpired):
            child.wait(limit_s)
            return


def explain(failed: Daemon, said: str) -> NodeError:
    """Why a launch cannot go on, with the last of what mpirun and its daemons said."""
    words = f"MPI's daemon in {failed.node} ended with {failed.code}, so the launch cannot go on"
    return NodeError(f"{words}: {last_words(said)}", said)
