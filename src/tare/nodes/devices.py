# SPDX-License-Identifier: Apache-2.0
"""Devices of the host that a campaign gives its nodes: those of a kind, or any other character device by its path.

Source of the numbers and names: the kernel's admin-guide/devices.txt.
"""

import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tare.host.devices import FABRIC, NVIDIA, ROOT

LABEL = "devices"
"""Of what a node has of the host's, among what must be equal in all arms."""
KINDS: Mapping[str, tuple[str, ...]] = {
    NVIDIA: ("nvidia[0-9]*", "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset"),
    "amd": ("kfd", "dri/renderD*"),
    "dri": ("dri/renderD*", "dri/card*"),
    FABRIC: ("infiniband/*",),
}
"""Kind → patterns of its device nodes below /dev. The first must be there."""
_FOLDERS = {"/dev/dri": "dri", "/dev/infiniband": FABRIC}
"""A folder below /dev that stands for its kind, as users of clusters write it."""
_ABSENT = {
    NVIDIA: "no GPU of NVIDIA's (/dev/nvidia0); with its driver loaded, nvidia-modprobe -u -c 0 makes the nodes",
    "amd": "no GPU of AMD's for computing (/dev/kfd)",
    "dri": "no graphics device (/dev/dri)",
    FABRIC: "no fabric (/dev/infiniband)",
}
_REFUSED = frozenset(
    (
        *("console", "core", "fd", "full", "kmem", "kmsg", "mem", "mqueue", "null", "port", "ptmx", "pts"),
        *("random", "shm", "stderr", "stdin", "stdout", "tty", "urandom", "zero"),
    )
)
"""Below /dev: what every node has of its own, and the host's memory and console."""
_PLAIN_PATH = re.compile(r"/dev(/[A-Za-z0-9][A-Za-z0-9._-]*)+")
"""Without what some technology would take apart: colons, commas, blanks."""
_LAST_MAJOR, _LAST_MINOR = (1 << 12) - 1, (1 << 20) - 1
"""The kernel's MINORBITS (include/linux/kdev_t.h); a major number has the other 12 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A character device, which nodes get at the same path."""

    path: Path
    major: int
    minor: int


Status = Callable[[Path], os.stat_result]


def check_asked(asked: str) -> str:
    """A kind, which its folder also stands for, or the path of a device; the ``ValueError`` says what is wrong."""
    asked = _FOLDERS.get(asked.rstrip("/"), asked)
    if asked in KINDS:
        return asked
    if not asked.startswith("/"):
        raise ValueError(f"{asked!r} is none of {', '.join(KINDS)}, and no path such as /dev/fuse")
    if not _PLAIN_PATH.fullmatch(asked):
        raise ValueError(f"{asked!r} is no plain path below /dev, such as /dev/fuse")
    if asked.split("/")[2] in _REFUSED:
        raise ValueError(f"{asked!r} is a device that every node has of its own, or that no command may have")
    return asked


def find_devices(asked: str, root: Path = ROOT, status: Status = Path.stat) -> tuple[Device, ...]:
    """The devices of a kind, or the one with this path, by their paths.

    ``ValueError`` if there are none here, and as ``check_asked``.
    """
    asked = check_asked(asked)
    if asked not in KINDS:
        return (_device(root / asked.lstrip("/"), root, status),)
    patterns = KINDS[asked]
    paths = {path for pattern in patterns for path in (root / "dev").glob(pattern)}
    if not any((root / "dev").glob(patterns[0])):
        raise ValueError(f"this host has {_ABSENT[asked]}")
    wanted = [path for path in sorted(paths) if stat.S_ISCHR(status(path).st_mode)]
    if not wanted:
        raise ValueError(f"this host has {_ABSENT[asked]}")
    return tuple(_device(path, root, status) for path in wanted)


def _device(path: Path, root: Path, status: Status) -> Device:
    shown = Path("/") / path.relative_to(root)
    try:
        seen = status(path)
    except OSError as error:
        raise ValueError(f"{shown} cannot be looked at: {error.strerror}") from error
    if not stat.S_ISCHR(seen.st_mode):
        raise ValueError(f"{shown} is no character device")
    return Device(path=shown, major=os.major(seen.st_rdev), minor=os.minor(seen.st_rdev))


def is_possible(device: Device) -> bool:
    """Whether it is one that a node could get; its record, or another host, says so."""
    try:
        asked = check_asked(str(device.path))
    except ValueError:
        return False
    return asked not in KINDS and 0 <= device.major <= _LAST_MAJOR and 0 <= device.minor <= _LAST_MINOR


def are_fabric(devices: Iterable[Device]) -> bool:
    """Whether verbs of InfiniBand or RoCE are among them, by which MPI can send, and which lock memory."""
    return asks_fabric(str(device.path) for device in devices)


def asks_fabric(asked: Iterable[str]) -> bool:
    """The same of what a campaign asks for."""
    return any(each == FABRIC or each.startswith("/dev/infiniband/") for each in asked)


def said(devices: Iterable[Device]) -> str:
    """The devices in words, such as "/dev/fuse 10:229"."""
    return ", ".join(f"{device.path} {device.major}:{device.minor}" for device in devices)


def seen_below(devices: Iterable[Device], root: Path) -> str | None:
    """What a node with this root has at their paths, as ``said``; ``None`` where that cannot be seen from outside."""
    words = []
    for device in devices:
        try:
            seen = (root / str(device.path).lstrip("/")).lstat()
        except FileNotFoundError:
            words.append(f"{device.path} missing")
        except OSError:
            return None
        else:
            numbers = f"{os.major(seen.st_rdev)}:{os.minor(seen.st_rdev)}"
            words.append(f"{device.path} {numbers if stat.S_ISCHR(seen.st_mode) else 'no device'}")
    return ", ".join(words)


def devices_shown(devices: Iterable[Device], init_pid: int | None) -> dict[str, str]:
    """What the node with this first process has at their paths; empty if none are asked, or it cannot be seen."""
    own = tuple(devices)
    if not own or init_pid is None:
        return {}
    seen = seen_below(own, Path(f"/proc/{init_pid}/root"))
    return {} if seen is None else {LABEL: seen}


def closed_to(device: Device, uid: int, gid: int, status: Status = Path.stat) -> str | None:
    """Why this user, without further groups, may not read and write it, with the way out; ``None``: it may."""
    seen = status(device.path)
    bits = stat.S_IMODE(seen.st_mode)
    own = bits >> 6 if uid == seen.st_uid else bits >> 3 if gid == seen.st_gid else bits
    if uid == 0 or own & 0o6 == 0o6:  # noqa: PLR2004 - read and write
        return None
    way = "--as root" if bits & 0o60 != 0o60 else f"--as {uid}:{seen.st_gid}"  # noqa: PLR2004 - the same
    return (
        f"{device.path} is {stat.filemode(seen.st_mode)} of user {seen.st_uid}, group {seen.st_gid}, and the commands "
        f"run as {uid}:{gid}: chmod it, or say {way}"
    )
