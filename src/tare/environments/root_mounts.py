# SPDX-License-Identifier: Apache-2.0
"""What is mounted in a node's root by Tare, where the technology is content with a directory."""

from pathlib import Path

from tare.environments import layer
from tare.environments.provider import WORK_DIRECTORY, NodeSpec
from tare.host import devices, mounts


def mount_system(spec: NodeSpec, root: Path) -> None:
    """/proc, /sys, and a /dev of its own with its own /dev/shm."""
    mounts.mount("proc", root / "proc", "proc", mounts.MS_NOSUID | mounts.MS_NODEV | mounts.MS_NOEXEC)
    mounts.mount("sysfs", root / "sys", "sysfs", mounts.MS_RDONLY | mounts.MS_NOSUID | mounts.MS_NODEV)
    devices.populate(root / "dev", spec.shm_byte)


def mount_shared(spec: NodeSpec, root: Path) -> None:
    """The work directory, and the user's directories from where they are guarded."""
    mounts.bind(spec.work, root / WORK_DIRECTORY.lstrip("/"), writable=True)
    for source, bound in layer.bound_sources(spec):
        mounts.bind(source, root / str(bound.path).lstrip("/"), writable=bound.writable)
