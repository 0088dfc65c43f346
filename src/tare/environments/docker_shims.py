# SPDX-License-Identifier: Apache-2.0
"""Shims that survive when Docker's daemon is killed while it starts or removes their container.

The restarted daemon does not know them, and removing the container does not end them (containerd's runtime v2, README:
a shim ends when containerd requests it). So a node is searched for them when a command to the daemon failed during its
life, or when a process that did not start it stops it, since that process knows nothing of its life.
"""

import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from tare.engines import engine
from tare.errors import NodeError
from tare.nodes.provider import NodeSpec

NAME = "containerd-shim-runc-v2"
_GRACE_S = 2.0
_KILL_LIMIT_S = 10.0


_sound: set[tuple[int, Path]] = set()
"""Nodes that a process, by its number, has started itself, without a failed command to the daemon since."""


def trust(spec: NodeSpec) -> None:
    """Remember that this process starts the node."""
    _sound.add((os.getpid(), spec.directory))


def distrust(spec: NodeSpec) -> bool:
    """Forget it, because a command failed or the node is stopped; return whether it was remembered."""
    known = (os.getpid(), spec.directory)
    if known not in _sound:
        return False
    _sound.remove(known)
    return True


def end(spec: NodeSpec, *others: str) -> None:
    """Kill the shims of the node's removed containers after some time to end; ``NodeError`` if they do not die."""
    identities = list(filter(None, (engine.identity(spec, which) for which in (engine.CONTAINER, *others))))
    begun = time.monotonic()
    while left := list(_shims(identities)):
        if time.monotonic() > begun + _KILL_LIMIT_S:
            raise NodeError(f"the shim {left[0]} of {spec.name} does not die; is a file system stuck?")
        if time.monotonic() > begun + _GRACE_S:
            for pid in left:
                _kill(pid, identities)
        time.sleep(0.05)


def _shims(identities: Sequence[str]) -> Iterator[int]:
    return (pid for pid in engine.called(NAME) if _serves(pid, identities))


def _serves(pid: int, identities: Sequence[str]) -> bool:
    with suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
        return "-id" in words[:-1] and words[words.index("-id") + 1] in identities
    return False


def _kill(pid: int, identities: Sequence[str]) -> None:
    """Open the process first and check again: its number may have been reused meanwhile (pidfd_open(2))."""
    with suppress(OSError):
        handle = os.pidfd_open(pid)
        try:
            if _serves(pid, identities):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)
