# SPDX-License-Identifier: Apache-2.0
"""Files to and from a node's work directory. The node is root there, and may have put links anywhere."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any

from tare.errors import NodeError
from tare.host.privileges import ordinary_user
from tare.nodes.files import opened_inside

_HEAD_BYTE = 17 << 20
_TAIL_BYTE = 1 << 20
"""Nobody reads more of an output than its first 16 MiB and its end."""


def put(work: Path, entries: Sequence[dict[str, Any]], content: bytes) -> None:
    """Write files and folders (whose ``size`` is ``None``) below ``work``; ``content`` holds the files' bytes in order.

    If we are root, each goes to its ``owner``, if it has one, once all are written; from the inside out.
    """
    at = 0
    for entry in entries:
        with _folder_inside(work, PurePosixPath(entry["name"]).parent) as folder:
            last = PurePosixPath(entry["name"]).name
            if entry["size"] is None:
                _make_folder(folder, last)
            else:
                _write(folder, last, entry["mode"], content[at : at + entry["size"]])
                at += entry["size"]
    for entry in reversed(() if ordinary_user() else entries):
        if owner := entry.get("owner"):
            path = PurePosixPath(entry["name"])
            with _folder_inside(work, path.parent) as folder:
                os.chown(path.name, *owner, dir_fd=folder, follow_symlinks=False)


def get(work: Path, names: Sequence[str]) -> tuple[list[dict[str, Any]], bytes]:
    """The regular files among ``names``, with their sizes and the order of their pieces in the bytes."""
    entries, parts = [], []
    for name in names:
        with opened_inside(work, name) as opened:
            if opened is None:
                continue
            size = os.fstat(opened.fileno()).st_size
            pieces = []
            for offset, length in _pieces(size):
                opened.seek(offset)
                parts.append(opened.read(length))
                pieces.append([offset, len(parts[-1])])
            entries.append({"name": name, "whole": size, "pieces": pieces})
    return entries, b"".join(parts)


def _pieces(size: int) -> list[tuple[int, int]]:
    if size <= _HEAD_BYTE + _TAIL_BYTE:
        return [(0, size)]
    return [(0, _HEAD_BYTE), (size - _TAIL_BYTE, _TAIL_BYTE)]


@contextmanager
def _folder_inside(work: Path, path: PurePosixPath) -> Iterator[int]:
    """A descriptor of a folder below ``work``, made if it is missing; no link is followed."""
    if path.is_absolute() or ".." in path.parts:
        raise NodeError(f"{path} is not inside the node's work directory")
    at = os.open(work, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in path.parts:
            _make_folder(at, part)
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
            os.close(at)
            at = below
        yield at
    finally:
        os.close(at)


def _make_folder(at: int, name: str) -> None:
    try:
        os.mkdir(name, dir_fd=at)
    except FileExistsError:
        return


def _write(at: int, name: str, mode: int, content: bytes) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=at)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(name, flags, mode, dir_fd=at), "wb") as opened:
        opened.write(content)
        os.fchmod(opened.fileno(), mode)
