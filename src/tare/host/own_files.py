# SPDX-License-Identifier: Apache-2.0
"""Files whose names others may have used for something else: no link is followed, and no open blocks."""

import errno
import os
import stat
from pathlib import Path

from tare.host.trust import distrust

MOST_BYTE = 16 << 20
"""The most of a file that is read at once."""
_MODE = 0o600
_CAREFULLY = os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""Opening a pipe or a device under the file's name neither blocks nor has effects (open(2))."""


def read_plain(path: Path, most_byte: int = MOST_BYTE) -> bytes:
    """The whole of a plain file that anybody may have put there, in bounded time and memory.

    ``OSError`` also for a link, for anything but a plain file, and for a longer one.
    """
    with os.fdopen(open_regular(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as opened:
        content = opened.read(most_byte + 1)
    if len(content) > most_byte:
        raise OSError(errno.EFBIG, f"it is longer than {most_byte >> 20} MiB", str(path))
    return content


def open_regular(path: Path, flags: int = os.O_RDONLY) -> int:
    """A descriptor of a plain file, through any links; ``OSError`` for anything else."""
    descriptor = os.open(path, flags | _CAREFULLY, _MODE)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return _refuse(descriptor, path, "it is no plain file")
    return descriptor


def open_plain(path: Path, flags: int = os.O_RDONLY) -> int:
    """A descriptor of a plain file of any owner; with ``O_CREAT`` among the flags it is made, for its owner alone.

    ``OSError`` also for a link, for anything but a plain file, and for another user's file with a second name, which
    may lead out of the folder as a link does.
    """
    descriptor = open_regular(path, flags | os.O_NOFOLLOW)
    status = os.fstat(descriptor)
    if status.st_nlink > 1 and status.st_uid != os.geteuid():
        return _refuse(descriptor, path, "it has a second name elsewhere")
    return descriptor


def open_own(path: Path, flags: int = os.O_RDONLY) -> int:
    """As ``open_plain``, and ``OSError`` for a file that another user owns or can write."""
    descriptor = open_plain(path, flags)
    why = distrust(os.fstat(descriptor), path)
    return descriptor if why is None else _refuse(descriptor, path, f"it {why}")


def open_own_lock(path: Path) -> int:
    """A file for flock(2), made if missing; only its owner can open it, so that nobody else can hold the lock.

    ``OSError`` as ``open_own``.
    """
    descriptor = open_own(path, os.O_RDWR | os.O_CREAT)
    status = os.fstat(descriptor)
    if stat.S_IMODE(status.st_mode) & ~_MODE and status.st_uid == os.geteuid():
        os.fchmod(descriptor, _MODE)  # an earlier version made it readable for all
    return descriptor


def _refuse(descriptor: int, path: Path, why: str) -> int:
    os.close(descriptor)
    raise OSError(errno.EPERM, why, str(path))
