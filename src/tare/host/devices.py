# SPDX-License-Identifier: Apache-2.0
"""A node's own /dev: the host's is never shared (a node that replaces /dev/null must harm nobody else)."""

import os
import stat
from pathlib import Path

from tare.host.mounts import MS_NOEXEC, MS_NOSUID, mount

_NODES = {"null": (1, 3), "zero": (1, 5), "full": (1, 7), "random": (1, 8), "urandom": (1, 9), "tty": (5, 0)}
_LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2", "ptmx": "pts/ptmx"}


def populate(dev: Path, shm_byte: int) -> None:
    """Mount a minimal /dev with its own pts and its own shm of the given size."""
    mount("tare", dev, "tmpfs", MS_NOSUID | MS_NOEXEC, "size=64k,mode=755")
    before = os.umask(0)
    try:
        for name, (major, minor) in _NODES.items():
            os.mknod(f"{dev}/{name}", stat.S_IFCHR | 0o666, os.makedev(major, minor))
    finally:
        os.umask(before)
    for name, target in _LINKS.items():
        os.symlink(target, f"{dev}/{name}")  # noqa: PTH211 - for every node, as everything here
    for name in ("pts", "shm"):
        os.mkdir(f"{dev}/{name}")  # noqa: PTH102
    mount("tare", dev / "pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620")
    mount("tare", dev / "shm", "tmpfs", MS_NOSUID, f"size={shm_byte},mode=1777")
