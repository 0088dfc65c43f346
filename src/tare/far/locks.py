# SPDX-License-Identifier: Apache-2.0
"""flock(2) locks of the far side: a process at work holds one, and a kill releases it."""

import fcntl
import json
import os
from pathlib import Path

from tare.errors import NodeError
from tare.host.own_files import open_own
from tare.host.trust import made


def lock(path: Path, kind: int, flags: int = 0) -> int | None:
    """A descriptor that holds ``path``; ``None`` when another process holds it. ``FileNotFoundError`` when it is gone.

    ``OSError`` when another user owns or can write it, as ``open_own``.
    """
    descriptor = open_own(path, os.O_RDWR | flags)
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def share_host(state: Path) -> int:
    """Keep away runs started on this host, and their clean-up; ``NodeError`` when one is going on.

    ``HostError`` when another user can change the state folder.
    """
    descriptor = lock(made(state) / "lock", fcntl.LOCK_SH, os.O_CREAT)
    if descriptor is None:
        raise NodeError(
            f"another run of tare is measuring here ({_holder(state)}); wait for it, or name another state"
        )
    return descriptor


def _holder(state: Path) -> str:
    try:
        document = json.loads((state / "lock").read_text())
        return f"{document['purpose']}, process {document['pid']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "unknown"
