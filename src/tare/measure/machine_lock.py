# SPDX-License-Identifier: Apache-2.0
"""One measurement at a time on a machine: a lock that every user can take.

It is a flock(2) on a file in a folder where everybody may create files and nobody may remove another user's. The file
is only ever opened for reading: it is empty, and its creator has no more rights than others. Anything else under its
name (a link, a pipe) is refused, not followed.

Anybody who can open it can hold it forever, and nothing proves that a holder measures. Ordinary users respect each
other nevertheless, and learn whose process it is. Root does not depend on them: it learns it too, replaces the file by
a new one, and holds that. (The lock in root's state folder, which nobody else can open, separates root's own runs.)

A separate state folder (``TARE_STATE``) counts as a separate machine in this respect: its lock is the only one.
"""

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tare.errors import HostError, LockedError
from tare.host.own_files import open_plain
from tare.host.privileges import ordinary_user
from tare.host.trust import user_name

FOLDERS = (Path("/run/lock"), Path("/tmp"))  # noqa: S108 - see above
"""The first folder open to everybody is used."""
NAME = "tare.lock"
_EVERYBODYS = stat.S_ISVTX | stat.S_IWOTH
_MODE = 0o644
_TRIES = 100


@contextmanager
def machine_lock(folders: tuple[Path, ...] = FOLDERS) -> Iterator[str | None]:
    """Hold the machine; yields a remark if root had to take it from a user, or cannot get it at all.

    For an ordinary user ``LockedError`` names the process that holds it, ``HostError`` a file that is no lock.
    """
    place = next((folder for folder in folders if _is_everybodys(folder)), None)
    if "TARE_STATE" in os.environ or place is None:
        yield None
        return
    descriptor, remark = _held(place / NAME)
    try:
        yield remark
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _is_everybodys(folder: Path) -> bool:
    try:
        return folder.stat().st_mode & _EVERYBODYS == _EVERYBODYS
    except OSError:
        return False


def _held(path: Path) -> tuple[int | None, str | None]:
    try:
        return _acquired(path), None
    except HostError as error:
        if ordinary_user():
            raise
        return _taken_over(path), f"warning: {error}; this run is root's, and does not"


def _taken_over(path: Path) -> int | None:
    """Replace the file, as only root may; ``None`` if others always recreate it first."""
    for _ in range(_TRIES):
        with suppress(OSError, HostError):
            path.unlink(missing_ok=True)
            return _acquired(path)
    return None


def _acquired(path: Path) -> int:
    descriptor = _open(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        who = _holders(os.fstat(descriptor))
        os.close(descriptor)
        raise LockedError(
            f"a run of tare is measuring on this host, maybe another user's ({who} holds {path}); "
            "two at once would spoil both: wait for it"
        ) from None
    return descriptor


def _open(path: Path) -> int:
    """Open it, without O_CREAT if it exists: kernels may refuse it for another's file (proc(5), protected_regular)."""
    try:
        descriptor = _existing(path)
        while descriptor is None:
            descriptor = _made(path) or _existing(path)
    except OSError as error:
        raise HostError(
            f"{path}, the lock that all users share, cannot be opened ({error.strerror}): have its owner or the "
            "administrator remove it, or set TARE_STATE to a folder of yours"
        ) from error
    return descriptor


def _existing(path: Path) -> int | None:
    with suppress(FileNotFoundError):
        return open_plain(path)
    return None


def _made(path: Path) -> int | None:
    with suppress(FileExistsError):
        descriptor = open_plain(path, os.O_CREAT | os.O_EXCL)
        os.fchmod(descriptor, _MODE)  # whatever this user's mask says: the others must be able to open it
        return descriptor
    return None


def _holders(wanted: os.stat_result) -> str:
    """The processes with a flock(2) on the file, by proc(5), /proc/locks; "somebody" if it does not show them."""
    place = f"{os.major(wanted.st_dev):02x}:{os.minor(wanted.st_dev):02x}:{wanted.st_ino}"
    try:
        rows = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    except OSError:
        rows = []
    saids = [_said(row[4]) for row in rows if len(row) > 5 and row[5] == place]  # noqa: PLR2004 - its place
    return ", ".join(saids) or "somebody"


def _said(pid: str) -> str:
    """Such as "process 123 (python3, user alice)"."""
    try:
        name = Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()
        user = user_name(Path(f"/proc/{pid}").stat().st_uid)
    except OSError:
        return f"process {pid}, which has ended, or a child of it"
    shown = "".join(letter for letter in name if letter.isprintable())
    return f"process {pid} ({shown}, user {user})"
