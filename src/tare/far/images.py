# SPDX-License-Identifier: Apache-2.0
"""The images that were copied to this host, each in a folder named after its digest."""

import fcntl
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from tare.errors import ImageError, NodeError
from tare.far.locks import lock
from tare.host import removal
from tare.host.mounts import mounts_below
from tare.host.privileges import ordinary_user
from tare.host.removal import said
from tare.image import digest as tree_digest
from tare.image import store

_SHOWN = 24


def image_root(state: Path, digest: str) -> Path:
    return state / "images" / f"carried-{digest.removeprefix('sha256:')[:_SHOWN]}" / "rootfs"


class SeenImage:
    """The runner's own image, which this host has at the same place: on a file system of both, or installed alike."""

    def __init__(self, image: store.Image) -> None:
        self.root, self.digest = image.root, image.digest
        self._image, self._used = image, ExitStack()

    @classmethod
    def at(cls, root: str | None, digest: str) -> Self | None:
        """The image with this root and digest; ``None`` if it is not here, or nothing is to be looked for."""
        image = None if root is None else store.image_at(Path(root))
        return cls(image) if image is not None and image.digest == digest else None

    def is_whole(self) -> bool:
        """Whether it is as it was made, as far as this user can read it."""
        try:
            self.use()
            store.verify(self._image)
        except ImageError:
            return False
        return True

    def use(self) -> None:
        """Keep it from being replaced; ``LockedError`` while it is."""
        self.release()
        self._used.enter_context(store.in_use(self._image))

    def release(self) -> None:
        self._used.close()


class FarImage:
    """One image, present or not, with a lock while a process uses or makes it."""

    def __init__(self, state: Path, digest: str) -> None:
        self.digest = digest
        self.root = image_root(state, digest)
        self._part = self.root.parent.with_name(f".part-{self.root.parent.name}")
        self._lock: int | None = None

    def use(self) -> None:
        """Keep it from being replaced; ``NodeError`` when it is not here."""
        self._hold(fcntl.LOCK_SH)
        if not self.root.is_dir():
            raise NodeError(f"the image {self.digest[:19]}... is not here; it comes with the start of a run")

    def is_whole(self) -> bool:
        """Whether it is here, byte for byte."""
        self._hold(fcntl.LOCK_SH)
        return self.root.is_dir() and _digest(self.root) == self.digest

    def begin(self) -> Path:
        """The empty folder in which to unpack it, hidden from the host's other users."""
        self._hold(fcntl.LOCK_EX)
        _remove(self._part)
        self._part.mkdir(mode=0o700, parents=True)
        (self._part / "rootfs").mkdir()
        return self._part / "rootfs"

    def finish(self) -> None:
        """Put it in its place; ``NodeError`` if what arrived is not what was sent."""
        digest = _digest(self._part / "rootfs")
        if digest != self.digest:
            _remove(self._part)
            raise NodeError(
                f"what arrived has the digest {digest[:19]}... and not {self.digest[:19]}...; send it again"
            )
        _remove(self.root.parent)
        self._part.rename(self.root.parent)
        self._hold(fcntl.LOCK_SH)  # nodes may use it from now on

    def release(self) -> None:
        """Let others use or replace it; an unfinished image is removed."""
        if self._lock is not None:
            _remove(self._part)
            os.close(self._lock)
            self._lock = None

    def _hold(self, kind: int) -> None:
        if self._lock is not None:
            os.close(self._lock)
        folder = self.root.parent
        folder.parent.mkdir(parents=True, exist_ok=True)
        path = folder.with_name(f".lock-{folder.name}")
        self._lock = lock(path, kind, os.O_CREAT)
        if self._lock is None:
            raise NodeError(
                f"the image {self.digest[:19]}... is in use or just being sent by another run; try again"
            )


def _digest(root: Path) -> str:
    return tree_digest.digest(tree_digest.list_tree(root, single_owner=ordinary_user()))


def _remove(folder: Path) -> None:
    if mounts_below(folder):
        raise NodeError(f"something is mounted below {folder}; unmount it, then try again")
    try:
        removal.remove_or_put_away(folder)
    except OSError as error:
        raise NodeError(said(error)) from error
