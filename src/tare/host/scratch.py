# SPDX-License-Identifier: Apache-2.0
"""Folders that are needed for seconds, below ``$TMPDIR``. A killed run leaves its folder, and the next run removes it.

A process holds a lock on the folder that it uses, so others know whether it is still in use (flock(2)). The name
includes its user and the host that uses it: some file systems are shared by hosts, but their locks hold on one only.
"""

import errno
import fcntl
import os
import stat
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tare.host.mounts import mounts_below
from tare.host.removal import remove_tree, remove_what_goes

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL, errno.EBADF})
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


@contextmanager
def scratch_folder(purpose: str) -> Iterator[Path]:
    """A new, empty folder that only this user can enter, gone at the end; ``purpose`` is part of its name."""
    folder, lock = _made(f"{_prefix()}{purpose}-")
    try:
        yield folder
    finally:
        try:
            remove_what_goes(folder)
        finally:
            if lock is not None:
                os.close(lock)


def remove_unused() -> None:
    """Remove this user's scratch folders that are no longer in use."""
    with suppress(OSError):  # no folder for temporary files is writable
        for folder in _left(Path(tempfile.gettempdir()).resolve()):
            with suppress(OSError), _held(folder):
                remove_tree(folder)


def _prefix() -> str:
    """A prefix that no folder made for another purpose has."""
    host = zlib.crc32(os.fsencode(os.uname().nodename))
    return f"tare-scratch-{os.geteuid()}-{host:08x}-"


def _left(directory: Path) -> list[Path]:
    """This user's scratch folders on this host. None where others may rename what they do not own.

    A mounted one is left out: a file system served by a user may never answer (fuse(4)).
    """
    mode = directory.stat().st_mode
    if mode & _OTHERS_WRITE and not mode & stat.S_ISVTX:
        return []
    mounted = set(mounts_below(directory))
    return [folder for folder in directory.glob(f"{_prefix()}*") if folder not in mounted]


def _made(prefix: str) -> tuple[Path, int | None]:
    """The folder with its lock, made again when a clean-up removed it between the two.

    ``None`` where the file system has no locks: nobody else can hold one there either, so nobody removes it.
    """
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix))
        try:
            return folder, _locked(folder)
        except OSError as error:
            if error.errno in _NO_LOCKS:
                return folder, None
            remove_what_goes(folder)
            if not isinstance(error, FileNotFoundError | BlockingIOError):
                raise


def _locked(folder: Path) -> int:
    """Lock it; ``BlockingIOError`` while another holds it; ``FileNotFoundError`` when the folder was replaced."""
    descriptor = os.open(folder, _FOLDER)
    try:
        if os.fstat(descriptor).st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, "it is another user's", str(folder))
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.fstat(descriptor), os.lstat(folder)):
            raise FileNotFoundError(errno.ENOENT, "it was replaced", str(folder))
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    lock = _locked(folder)
    try:
        yield
    finally:
        os.close(lock)
