# SPDX-License-Identifier: Apache-2.0
"""Reading what a node wrote. The node is root in its work directory, and may have put anything there."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO


@contextmanager
def opened_inside(folder: Path, name: str) -> Iterator[BinaryIO | None]:
    """Open the regular file ``name`` below ``folder``; ``None`` when there is none.

    No link is followed, in no part of the name, as it may lead anywhere on the host; and nothing is waited for, as
    opening a pipe would (open(2)).
    """
    parts = PurePosixPath(name).parts
    descriptor = None if {"/", ".."} & set(parts) else _open(folder, parts)
    if descriptor is None:
        yield None
    else:
        with os.fdopen(descriptor, "rb") as opened:
            yield opened


def _open(folder: Path, parts: tuple[str, ...]) -> int | None:
    *folders, last = parts
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    at = -1
    try:
        at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        for part in folders:
            below = os.open(part, flags | os.O_DIRECTORY, dir_fd=at)
            os.close(at)
            at = below
        found = os.open(last, flags | os.O_NONBLOCK | os.O_NOCTTY, dir_fd=at)
    except OSError:
        return None
    finally:
        if at >= 0:
            os.close(at)
    if stat.S_ISREG(os.fstat(found).st_mode):
        return found
    os.close(found)
    return None
