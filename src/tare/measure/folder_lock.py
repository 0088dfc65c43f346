# SPDX-License-Identifier: Apache-2.0
"""One runner at a time measures into a result folder: a lock in the folder itself.

The host's lock separates runs with one state folder. Runs with two state folders, or on two hosts that share a file
system, could still continue the same result, and would run every trial twice. flock(2) releases the lock when its
holder is killed; the file stays, and names the last holder.
"""

import errno
import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from tare.errors import JournalError, LockedError
from tare.host.own_files import open_plain
from tare.journal.result import ResultFolder, require_own
from tare.journal.writer import make_folder

_KNOWS_NO_LOCKS = {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS}
"""Errors of network file systems without locks."""


@contextmanager
def folder_lock(folder: ResultFolder) -> Iterator[str | None]:
    """Hold ``folder``, created if missing; yields a remark if its file system has no locks.

    ``LockedError`` names the holder, ``JournalError`` says why it cannot be written, or that others could have prepared
    it. A folder created here is removed again if no result was begun in it.
    """
    was_there = folder.path.exists()
    descriptor = _open(folder.lock)
    try:
        remark = _lock(descriptor, folder)
        try:
            yield remark
        finally:
            if not was_there and not folder.exists():
                _remove(folder)
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    """Open the file for the holder's name; only its owner may open it, so that nobody else can hold it."""
    try:
        make_folder(path.parent)
        require_own(ResultFolder(path.parent))  # checked afterwards: another may have been quicker
        return open_plain(path, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise JournalError(
            f"cannot write to {path}: {error.strerror}; make it writable, or choose another --output"
        ) from error


def _lock(descriptor: int, folder: ResultFolder) -> str | None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if isinstance(error, BlockingIOError):
            raise _taken(folder, _holder(descriptor)) from None
        if error.errno in _KNOWS_NO_LOCKS:
            return (
                f"{folder.path} lies on a file system without locks ({error.strerror}): "
                "see to it that no other run measures into it"
            )
        raise JournalError(f"cannot lock {folder.lock}: {error.strerror}") from error
    if not os.fstat(descriptor).st_nlink:
        raise _taken(folder, "which has just ended")
    _sign(descriptor, folder)
    return None


def _taken(folder: ResultFolder, who: str) -> LockedError:
    return LockedError(
        f"another run of tare is measuring into {folder.path} ({who}); two at once would run its trials twice: "
        "wait for it, or choose another --output"
    )


def _sign(descriptor: int, folder: ResultFolder) -> None:
    holder = {
        "pid": os.getpid(),
        "host": os.uname().nodename,
        "since_utc": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}",
    }
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(holder).encode(), 0)
    except OSError as error:
        raise JournalError(f"cannot write to {folder.lock}: {error.strerror}; make room there") from error


def _holder(descriptor: int) -> str:
    """The holder in words; anybody who may write to the folder may have written anything."""
    try:
        held = json.loads(os.pread(descriptor, 4096, 0))
        said = f"process {int(held['pid'])} on {held['host']}, since {held['since_utc']} UTC"
    except (OSError, ValueError, KeyError, TypeError):
        return "it left no name"
    return "".join(letter for letter in said if letter.isprintable())


def _remove(folder: ResultFolder) -> None:
    """Remove it while the lock is held: a process that opened the file meanwhile sees that its name is gone."""
    with suppress(OSError):
        folder.lock.unlink()
        folder.path.rmdir()
