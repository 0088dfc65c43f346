# SPDX-License-Identifier: Apache-2.0
"""GPUs and fabrics of this host, and the libraries of NVIDIA's driver.

Read below a root folder with /proc, /sys and /usr, without starting a process. Sources: the kernel's
Documentation/ABI (class/infiniband, class/drm); what NVIDIA's driver shows below /proc/driver/nvidia.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/")
NVIDIA, FABRIC = "nvidia", "infiniband"
_DRIVER = "proc/driver/nvidia"
_VERSION = re.compile(r"^NVRM version:.*?\s(\d+(?:\.\d+)+)(?:\s|$)", re.MULTILINE)
_MISCELLANEOUS = "misc"
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
class Driver:
    """What NVIDIA's driver needs beside its device nodes."""

    version: str
    files: Mapping[str, Path]
    """Name, with the names that programs ask for → the file on this host."""


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


def driver_of(major: int, minor: int, root: Path = ROOT) -> str | None:
    """The driver that a character device's numbers mean on this host; ``None``: it is not known.

    Many numbers are handed out as drivers are loaded, so on another host they may mean another driver (proc(5):
    /proc/devices, and /proc/misc for the drivers that share a major number).
    """
    characters = _read(root / "proc/devices").partition("Block devices:")[0]
    driver = _numbered(characters, major)
    return (_numbered(_read(root / "proc/misc"), minor) or driver) if driver == _MISCELLANEOUS else driver


def _numbered(table: str, number: int) -> str | None:
    """The name behind this number; its first one where it has several."""
    for line in table.splitlines():
        with suppress(ValueError):
            first, name = line.split()
            if int(first) == number:
                return name
    return None


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""
