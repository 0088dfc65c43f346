# SPDX-License-Identifier: Apache-2.0
"""Shims that stay when Docker's daemon is killed while it starts or removes their container.

The daemon's next start does not know them, and the removal of the container does not end them (containerd's runtime
v2, README: a shim is ended by containerd's request). A node in whose life a command to the daemon failed is looked
through for them.
"""

import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from tare.environments import engine
from tare.environments.provider import NodeSpec
from tare.errors import NodeError

NAME = "containerd-shim-runc-v2"
_GRACE_S = 2.0
_KILL_LIMIT_S = 10.0


def suspect(spec: NodeSpec) -> None:
    """Remember that a command to the daemon failed, for whoever stops the node."""
    _mark(spec).touch()


def suspected(spec: NodeSpec) -> bool:
    return _mark(spec).exists()


def end(spec: NodeSpec, *others: str) -> None:
    """Kill those of the node's removed containers, once they had time to end; ``NodeError`` if they do not die."""
    identities = list(filter(None, (engine.identity(spec, which) for which in (engine.CONTAINER, *others))))
    begun = time.monotonic()
    while left := list(_shims(identities)):
        if time.monotonic() > begun + _KILL_LIMIT_S:
            raise NodeError(f"the shim {left[0]} of {spec.name} does not die; is a file system stuck?")
        if time.monotonic() > begun + _GRACE_S:
            for pid in left:
                _kill(pid, identities)
        time.sleep(0.05)
    _mark(spec).unlink(missing_ok=True)


def _mark(spec: NodeSpec) -> Path:
    return spec.directory / "daemon-failed"


def _shims(identities: Sequence[str]) -> Iterator[int]:
    running = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return (pid for pid in running if engine.is_called(pid, NAME) and _serves(pid, identities))


def _serves(pid: int, identities: Sequence[str]) -> bool:
    with suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
        return "-id" in words[:-1] and words[words.index("-id") + 1] in identities
    return False


def _kill(pid: int, identities: Sequence[str]) -> None:
    """Hold the process first and look again: its number may have become another's meanwhile (pidfd_open(2))."""
    with suppress(OSError):
        handle = os.pidfd_open(pid)
        try:
            if _serves(pid, identities):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)
