# SPDX-License-Identifier: Apache-2.0
"""The mounts that Tare makes in a node's root, for technologies that accept a plain directory."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from tare.errors import NodeError
from tare.host import mounts, network_namespace
from tare.nodes import layer
from tare.nodes.devices import Device
from tare.nodes.provider import WORK_DIRECTORY, NodeSpec

_NODES = {"null": (1, 3), "zero": (1, 5), "full": (1, 7), "random": (1, 8), "urandom": (1, 9), "tty": (5, 0)}
_LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2", "ptmx": "pts/ptmx"}


def mount_system(spec: NodeSpec, root: Path) -> None:
    """Mount /proc, /sys, and a separate /dev with its own /dev/shm."""
    mounts.mount("proc", root / "proc", "proc", mounts.MS_NOSUID | mounts.MS_NODEV | mounts.MS_NOEXEC)
    _mount_sysfs(spec, root / "sys")
    populate_dev(root / "dev", spec.shm_byte, spec.devices)


def mount_shared(spec: NodeSpec, root: Path) -> None:
    """Mount the work directory, and the user's directories from where they are guarded."""
    mounts.bind(spec.work, root / WORK_DIRECTORY.lstrip("/"), writable=True)
    for source, bound in layer.bound_sources(spec):
        mounts.bind(source, root / str(bound.path).lstrip("/"), writable=bound.writable)


def _mount_sysfs(spec: NodeSpec, target: Path) -> None:
    """Mount from within the node's network: sysfs shows the links of the mounting process (network_namespaces(7))."""

    def mount() -> None:
        mounts.mount("sysfs", target, "sysfs", mounts.MS_RDONLY | mounts.MS_NOSUID | mounts.MS_NODEV)

    if spec.network.namespace is None:
        mount()
    else:
        network_namespace.inside(spec.network.namespace, mount)


def populate_dev(dev: Path, shm_byte: int, devices: Sequence[Device] = ()) -> None:
    """Mount a minimal /dev with its own pts and its own shm of the given size, and nodes of these devices.

    The host's is never shared: a node that replaces /dev/null must harm nobody else.
    """
    mounts.mount("tare", dev, "tmpfs", mounts.MS_NOSUID | mounts.MS_NOEXEC, "size=64k,mode=755")
    before = os.umask(0)
    try:
        for name, (major, minor) in _NODES.items():
            os.mknod(f"{dev}/{name}", stat.S_IFCHR | 0o666, os.makedev(major, minor))
    finally:
        os.umask(before)
    for device in devices:
        _make_node(dev / device.path.relative_to("/dev"), device)
    for name, target in _LINKS.items():
        os.symlink(target, f"{dev}/{name}")  # noqa: PTH211 - for every node, as everything here
    for name in ("pts", "shm"):
        os.mkdir(f"{dev}/{name}")  # noqa: PTH102
    mounts.mount(
        "tare",
        dev / "pts",
        "devpts",
        mounts.MS_NOSUID | mounts.MS_NOEXEC,
        "newinstance,ptmxmode=0666,mode=620",
    )
    mounts.mount("tare", dev / "shm", "tmpfs", mounts.MS_NOSUID, f"size={shm_byte},mode=1777")


def open_folders(path: Path, device: Device) -> None:
    """Make the folders between /dev and the device's node, so that every user may enter them."""
    for folder in reversed(path.parents[: len(device.path.parents) - 2]):
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)


def _make_node(path: Path, device: Device) -> None:
    """Make a node of the device with the owner and mode of the host's; ``NodeError`` if the host's is gone."""
    try:
        seen = device.path.stat()
        open_folders(path, device)
        os.mknod(path, stat.S_IFCHR, os.makedev(device.major, device.minor))
        os.chown(path, seen.st_uid, seen.st_gid)
        path.chmod(stat.S_IMODE(seen.st_mode))
    except OSError as error:
        raise NodeError(f"the node cannot have {device.path}: {error.strerror}") from error
