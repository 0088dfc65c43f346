# SPDX-License-Identifier: Apache-2.0
"""One measurement at a time on a machine, whoever measures: a lock that every user can take.

It is a flock(2) on a file in a folder where everybody may make files and nobody may remove another's. The file is only
ever opened for reading: it holds nothing, and whoever made it has no more rights than the others. What else may lie
there under its name (a link, a pipe) is refused, not followed.

A state folder of one's own (``TARE_STATE``) is one's own machine in this respect: its lock is the only one.
"""

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tare.errors import HostError, LockedError

FOLDERS = (Path("/run/lock"), Path("/tmp"))  # noqa: S108 - see above
"""The first that is everybody's is used."""
NAME = "tare.lock"
_EVERYBODYS = stat.S_ISVTX | stat.S_IWOTH


@contextmanager
def machine_lock(folders: tuple[Path, ...] = FOLDERS) -> Iterator[None]:
    """Hold the machine; ``LockedError`` names the process that does, ``HostError`` a file that is no lock."""
    place = next((folder for folder in folders if _is_everybodys(folder)), None)
    if "TARE_STATE" in os.environ or place is None:
        yield
        return
    descriptor = _open(place / NAME)
    try:
        _acquire(descriptor, place / NAME)
        yield
    finally:
        os.close(descriptor)


def _is_everybodys(folder: Path) -> bool:
    try:
        return folder.stat().st_mode & _EVERYBODYS == _EVERYBODYS
    except OSError:
        return False


def _open(path: Path) -> int:
    """Without O_CREAT where it is there: a kernel may refuse that for another's file (proc(5), protected_regular)."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = _existing(path, flags)
        while descriptor is None:
            descriptor = _made(path, flags) or _existing(path, flags)
    except OSError as error:
        raise HostError(
            f"{path}, the lock that all users share, cannot be opened ({error.strerror}): have its owner or the "
            "administrator remove it, or set TARE_STATE to a folder of yours"
        ) from error
    return descriptor


def _existing(path: Path, flags: int) -> int | None:
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        return None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "it is no plain file")


def _made(path: Path, flags: int) -> int | None:
    try:
        descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError:
        return None
    os.fchmod(descriptor, 0o644)  # whatever this user's mask says: the others must be able to open it
    return descriptor


def _acquire(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = _holder(os.fstat(descriptor))
        who = "somebody" if holder is None else f"process {holder}"
        raise LockedError(
            f"a run of tare is measuring on this host, maybe another user's ({who} holds {path}); "
            "two at once would spoil both: wait for it"
        ) from None


def _holder(wanted: os.stat_result) -> int | None:
    """Process id of a file's flock(2) by proc(5), /proc/locks; ``None`` when it does not tell."""
    place = f"{os.major(wanted.st_dev):02x}:{os.minor(wanted.st_dev):02x}:{wanted.st_ino}"
    try:
        rows = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    except OSError:
        return None
    return next((int(row[4]) for row in rows if len(row) > 5 and row[5] == place), None)  # noqa: PLR2004 - its place
