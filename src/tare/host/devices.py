# SPDX-License-Identifier: Apache-2.0
"""Devices of this host that a command may be given: GPUs, fabrics, and any other character device by its path.

Read below a root folder with /dev, /proc, /sys and /usr, without starting a process. Sources: the kernel's
Documentation/ABI (class/infiniband, class/drm) and admin-guide/devices.txt; what NVIDIA's driver shows below
/proc/driver/nvidia.
"""

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/")
NVIDIA = "nvidia"
LABEL = "devices"
"""Of what a node has of the host's, among what must be equal in all arms."""
KINDS: Mapping[str, tuple[str, ...]] = {
    NVIDIA: ("nvidia[0-9]*", "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset"),
    "amd": ("kfd", "dri/renderD*"),
    "dri": ("dri/renderD*", "dri/card*"),
    "infiniband": ("infiniband/*",),
}
"""Kind → patterns of its device nodes below /dev. The first must be there."""
_ABSENT = {
    NVIDIA: "no GPU of NVIDIA's (/dev/nvidia0); with its driver loaded, nvidia-modprobe -u -c 0 makes the nodes",
    "amd": "no GPU of AMD's for computing (/dev/kfd)",
    "dri": "no graphics device (/dev/dri)",
    "infiniband": "no fabric (/dev/infiniband)",
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

_DRIVER = "proc/driver/nvidia"
_VERSION = re.compile(r"^NVRM version:.*?\s(\d+(?:\.\d+)+)(?:\s|$)", re.MULTILINE)
_LIBRARY_FOLDERS = {
    "x86_64": ("usr/lib/x86_64-linux-gnu", "usr/lib64", "usr/local/nvidia/lib64", "usr/lib/wsl/lib"),
    "aarch64": ("usr/lib/aarch64-linux-gnu", "usr/lib64", "usr/local/nvidia/lib64"),
}
_LIBRARIES = (
    *("cuda", "cudadebugger", "nvidia-ml", "nvidia-cfg", "nvidia-nscq", "nvidia-opencl", "nvidia-compiler"),
    *("nvidia-gpucomp", "nvidia-ptxjitcompiler", "nvidia-fatbinaryloader", "nvidia-allocator", "nvidia-nvvm"),
    *("nvidia-pkcs11", "nvidia-pkcs11-openssl3", "nvidia-tileiras"),
)
"""The user half of the driver, as far as it is for computing: it must be of the kernel module's version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A character device, which nodes get at the same path."""

    path: Path
    major: int
    minor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """What NVIDIA's driver needs beside its device nodes."""

    version: str
    files: Mapping[str, Path]
    """Name, with the names that programs ask for → the file on this host."""


Status = Callable[[Path], os.stat_result]


def check_asked(asked: str) -> str:
    """A kind, or the path of a device; the ``ValueError`` says what is wrong with it."""
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
    if check_asked(asked) not in KINDS:
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


def nvidia_driver(root: Path = ROOT, machine: str = os.uname().machine) -> Driver:
    """The loaded driver and its libraries; ``ValueError`` if either is missing or they are of different versions."""
    version = _driver_version(root)
    if version is None:
        raise ValueError("NVIDIA's driver is not loaded (/proc/driver/nvidia/version)")
    for folder in _LIBRARY_FOLDERS.get(machine, ()):
        if (root / folder / f"libcuda.so.{version}").is_file():
            return Driver(version=version, files=dict(_library_files(root / folder, version)))
    raise ValueError(
        f"libcuda.so.{version}, the user half of NVIDIA's loaded driver, is in no library folder"
    )


def _library_files(folder: Path, version: str) -> Iterator[tuple[str, Path]]:
    """Each library with all names of it in its folder, such as libcuda.so.1."""
    names = {f"lib{name}.so.{version}" for name in _LIBRARIES}
    for path in sorted(folder.glob("lib*.so*")):
        if path.name in names or (path.is_symlink() and path.resolve().name in names):
            yield path.name, path.resolve()


def _driver_version(root: Path) -> str | None:
    try:
        match = _VERSION.search((root / _DRIVER / "version").read_text(errors="replace"))
    except OSError:
        return None
    return match[1] if match else None


def gpus(root: Path = ROOT) -> str:
    """The GPUs in words: those of NVIDIA's driver by their models, others by their kernel driver; "none"."""
    said = _counted(_nvidia_models(root))
    if said and (version := _driver_version(root)):
        said = f"{said} (driver {version})"
    others = _counted([name for name in _graphics(root) if name != NVIDIA or not said])
    return "; ".join(filter(None, (said, others))) or "none"


def _counted(names: list[str]) -> str:
    counts = {name: names.count(name) for name in names}
    return ", ".join(name if count == 1 else f"{count}x {name}" for name, count in counts.items())


def _nvidia_models(root: Path) -> list[str]:
    models = []
    for path in sorted((root / _DRIVER / "gpus").glob("*/information")):
        lines = path.read_text(errors="replace").splitlines()
        models += [line.partition(":")[2].strip() for line in lines if line.startswith("Model:")]
    return models


def _graphics(root: Path) -> list[str]:
    """The kernel driver of each device that computes or renders; outputs of it are not counted."""
    devices = sorted((root / "sys/class/drm").glob("renderD*"))
    return [(device / "device/driver").resolve().name for device in devices]


def fabrics(root: Path = ROOT) -> str:
    """The fabric's ports in words, such as "mlx5_0 InfiniBand 100 Gb/sec (4X EDR), active"; "none"."""
    ports = sorted((root / "sys/class/infiniband").glob("*/ports/*"))
    return "; ".join(map(_port, ports)) or "none"


def _port(port: Path) -> str:
    device, number = port.parent.parent, port.name
    several = len(list(port.parent.iterdir())) > 1
    name = f"{device.name} port {number}" if several else device.name
    state = _read(port / "state").partition(":")[2].strip().lower() or "state unknown"
    return f"{' '.join(filter(None, (name, _read(port / 'link_layer'), _read(port / 'rate'))))}, {state}"


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""
