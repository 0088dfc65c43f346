# SPDX-License-Identifier: Apache-2.0
"""Folders that are needed for seconds, below ``$TMPDIR``. A killed run leaves its own, and the next one removes it.

Whoever uses one holds a lock on it, so that it is known whether anybody still does (flock(2)).
"""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tare.host.removal import remove_tree, remove_what_goes

_PREFIX = "tare-scratch-"
"""No folder that anybody makes for something else bears it."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def scratch_folder(purpose: str) -> Iterator[Path]:
    """A new, empty folder that only this user enters, gone at the end; ``purpose`` is a part of its name."""
    folder, lock = _made(f"{_PREFIX}{purpose}-")
    try:
        yield folder
    finally:
        remove_what_goes(folder)
        if lock is not None:
            os.close(lock)


def remove_unused() -> list[str]:
    """Remove this user's scratch folders that nobody uses any more; returns their names."""
    removed = []
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError), _if_unused(folder):
            remove_tree(folder)
            removed.append(folder.name)
    return removed


def _made(prefix: str) -> tuple[Path, int | None]:
    """With its lock, and made anew when somebody cleaned up between the two.

    ``None`` where the file system knows no locks: nobody else can have it there either, and so nobody removes it.
    """
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix))
        try:
            return folder, _locked(folder)
        except (FileNotFoundError, BlockingIOError):
            continue
        except OSError:
            return folder, None


def _locked(folder: Path) -> int:
    """``BlockingIOError`` while another holds it; ``FileNotFoundError`` when the folder is no longer the one opened."""
    descriptor = os.open(folder, _FOLDER)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.fstat(descriptor), os.lstat(folder)):
            raise FileNotFoundError(folder)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def _if_unused(folder: Path) -> Iterator[None]:
    lock = _locked(folder)
    try:
        if os.fstat(lock).st_uid != os.geteuid():
            raise PermissionError(folder)
        yield
    finally:
        os.close(lock)
