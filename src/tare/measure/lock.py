# SPDX-License-Identifier: Apache-2.0
"""Two runs on one host never overlap; and everything a killed run began must have ended before the clean-up.

Both are flock(2) locks below the state directory. The host lock is held by the runner and its guardian. The tools
lock is shared by every short-lived tool that the runner starts (``docker run``, ``lxc-start``): a process that gets it
exclusively knows that no such tool of a killed runner is still at work.
"""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tare.errors import HostError, LockedError
from tare.host import process
from tare.host.own_files import open_own_lock
from tare.host.paths import state_directory
from tare.host.trust import made

_CLEAN_UP_LIMIT_S = 120.0
_TOOLS_LIMIT_S = 60.0


@contextmanager
def host_lock(purpose: str) -> Iterator[int]:
    """Hold the host for ``purpose``; yields the lock's descriptor. ``LockedError`` names who holds it.

    It waits while the guardian of a killed run cleans up. Other users have other state directories; ``machine_lock``
    is shared with them.
    """
    descriptor = _open(state_directory() / "lock")
    try:
        _acquire(descriptor)
        _sign(descriptor, purpose)
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def tools_lock() -> Iterator[None]:
    """Let every tool started meanwhile hold the tools lock, after waiting for the tools of an earlier run."""
    descriptor = _open(state_directory() / "tools.lock")
    try:
        wait_for_tools(descriptor)
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        process.inherit(descriptor)
        yield
    finally:
        process.inherit(None)
        os.close(descriptor)


def wait_for_tools(descriptor: int) -> None:
    """Wait until no tool of another runner is at work, at most a minute: a hanging tool must not stop the clean-up."""
    deadline = time.monotonic() + _TOOLS_LIMIT_S
    while not _try(descriptor) and time.monotonic() < deadline:
        time.sleep(0.02)


def open_tools_lock() -> int:
    return _open(state_directory() / "tools.lock")


def _open(path: Path) -> int:
    try:
        made(path.parent)
        return open_own_lock(path)
    except OSError as error:
        raise HostError(
            f"cannot open {path}: {error.strerror}; run as root, or set TARE_STATE to a folder of yours"
        ) from error


def _try(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _acquire(descriptor: int) -> None:
    deadline = time.monotonic() + _CLEAN_UP_LIMIT_S
    while not _try(descriptor):
        pid, purpose = _holder(descriptor)
        if pid is not None and _is_running(pid):
            raise LockedError(
                f"another run of tare is measuring on this host ({purpose}, process {pid}); "
                "two at once would spoil both: wait for it or end it"
            )
        if time.monotonic() > deadline:
            raise LockedError("a killed run is still being cleaned up; wait, or see what hangs with ps")
        time.sleep(0.05)


def _sign(descriptor: int, purpose: str) -> None:
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps({"pid": os.getpid(), "purpose": purpose}).encode(), 0)
    except OSError as error:
        raise HostError(f"cannot write to {state_directory()}: {error.strerror}; make room there") from error


def _is_running(pid: int) -> bool:
    """Whether the process exists and is not a zombie (proc(5), state Z)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False


def _holder(descriptor: int) -> tuple[int | None, str]:
    try:
        document = json.loads(os.pread(descriptor, 4096, 0))
        return int(document["pid"]), str(document["purpose"])
    except (ValueError, KeyError, TypeError):
        return None, "unknown"
