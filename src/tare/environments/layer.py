# SPDX-License-Identifier: Apache-2.0
"""The throw-away layer of a node: the read-only image below, a memory file system above, both gone with the node.

``directory/layer`` is a tmpfs with the overlay's upper and work folders and the node's own work directory;
``directory/root`` is the overlay. The pages count against the node's memory limit, as they are first touched by it.
"""

from pathlib import Path

from tare.environments.provider import WORK_DIRECTORY, NodeSpec
from tare.host import mounts

_OVERLAY_SPECIAL = ",:\\"


def prepare(spec: NodeSpec) -> None:
    """Mount the layer; the work directory exists afterwards."""
    layer = spec.directory / "layer"
    layer.mkdir(parents=True, exist_ok=True)
    mounts.mount("tare", layer, "tmpfs", mounts.MS_NOSUID, f"size={spec.memory_byte},mode=755")
    spec.work.mkdir()


def mount_root(spec: NodeSpec) -> Path:
    """The image under the layer, writable; returns where."""
    layer, root = spec.directory / "layer", spec.directory / "root"
    for folder in (root, layer / "upper", layer / "overlay-work"):
        folder.mkdir()
    for point in [WORK_DIRECTORY, *(str(bound.path) for bound in spec.binds)]:
        (layer / "upper" / point.lstrip("/")).mkdir(parents=True, exist_ok=True)
    options = f"lowerdir={_escaped(spec.image_root)},upperdir={_escaped(layer / 'upper')}"
    mounts.mount("tare", root, "overlay", 0, f"{options},workdir={_escaped(layer / 'overlay-work')}")
    return root


def remove(spec: NodeSpec) -> None:
    """Unmount all of the node and remove its folder, as far as they are there."""
    mounts.unmount_below(spec.directory)
    for folder in ("root", "layer"):
        if (spec.directory / folder).exists():
            (spec.directory / folder).rmdir()


def _escaped(path: Path) -> str:
    return "".join(f"\\{letter}" if letter in _OVERLAY_SPECIAL else letter for letter in str(path))
