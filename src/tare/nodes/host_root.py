# SPDX-License-Identifier: Apache-2.0
"""A root directory with the host's own files, under the same throw-away layer as an image's.

Each directory at the host's top lies below an overlay of its own: an ordinary user may not take "/" itself, on which
other file systems are mounted, as the lower directory of one (clone_private_mount in fs/namespace.c). A directory that
has file systems mounted below it, which an overlay does not show, is bound with them, read-only.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from tare.errors import NodeError
from tare.host import mounts
from tare.nodes import layer
from tare.nodes.provider import TOOLS_DIRECTORY, WORK_DIRECTORY, NodeSpec

_OWN = frozenset({"proc", "sys", "dev", "tmp", "lost+found"})
"""The node has its own; nobody needs the last."""
_MADE_WRITABLE = ("tmp", "var/tmp")
_OPEN_TO_ALL = 0o1777
HIDDEN_FILE = "hidden-of-host"
"""In the node's folder: the host's directories that its nodes cannot be shown, if there are any."""
_PARTS_MADE_BY_TARE = (WORK_DIRECTORY, TOOLS_DIRECTORY)


def mount(spec: NodeSpec, root: Path, options: str = "") -> None:
    """Mount it at the existing folder ``root``, and note what cannot be shown in ``HIDDEN_FILE``.

    ``options``: further mount options of overlayfs. /proc, /sys, /dev and everything bound are still to be mounted.
    """
    folder = spec.directory / "layer" / "host"
    folder.mkdir()
    top = folder / "+"  # no name of a directory below: those have none of these
    top.mkdir()
    mounts.bind(top, root, writable=True)
    mounts.mount("", root, "", mounts.MS_REMOUNT | mounts.MS_BIND | layer.POWERLESS)
    for name in ("proc", "sys", "dev"):
        (root / name).mkdir()
    hidden = [str(place) for place in _shown() if not _show(spec, folder, root, place, options)]
    if hidden:
        (spec.directory / HIDDEN_FILE).write_text(" ".join(hidden))
    for name in _MADE_WRITABLE:
        _make_writable(folder, root, name)
    for made in (*_PARTS_MADE_BY_TARE, *(str(bound.path) for bound in spec.binds)):
        (root / made.lstrip("/")).mkdir(parents=True, exist_ok=True)
    mounts.bind(
        spec.image_root / TOOLS_DIRECTORY.lstrip("/"), root / TOOLS_DIRECTORY.lstrip("/"), writable=False
    )


def _shown() -> Iterator[Path]:
    """The host's top, but one level lower where Tare needs a directory that the host lacks."""
    split = {Path(made).parts[1] for made in _PARTS_MADE_BY_TARE}
    kept = {Path(made).parts[2] for made in _PARTS_MADE_BY_TARE}
    for name in sorted(os.listdir("/")):  # noqa: PTH208 - names are wanted
        place = Path("/", name)
        if name in _OWN:
            continue
        if name in split and place.is_dir() and not place.is_symlink():
            yield from (below for below in sorted(place.iterdir()) if below.name not in kept)
        else:
            yield place


def _show(spec: NodeSpec, folder: Path, root: Path, place: Path, options: str) -> bool:
    """Show what the host has at ``place``; whether that is possible."""
    target = root / str(place).lstrip("/")
    target.parent.mkdir(exist_ok=True)
    if place.is_symlink():
        target.symlink_to(place.readlink())
        return True
    if not place.is_dir():
        return True  # nobody keeps programs in files at the top
    target.mkdir()
    try:
        if _has_mounts(spec, place):
            mounts.bind(place, target, writable=False)
        else:
            _overlay(spec, folder, place, target, options)
    except (NodeError, OSError):
        return False
    return True


def _has_mounts(spec: NodeSpec, place: Path) -> bool:
    """Whether file systems are mounted below it, apart from the nodes' own."""
    return any(
        point != place and not point.is_relative_to(spec.directory.parent)
        for point in mounts.mounts_below(place)
    )


def _overlay(spec: NodeSpec, folder: Path, place: Path, target: Path, options: str) -> None:
    own = folder / str(place).strip("/").replace("/", "+")
    for part in ("upper", "work"):
        (own / part).mkdir(parents=True)
    (own / "upper").chmod(place.stat().st_mode & 0o7777)
    words = layer.overlay_words(place, own / "upper", own / "work")
    try:
        mounts.mount(spec.name, target, "overlay", layer.POWERLESS, f"{words}{options}")
    except NodeError:  # a file system that takes no overlay, or the layer lies in it
        mounts.bind(place, target, writable=False)


def _make_writable(folder: Path, root: Path, name: str) -> None:
    """Give the commands an empty directory of their own there."""
    target = root / name
    if not target.is_dir():
        if target.is_symlink() or not target.parent.is_dir():
            return
        target.mkdir()
    own = folder / name.replace("/", "+")
    own.mkdir(exist_ok=True)
    own.chmod(_OPEN_TO_ALL)
    mounts.mount(str(own), target, "", mounts.MS_BIND)
