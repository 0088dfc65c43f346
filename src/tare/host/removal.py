# SPDX-License-Identifier: Apache-2.0
"""Removing a folder that a hostile user may have filled, or putting it out of the way.

It may be 100,000 levels deep, hold links to anywhere, folders that nobody may read, attributes that keep even root
from removing a file, and more files than there is time for. So everything in it is reached only by its folder's
descriptor and without following a link, no mount point is crossed, and deep folders are moved up to the top, so that a
handful of descriptors is enough. Renaming folders meanwhile gains nothing: the way back up is never looked up.
"""

import errno
import fcntl
import os
import secrets
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from tare.host.mounts import mounts_below
from tare.host.paths import quarantine_directory
from tare.host.trust import made

LIMIT_S = 60.0
"""Enough for some million files."""
_DEEPEST = 16
"""Levels below the top at which a folder is moved up."""
_LONGEST_NAME = 300
_GET_ATTRIBUTES, _SET_ATTRIBUTES = 0x80086601, 0x40086602
_PROTECTING = 0x10 | 0x20
"""FS_IMMUTABLE_FL and FS_APPEND_FL of ioctl_iflags(2)."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_CHATTR = "take its attributes and mounts off (lsattr, chattr, findmnt), or be root"
_WAYS = {
    errno.ETIMEDOUT: "`tare clean` goes on with it",
    errno.EBUSY: "unmount what is mounted there (findmnt, umount)",
    errno.EPERM: _CHATTR,
    errno.EACCES: _CHATTR,
    errno.EROFS: "the file system is read-only now: see dmesg, and mount it anew",
}
_Made = TypeVar("_Made")


def remove_tree(path: Path, *, limit_s: float = LIMIT_S) -> None:
    """Remove ``path`` with everything below it, be it a folder, a file or a link; harmless when it does not exist.

    ``OSError`` names the first thing that could not be removed and why; all else is gone then. ``TimeoutError``: there
    was more than ``limit_s`` seconds of work; another call continues with the rest.
    """
    if _went_at_once(path):
        return
    try:
        parent = os.open(path.parent, _FOLDER)
    except FileNotFoundError:
        return
    with _closing(parent):
        _Removal(path, limit_s).of(parent)


def _went_at_once(path: Path) -> bool:
    """Remove a file, a link, or an empty folder, without opening anything; return whether it is gone."""
    for remove in (os.unlink, os.rmdir):
        try:
            remove(path)
        except FileNotFoundError:
            return True
        except OSError:
            continue
        return True
    return False


def remove_folder(directory: Path, last: str, *, limit_s: float = LIMIT_S) -> None:
    """Remove a node's folder, the file ``last`` last: a folder without it is not recognized as a node's.

    ``OSError`` as ``remove_tree``; also, before anything is removed, when something is mounted below: it may be a
    user's own directory.
    """
    with suppress(FileNotFoundError):
        with os.scandir(directory) as scanned:
            entries = list(scanned)
        # Without folders, only a file can be a mount point, and the kernel keeps a file while it is one.
        if any(entry.is_dir() for entry in entries) and (points := mounts_below(directory)):
            raise OSError(errno.EBUSY, f"something is still mounted below {directory}", str(points[0]))
        for entry in entries:
            if entry.name != last:
                remove_tree(Path(entry.path), limit_s=limit_s)
        remove_tree(directory / last, limit_s=limit_s)
    remove_tree(directory, limit_s=limit_s)


def remove_what_goes(path: Path) -> None:
    """As ``remove_tree``, but without errors: removing the folder around it reports what stays."""
    with suppress(OSError):
        remove_tree(path)


def said(error: OSError) -> str:
    """What could not be removed, why, and what to do about it."""
    way = _WAYS.get(error.errno or 0, "see why with ls -la, and remove it by hand")
    return f"cannot remove {error.filename or 'it'}: {error.strerror}; {way}"


class _Removal:
    """The removal of one tree."""

    def __init__(self, path: Path, limit_s: float) -> None:
        self._path, self._limit_s = path, limit_s
        self._deadline = time.monotonic() + limit_s
        self._top, self._mount = -1, ""
        self._problem: OSError | None = None

    def of(self, parent: int) -> None:
        self._mount = _mount_of(parent)
        if not self._went(parent, self._path.name, 0) and self._problem is not None:
            raise self._problem

    def _went(self, folder: int, name: str, depth: int) -> bool:
        """Whether it is no longer in ``folder``; ``depth`` is its own."""
        if time.monotonic() > self._deadline:
            why = f"it takes more than {self._limit_s:.0f} s"
            raise TimeoutError(errno.ETIMEDOUT, why, str(self._path))
        try:
            while not _freed(lambda: _unlinked(folder, name), folder, name, depth):
                if depth > _DEEPEST:
                    _freed(lambda: self._move_up(folder, name), folder, name, depth)
                elif not self._thinned(folder, name, depth):
                    return False
        except TimeoutError:
            raise
        except OSError as error:
            self._problem = self._problem or OSError(error.errno, error.strerror, _place(folder, name))
            return False
        return True

    def _thinned(self, folder: int, name: str, depth: int) -> bool:
        """Go through a folder once; return whether anything in it was removed."""
        went = False
        inside = _freed(lambda: os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder), folder, name, depth)
        with _closing(inside):
            if _mount_of(inside) != self._mount:
                raise OSError(errno.EBUSY, "something is mounted there")
            self._top = inside if depth == 0 else self._top
            with os.scandir(inside) as entries:  # a few at a time: there may be more than memory holds
                for entry in entries:
                    went |= self._went(inside, entry.name, depth + 1)
        return went

    def _move_up(self, folder: int, name: str) -> None:
        os.rename(name, f".tare-{secrets.token_hex(8)}", src_dir_fd=folder, dst_dir_fd=self._top)


@contextmanager
def _closing(descriptor: int) -> Iterator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _unlinked(folder: int, name: str) -> bool:
    """Whether it is gone; a folder with contents is not."""
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return True
    except IsADirectoryError:
        return _emptied(folder, name)
    return True


def _emptied(folder: int, name: str) -> bool:
    try:
        os.rmdir(name, dir_fd=folder)
    except OSError as error:
        if error.errno in {errno.ENOTEMPTY, errno.EEXIST}:
            return False
        raise
    return True


def _freed(action: Callable[[], _Made], folder: int, name: str, depth: int) -> _Made:
    """The action's result; if protection of the entry forbade it, remove that and try again."""
    try:
        return action()
    except PermissionError:
        if depth:  # protection of the top's own folder stays: it is not part of the tree
            _unprotect(folder)
        with suppress(OSError):
            _unprotect_entry(folder, name)
        return action()


