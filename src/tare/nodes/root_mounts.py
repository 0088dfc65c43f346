# SPDX-License-Identifier: Apache-2.0
"""The mounts that Tare makes in a node's root, for technologies that accept a plain directory."""

from pathlib import Path

from tare.host import devices, mounts, network_namespace
from tare.nodes import layer
from tare.nodes.provider import WORK_DIRECTORY, NodeSpec


def mount_system(spec: NodeSpec, root: Path) -> None:
    """Mount /proc, /sys, and a separate /dev with its own /dev/shm."""
    mounts.mount("proc", root / "proc", "proc", mounts.MS_NOSUID | mounts.MS_NODEV | mounts.MS_NOEXEC)
    _mount_sysfs(spec, root / "sys")
    devices.populate(root / "dev", spec.shm_byte)


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
