# SPDX-License-Identifier: Apache-2.0
"""Connections by which commands enter a host's nodes: as many as sshd needs to let all of them in.

sshd allows ten sessions on one connection (sshd_config(5), MaxSessions), and ssh makes a further connection for each
beyond; of many at the same time sshd drops some (MaxStartups). So a lane takes few nodes, and the next ones get
another lane, which stays for later nodes.
"""

import subprocess
import threading
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tare.environments.ssh.channel import is_readable
from tare.environments.ssh.connection import Far, unreachable, variables
from tare.errors import NodeError
from tare.host.process import end_session, tool_environment

MOST_NODES = 4
"""Each is entered twice at most at the same time, and the agent has a session on the first lane."""
_OPEN_LIMIT_S = 60.0
_END_LIMIT_S = 10.0
_WAIT = "echo && exec cat >/dev/null"
"""For the shell there: says that the lane is open, and lasts as long as this process holds the other end."""


@dataclass(eq=False)
class Lane:
    """One, and how many nodes use it."""

    socket: Path
    process: "subprocess.Popen[bytes] | None" = None
    """``None``: the agent's own connection."""
    nodes: int = 0

    @property
    def has_room(self) -> bool:
        is_open = self.process is None or self.process.poll() is None
        return is_open and self.nodes < MOST_NODES


class Lanes:
    """Those of one host; threads may take them at the same time."""

    def __init__(self, far: Far, socket: Path) -> None:
        """The first one is the agent's connection at ``socket``; the others are beside it."""
        self._far = far
        self._lanes = [Lane(socket)]
        self._taking = threading.Lock()

    def take(self) -> Lane:
        """One with room for a node, opened if need be; ``NodeError`` says why that failed."""
        with self._taking:
            lane = next((lane for lane in self._lanes if lane.has_room), None)
            if lane is None:
                lane = self._opened()
                self._lanes.append(lane)
            lane.nodes += 1
        return lane

    def leave(self, lane: Lane) -> None:
        with self._taking:
            lane.nodes -= 1

    def close(self) -> None:
        """Close all but the agent's own."""
        with ExitStack() as stack:
            for lane in self._lanes[1:]:
                stack.callback(_close, lane)

    def _opened(self) -> Lane:
        first = self._lanes[0].socket
        socket = first.with_name(f"{first.name}.{len(self._lanes)}")
        argv = [*self._far.ssh(socket, master=True), _WAIT]
        pipe, environment = subprocess.PIPE, {**tool_environment(), **variables()}
        process = subprocess.Popen(
            argv, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, start_new_session=True
        )
        lane = Lane(socket, process)
        try:
            self._wait_until_open(process)
        except BaseException:
            _close(lane)
            raise
        return lane

    def _wait_until_open(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdout is not None  # noqa: S101 - they were requested as pipes
        assert process.stderr is not None  # noqa: S101
        if not is_readable(process.stdout.fileno(), _OPEN_LIMIT_S):
            raise NodeError(f"{self._far.host} opens no further connection within {_OPEN_LIMIT_S:.0f} s")
        if not process.stdout.read(1):
            raise unreachable(self._far, process.stderr.read().decode(errors="replace"))


def _close(lane: Lane) -> None:
    assert lane.process is not None  # noqa: S101 - the first one is the agent's to close
    for stream in (lane.process.stdin, lane.process.stdout, lane.process.stderr):
        if stream is not None:
            stream.close()
    try:
        end_session(lane.process, _END_LIMIT_S)
    finally:
        lane.socket.unlink(missing_ok=True)