def _unprotect_entry(folder: int, name: str) -> None:
    """Open it only when it is known to be a plain file or a folder: opening a device may have effects."""
    with _closing(os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)) as held:
        mode, place = os.fstat(held).st_mode, f"/proc/self/fd/{held}"
        if stat.S_ISDIR(mode):
            with suppress(OSError):
                os.chmod(place, stat.S_IRWXU)  # noqa: PTH101 - whatever has the name by now
        if stat.S_ISDIR(mode) or stat.S_ISREG(mode):
            with _closing(os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)) as opened:
                _unprotect(opened)


def _unprotect(descriptor: int) -> None:
    """Clear immutable and append-only, and let a folder's owner in, as far as this user may."""
    attributes = bytearray(8)
    with suppress(OSError):
        fcntl.ioctl(descriptor, _GET_ATTRIBUTES, attributes)
        wanted = int.from_bytes(attributes[:4], sys.byteorder) & ~_PROTECTING
        fcntl.ioctl(descriptor, _SET_ATTRIBUTES, wanted.to_bytes(4, sys.byteorder))
    with suppress(OSError):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            os.fchmod(descriptor, stat.S_IRWXU)


def _mount_of(descriptor: int) -> str:
    """The mount's number, by proc(5); a device number would not reveal a bound folder of the same file system."""
    with open(f"/proc/self/fdinfo/{descriptor}") as facts:  # noqa: PTH123 - half the time of a Path's
        return next(line for line in facts if line.startswith("mnt_id:"))


def _place(folder: int, name: str) -> str:
    """A readable path for messages; the names are whatever somebody chose."""
    try:
        path = f"{os.readlink(f'/proc/self/fd/{folder}')}/{name}"  # noqa: PTH115 - a descriptor's
    except OSError:  # longer than a path may be
        path = f".../{name}"
    shown = "".join(text if text.isprintable() else text.encode("unicode_escape").decode() for text in path)
    return shown if len(shown) <= _LONGEST_NAME else f"{shown[:_LONGEST_NAME]}..."


def remove_or_put_away(path: Path) -> None:
    """Remove what is no longer needed, or move it out of the way; ``OSError`` when neither can be done."""
    try:
        remove_tree(path)
    except OSError:
        put_away(path)


def put_away(path: Path) -> Path:
    """Move it to the quarantine, under its name or a similar one; return where. ``OSError`` when it cannot be moved."""
    place = made(quarantine_directory(), 0o700) / path.name.lstrip(".")
    if place.exists():
        place = place.with_name(f"{place.name}-{secrets.token_hex(4)}")
    path.rename(place)
    return place


def quarantined() -> list[Path]:
    """The entries of the quarantine, by name: what could not be removed, until ``tare clean`` tries again."""
    with suppress(OSError):
        return sorted(quarantine_directory().iterdir())
    return []
