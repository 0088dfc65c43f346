# SPDX-License-Identifier: Apache-2.0
"""Output of the guest's kernel: kept to 1 MiB, and read when a guest does not start or ends by itself."""

from tare.host import mounts
from tare.nodes.provider import NodeSpec

LOG = "console/log"
"""Within the node's folder, where QEMU is started."""

_SIZE = "size=1m,mode=700"
"""A guest can print forever; output beyond this is dropped."""
_END_CHARACTERS = 2000
_TELLING = ("Kernel panic - ", "tare: the guest ends: ")
"""Beginnings of lines that give the reason, after the kernel's time."""


def make(spec: NodeSpec) -> None:
    """Make it on a small file system of its own, as QEMU would write until the disk is full."""
    folder = (spec.directory / LOG).parent
    folder.mkdir()
    mounts.mount("tare", folder, "tmpfs", mounts.MS_NOSUID, _SIZE)


def read(spec: NodeSpec) -> str:
    """The whole output so far; empty without any."""
    try:
        said = (spec.directory / LOG).read_bytes()
    except OSError:
        return ""
    return said.decode(errors="replace").replace("\r", "").strip()


def end_of(said: str) -> str:
    return said[-_END_CHARACTERS:]


def reason(said: str) -> str:
    """The first line with the reason why the guest ended, else the last line."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    for line in lines:
        for begin in _TELLING:
            if begin in line:
                return begin + line.partition(begin)[2]
    return lines[-1] if lines else "nothing"
