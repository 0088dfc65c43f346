# SPDX-License-Identifier: Apache-2.0
"""The throw-away layer of a node: the read-only image below, and above it what the node writes, gone with the node.

``directory/layer`` holds the overlay's upper and work folders, the node's work directory, and the user's bound
directories; ``directory/root`` is the overlay. The layer is a tmpfs, whose pages count against the node's memory limit
when the node first touches them, or a plain folder on the disk (``NodeSpec.storage``).

A node that works for another user of the host could leave that user a set-user-id program owned by root, or a device
node. Neither works through the layer or the overlay, and only the layer's owner can enter its folder.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path

from tare.host import mounts
from tare.host.removal import remove_what_goes
from tare.nodes.provider import WORK_DIRECTORY, Bind, NodeSpec
from tare.records import Storage

POWERLESS = mounts.MS_NOSUID | mounts.MS_NODEV
_OVERLAY_SPECIAL = ",:\\"


def prepare(spec: NodeSpec) -> None:
    """Mount the layer and, in it, the bound directories; the work directory exists afterwards."""
    layer = spec.directory / "layer"
    layer.mkdir(parents=True, exist_ok=True)
    if spec.storage is Storage.TMPFS:
        mounts.mount("tare", layer, "tmpfs", POWERLESS, f"size={spec.memory_byte},mode=700")
    else:
        layer.chmod(0o700)
    spec.work.mkdir(exist_ok=True)
    for source, bound in bound_sources(spec):
        source.mkdir(parents=True)
        mounts.bind(bound.path, source, writable=bound.writable)


def bound_sources(spec: NodeSpec) -> list[tuple[Path, Bind]]:
    """Where the node takes each bound directory from: Docker and LXC would leave mounts below it unguarded."""
    return [
        (spec.directory / "layer" / "bound" / str(number), bind) for number, bind in enumerate(spec.binds)
    ]


def own_home(spec: NodeSpec) -> Path | None:
    """What a node has as /root where this user may not read the image's; ``None`` where the image's is shown."""
    return (
        None if os.access(spec.image_root / "root", os.R_OK | os.X_OK) else spec.directory / "layer" / "home"
    )


def mount_root(spec: NodeSpec) -> Path:
    """Mount the image under the layer, writable; return the mount point."""
    layer, root = spec.directory / "layer", spec.directory / "root"
    for folder in (root, layer / "upper", layer / "overlay-work"):
        folder.mkdir()
    for point in [WORK_DIRECTORY, *(str(bound.path) for bound in spec.binds)]:
        make_point(spec.image_root, layer / "upper", Path(point.lstrip("/")))
    mounts.mount("tare", root, "overlay", POWERLESS, overlay_options(spec))
    return root


def overlay_options(spec: NodeSpec) -> str:
    """The overlayfs mount options: image below, layer above."""
    layer = spec.directory / "layer"
    return overlay_words(spec.image_root, layer / "upper", layer / "overlay-work")


def overlay_words(lower: Path, upper: Path, work: Path) -> str:
    """The overlayfs mount options for these three directories."""
    return f"lowerdir={_escaped(lower)},upperdir={_escaped(upper)},workdir={_escaped(work)}"


def remove(spec: NodeSpec) -> None:
    """Unmount everything of the node and remove its folder, as far as they exist.

    A mount that stays is not entered; removing the node's own folder then reports it (``host.removal``).
    """
    mounts.unmount_below(spec.directory)
    for folder in ("root", "layer"):
        remove_what_goes(spec.directory / folder)


def make_point(image_root: Path, upper: Path, point: Path) -> None:
    """Make a mount point above the image; a directory that the image has too keeps its mode, such as /tmp's."""
    for folder in (*reversed(point.parents), point):
        above = upper / folder
        above.mkdir(exist_ok=True)
        if (mode := _folder_mode(image_root / folder)) is not None:
            above.chmod(mode)


def _folder_mode(path: Path) -> int | None:
    """The folder's permission bits; ``None`` for anything else, including a link to a folder."""
    with suppress(OSError):
        status = path.lstat()
        return stat.S_IMODE(status.st_mode) if stat.S_ISDIR(status.st_mode) else None
    return None


def _escaped(path: Path) -> str:
    return "".join(f"\\{letter}" if letter in _OVERLAY_SPECIAL else letter for letter in str(path))
