# SPDX-License-Identifier: Apache-2.0
"""The processes of a node that no control group holds together, identified by the mounts they see.

Every mount that a node begins with has the node's name as its source, which no other node ever has. A number, such as
a namespace's or a process's, would be reused some day.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tare.errors import NodeError

_KILL_LIMIT_S = 10.0


def members(name: str) -> list[int]:
    """Process ids of the node ``name``, as far as this user may see them, in no particular order."""
    own, known = _namespace("self"), dict[str, bool]()
    pids = []
    for pid in _process_ids():
        with suppress(OSError):
            namespace = _namespace(pid)
            if namespace != own and namespace not in known:
                known[namespace] = _is_marked(Path(f"/proc/{pid}/mountinfo").read_bytes(), name)
            if known.get(namespace):
                pids.append(int(pid))
    return pids


def beside(pid: int) -> list[int]:
    """Process ids in the same mount namespace as ``pid``; ``NodeError`` when that process is gone."""
    try:
        wanted = _namespace(str(pid))
    except OSError as error:
        raise NodeError(f"process {pid} of the node has ended") from error
    pids = []
    for other in _process_ids():
        with suppress(OSError):
            if _namespace(other) == wanted:
                pids.append(int(other))
    return pids


def kill(name: str) -> None:
    """End all processes of a node, and with the last one its mounts; ``NodeError`` if one does not die."""
    deadline = time.monotonic() + _KILL_LIMIT_S
    while remaining := members(name):
        for pid in remaining:
            _kill(pid, name)
        if time.monotonic() > deadline:
            raise NodeError(f"process {remaining[0]} of {name} does not die; is a file system stuck?")
        time.sleep(0.001)


def _kill(pid: int, name: str) -> None:
    """Open the process first and check again: its number may have been reused meanwhile (pidfd_open(2))."""
    with suppress(OSError):
        handle = os.pidfd_open(pid)
        try:
            if _is_marked(Path(f"/proc/{pid}/mountinfo").read_bytes(), name):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)


def _process_ids() -> Iterator[str]:
    return (name for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208 - names are wanted


def _namespace(pid: str) -> str:
    return os.readlink(f"/proc/{pid}/ns/mnt")  # noqa: PTH115 - thousands of them are read


def _is_marked(mountinfo: bytes, name: str) -> bool:
    """Whether one of the mounts has ``name`` as its source (proc(5), /proc/PID/mountinfo)."""
    sources = (line.partition(b" - ")[2].split(b" ")[1:2] for line in mountinfo.splitlines())
    return [name.encode()] in sources
