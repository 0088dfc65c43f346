# SPDX-License-Identifier: Apache-2.0
"""Folders for a node's commands, and safe reading of what they left: they may have put anything there."""

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from tare.records import User


def make_folder(path: Path, owner: User | None, files: Mapping[str, str] | None = None) -> None:
    """Make a new folder with new ``files`` (relative path → text), readable by everybody whatever the umask.

    Everything goes to ``owner`` (``None``: it stays ours) once it is written, from the inside out: root must not write
    to anything that the user may already change through a command that still runs.
    """
    path.mkdir()
    made = {path: 0o755}
    for name, text in (files or {}).items():
        for folder in reversed(PurePosixPath(name).parents[:-1]):
            (path / folder).mkdir(exist_ok=True)
            made[path / folder] = 0o755
        (path / name).write_text(text)
        made[path / name] = 0o644
    for item, mode in reversed(made.items()):
        item.chmod(mode)
        if owner is not None:
            os.chown(item, owner.uid, owner.gid, follow_symlinks=False)


@contextmanager
def opened_inside(folder: Path, name: str) -> Iterator[BinaryIO | None]:
    """Open the regular file ``name`` below ``folder``; ``None`` when there is none.

    No part of the name may be a link, which could lead anywhere on the host. Opening never blocks, as it would on a
    pipe (open(2)).
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
        descriptor = os.open(last, flags | os.O_NONBLOCK | os.O_NOCTTY, dir_fd=at)
    except OSError:
        return None
    finally:
        if at >= 0:
            os.close(at)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None
