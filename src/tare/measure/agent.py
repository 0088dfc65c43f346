# SPDX-License-Identifier: Apache-2.0
"""The runner's end of the launch agent: runs mpirun's daemons in the nodes, through the providers' ways in.

mpirun calls ``agent`` (native/agent) instead of ssh. The agent sends its request over a Unix socket together with its
standard files, which the command inherits; the answer is the command's exit code. If either end disappears, the
command ends too. Threads serve the requests, and sleep while the daemons run.

The job itself can reach the socket. A client can only run commands in the job's own nodes, where the job can run them
anyway; senseless requests get no answer, and silent or too many clients are cut off.
"""

import os
import select
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tare.errors import NodeError
from tare.host.process import USUAL_UMASK, tool_environment
from tare.records import User
from tare.untrusted import object_from_json
from tare.workloads.mpi import last_words
from tare.workloads.mpi_site import SITE

_REQUEST_BYTE = 1 << 20
_FILES = 3
_REQUEST_LIMIT_S = 10.0
_CROWD = 16
"""Number of requests served at once in addition to a daemon in each node."""
_ENDING_LIMIT_S = 5.0
_PAUSE_S = 0.1
_CANNOT = 126


@dataclass(frozen=True, slots=True, kw_only=True)
class Daemon:
    """One command started in a node for the agent."""

    node: str
    code: int | None
    """Its exit code; 126 if it could not be started, ``None`` if it was ended here because mpirun had left."""


class AgentServer:
    """Serves one launcher; a context manager that ends everything it started."""

    name = ".agent"
    """Name of the socket, in the folder that launcher and runner share."""

    def __init__(self, folder: Path, ways: Mapping[str, list[str]], user: User | None = None) -> None:
        """Listen in ``folder``; ``ways`` maps a node's name to the argv prefix that enters it.

        ``user`` may connect to it, besides its creator.
        """
        self._path = folder / self.name
        self._ways = ways
        self._user = user
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._serving: list[threading.Thread] = []
        self.ended: list[Daemon] = []
        """Daemons that have ended so far, in order."""

    def __enter__(self) -> Self:
        # A socket's path is limited to 107 bytes (unix(7)); this one is short wherever the folder is.
        folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            self._listening.bind(f"/proc/self/fd/{folder}/{self._path.name}")
            if self._user is not None:
                os.chown(
                    self._path.name, self._user.uid, self._user.gid, dir_fd=folder, follow_symlinks=False
                )
        finally:
            os.close(folder)
        self._listening.listen()
        self._stop, self._stopping = os.pipe()
        self._accepting.start()
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._stopping)
        deadline = time.monotonic() + 2 * _ENDING_LIMIT_S
        self._accepting.join(_ENDING_LIMIT_S)  # it may still begin to serve a request
        for thread in self._serving:
            thread.join(max(0.0, deadline - time.monotonic()))
        self._listening.close()
        os.close(self._stop)

    def failure(self) -> Daemon | None:
        """The first daemon that did not end well."""
        return next((daemon for daemon in self.ended if daemon.code and daemon.node != SITE), None)

    def _accept(self) -> None:
        while self._stop not in _readable(self._listening.fileno(), self._stop):
            try:
                connection, _ = self._listening.accept()
            except OSError:  # out of descriptors: some will be freed
                _readable(self._stop, limit_s=_PAUSE_S)
                continue
            self._receive(connection)

    def _receive(self, connection: socket.socket) -> None:
        """Serve it in a thread, or hang up if too many are being served."""
        self._serving = [thread for thread in self._serving if thread.is_alive()]
        thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
        if len(self._serving) < _CROWD + len(self._ways) and _started(thread):
            self._serving.append(thread)
        else:
            connection.close()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            request, files = self._request(connection)
            try:
                if request is None:
                    return
                node, command = request
                code = self._run(node, command, files, connection)
            finally:
                for file in files:
                    os.close(file)
            self.ended.append(Daemon(node=node, code=code))
            with suppress(OSError):
                connection.send(str(code).encode())

    def _request(self, connection: socket.socket) -> tuple[tuple[str, str] | None, list[int]]:
        """Node and command, with the standard files; ``None`` if it is no request, or late."""
        if connection.fileno() not in _readable(connection.fileno(), self._stop, limit_s=_REQUEST_LIMIT_S):
            return None, []
        try:
            text, files, *_ = socket.recv_fds(connection, _REQUEST_BYTE, _FILES, socket.MSG_CMSG_CLOEXEC)
        except OSError:
            return None, []
        return parse_request(text), files

    def _run(self, node: str, command: str, files: list[int], connection: socket.socket) -> int | None:
        if node not in self._ways or len(files) != _FILES:
            return _CANNOT
        try:
            child = subprocess.Popen(
                [*self._ways[node], "sh", "-c", command],
                stdin=files[0],
                stdout=files[1],
                stderr=files[2],
                env=tool_environment(),
                start_new_session=True,
                umask=USUAL_UMASK,
            )
        except (OSError, ValueError):  # the latter for what no argument can hold
            return _CANNOT
        return self._wait(child, connection)

    def _wait(self, child: "subprocess.Popen[bytes]", connection: socket.socket) -> int | None:
        """Wait for the child's end, or for the end of the agent or this server, which ends the child."""
        try:
            ended = os.pidfd_open(child.pid)
        except OSError:
            _end(child)
            return _CANNOT
        try:
            if ended not in _readable(ended, connection.fileno(), self._stop):
                _end(child)
                return None
        finally:
            os.close(ended)
        code = child.wait()
        return code if code >= 0 else 128 - code


def parse_request(text: bytes) -> tuple[str, str] | None:
    """Node and command in the agent's request; ``None`` if it is something else."""
    try:
        request = object_from_json(text)
    except ValueError:
        return None
    match request.get("node"), request.get("command"):
        case (str() as node, str() as command):
            return node, command
    return None


def _started(thread: threading.Thread) -> bool:
    """Start it; whether the system allows one more thread."""
    try:
        thread.start()
    except RuntimeError:
        return False
    return True


def _readable(*descriptors: int, limit_s: float | None = None) -> list[int]:
    """Wait for the first readable one; without a limit only if one of them ends with this runner's part."""
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return [descriptor for descriptor, _ in poll.poll(None if limit_s is None else limit_s * 1000)]


def _end(child: "subprocess.Popen[bytes]") -> None:
    for number, limit_s in ((signal.SIGTERM, _ENDING_LIMIT_S / 5), (signal.SIGKILL, _ENDING_LIMIT_S)):
        with suppress(ProcessLookupError):
            os.killpg(child.pid, number)
        with suppress(subprocess.TimeoutExpired):
            child.wait(limit_s)
            return


def explain(failed: Daemon, said: str) -> NodeError:
    """Why a launch cannot continue, with the last output of mpirun and its daemons."""
    words = f"MPI's daemon in {failed.node} ended with {failed.code}, so the launch cannot go on"
    return NodeError(f"{words}: {last_words(said)}", said)
