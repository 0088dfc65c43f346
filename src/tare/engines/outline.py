# SPDX-License-Identifier: Apache-2.0
"""The outline of an image: only its top level, with links as they are and everything else empty.

Docker accepts no root directory. An image of just the outline is imported in no time, and with the node's own root
mounted over it, one top-level entry at a time, the node reads and writes the same layer as in every other environment.
Only files made directly in "/" go to Docker's own storage.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from tare.engines import engine, engine_images
from tare.host.scratch import scratch_folder
from tare.nodes.provider import NodeSpec

_DOCKERS = ("dev", "proc", "sys")
"""What Docker mounts itself."""


def reference(root: Path) -> str:
    """The engine's name for the outline of this image: equal for images with the same top level."""
    text = json.dumps([_mode(root), [(path.name, *_described(path)) for path in _top(root)]])
    return f"tare-outline:{hashlib.sha256(text.encode()).hexdigest()[:24]}"


def ensure(tool: Sequence[str], root: Path) -> None:
    """Import the outline if it is missing; ``NodeError`` gives the reason for a failure."""
    with scratch_folder("outline") as folder:
        _draw(root, folder)
        engine_images.ensure(tool, folder, reference(root))


def mounts(spec: NodeSpec, root: Path) -> list[str]:
    """The mounts that lay ``root`` over its outline; where the user bound a directory, that is mounted instead."""
    taken = {f"/{name}" for name in _DOCKERS} | {str(bind.path) for bind in spec.binds}
    words: list[str] = []
    for path in _top(root):
        if not path.is_symlink() and f"/{path.name}" not in taken:
            words += engine.mount(path, f"/{path.name}", writable=True)
    return words


def _top(root: Path) -> list[Path]:
    return sorted(root.iterdir())


def _described(path: Path) -> tuple[str, str]:
    """The kind of entry, and the target of a link."""
    if path.is_symlink():
        return "link", str(path.readlink())
    return ("directory" if path.is_dir() else "file"), ""


def _mode(root: Path) -> int:
    return root.stat().st_mode & 0o7777


def _draw(root: Path, folder: Path) -> None:
    for path in _top(root):
        kind, target = _described(path)
        if kind == "link":
            (folder / path.name).symlink_to(target)
        elif kind == "directory":
            (folder / path.name).mkdir()
        else:
            (folder / path.name).touch()
    folder.chmod(_mode(root))
