# SPDX-License-Identifier: Apache-2.0
"""The disks of guests: the one image, read-only and shared by all of them, and an empty disk for a guest's writes."""

import fcntl
import os
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tare.errors import NodeError
from tare.host import process
from tare.host.paths import disks_directory
from tare.host.privileges import ordinary_user
from tare.host.trees import entries_below

_MAKE_LIMIT_S = 600.0
_LOCK_LIMIT_S = 900.0
_LOCK_STEP_S = 0.2
_BUILD_TIME = {"SOURCE_DATE_EPOCH": "4102444800"}
"""The file system's time, so that two disks of one tree have the same bytes; in 2100, since files get no later time."""
_EACH_ITS_OWN = ("-x", str(2**31 - 1))
"""Attributes are stored with their own files, even when many are equal: to find equal ones, mkfs.erofs would enter
excluded folders."""
_ROOM = 1.05
"""Disk size over tree size: the file system's overhead."""


def image_disk(image_root: Path, digest: str) -> Path:
    """The image as an uncompressed erofs file system, made once per digest within a few seconds.

    Owners, modes, attributes and times are the tree's. The times matter: Python compiles a module anew when its source
    does not have the time that the compiled form names. In an ordinary user's image everything is that user's, and in
    the disk it is root's, as in containers. What the user may not read of root's image is not in that user's disk.
    ``NodeError`` if it cannot be made.
    """
    final = disks_directory() / f"{digest.removeprefix('sha256:')}.erofs"
    if final.is_file():
        return final
    with only_maker(disks_directory()):
        if not final.is_file():  # another process may have made it meanwhile
            _make(image_root, digest, final)
    return final


def layer_disk(path: Path, size_byte: int) -> None:
    """Make an empty ext4 file system of this size; its file takes only as much disk space as is written to it.

    It is initialized completely: otherwise the guest's kernel would go on behind a benchmark's back (lazy_itable_init).
    """
    with path.open("wb") as file:
        os.truncate(file.fileno(), size_byte)
    eager = "lazy_itable_init=0,lazy_journal_init=0,root_owner=0:0"
    process.run_checked(
        ["mke2fs", "-q", "-F", "-t", "ext4", "-m", "0", "-E", eager, str(path)], timeout_s=_MAKE_LIMIT_S
    )


def _make(image_root: Path, digest: str, final: Path) -> None:
    new = final.with_name(".new.erofs")
    require_room(image_root, new.parent)
    try:
        done = process.run(_mkfs(image_root, digest, new), timeout_s=_MAKE_LIMIT_S, variables=_BUILD_TIME)
        if done.code != 0:
            raise NodeError(f"the guests' disk cannot be made of {image_root}: mkfs.erofs: {done.last_words}")
        new.chmod(0o400)  # an image may hold what others must not read
        new.rename(final)
    finally:
        new.unlink(missing_ok=True)


def _mkfs(image_root: Path, digest: str, new: Path) -> list[str]:
    """mkfs.erofs(1); the UUID comes from the digest, since it would be random otherwise."""
    identity = str(uuid.UUID(digest.removeprefix("sha256:")[:32]))
    owner = [] if image_root.stat().st_uid == 0 else ["--all-root"]
    excluded = [f"--exclude-path={path}" for path in unreadable(image_root)] if ordinary_user() else []
    hidden = [*_EACH_ITS_OWN, *excluded] if ordinary_user() else []
    return [
        *("mkfs.erofs", "--quiet", "--preserve-mtime", "-U", identity),
        *(*owner, *hidden, str(new), str(image_root)),
    ]


def unreadable(root: Path) -> Iterator[Path]:
    """What this user may not read of an image, relative to its root."""
    for entry in entries_below(root):
        wanted = os.R_OK | os.X_OK if entry.is_dir(follow_symlinks=False) else os.R_OK
        if not entry.is_symlink() and not os.access(entry.path, wanted):
            yield Path(entry.path).relative_to(root)


def require_room(image_root: Path, folder: Path) -> None:
    """Raise ``NodeError`` where the image as a disk, not compressed, would not fit."""
    free_byte = shutil.disk_usage(folder).free
    needed_byte = _ROOM * sum(
        entry.stat(follow_symlinks=False).st_size
        for entry in entries_below(image_root)
        if not entry.is_dir(follow_symlinks=False)
    )
    if free_byte < needed_byte:
        raise NodeError(
            f"the image's disk needs {needed_byte / 1e6:.0f} MB in {folder}, where {free_byte / 1e6:.0f} MB are free; "
            "free some, or set TARE_STATE to a directory on a larger disk"
        )


@contextmanager
def only_maker(folder: Path) -> Iterator[None]:
    """Let one process at a time make a disk in this folder; the others wait for it. Raises ``NodeError``."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / ".lock").open("a")
    except OSError as error:
        raise NodeError(f"{folder} cannot be written ({error.strerror}): set TARE_STATE") from error
    with file:
        deadline = time.monotonic() + _LOCK_LIMIT_S
        while not _taken(file.fileno()):
            if time.monotonic() > deadline:
                raise NodeError(
                    f"another process has held {folder}/.lock for {_LOCK_LIMIT_S:.0f} s; is it stuck?"
                )
            time.sleep(_LOCK_STEP_S)
        yield


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
