# SPDX-License-Identifier: Apache-2.0
"""Trees of hosts with GPUs, a fabric and energy counters, as their kernels show them; written, not recorded."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

VERSION = "535.104.05"
_LIBRARIES = "usr/lib/x86_64-linux-gnu"
_NVIDIA = (
    f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {VERSION}  Sat Aug 19 01:15:15 UTC 2023\n"
    "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n"
)
OPEN_NVIDIA = (
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (user@host)\n"
)
NUMBERS = {
    "dev/nvidia0": (195, 0),
    "dev/nvidia1": (195, 1),
    "dev/nvidiactl": (195, 255),
    "dev/nvidia-uvm": (511, 0),
    "dev/dri/card0": (226, 0),
    "dev/dri/renderD128": (226, 128),
    "dev/kfd": (235, 0),
    "dev/infiniband/uverbs0": (231, 192),
    "dev/infiniband/rdma_cm": (10, 58),
}


class Nodes:
    """What stat(2) would say of the device nodes of a tree, in which plain files stand for them."""

    def __init__(self, root: Path, mode: int = 0o666, owner: tuple[int, int] = (0, 0)) -> None:
        self.root, self.mode, self.owner = root, mode, owner

    def __call__(self, path: Path) -> os.stat_result:
        seen = path.stat()
        numbers = NUMBERS.get(str(path.relative_to(self.root)))
        if numbers is None:
            return seen
        values = list(seen)[:10]
        values[0] = stat.S_IFCHR | self.mode
        values[4], values[5] = self.owner
        return os.stat_result(values, {"st_rdev": os.makedev(*numbers)})


def write(root: Path, texts: Mapping[str, str]) -> Path:
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def nvidia_host(root: Path) -> Path:
    """Two GPUs of NVIDIA's with the driver's libraries, and one that is on the board."""
    texts = {
        "proc/driver/nvidia/version": _NVIDIA,
        "proc/driver/nvidia/gpus/0000:17:00.0/information": "Model: \t\t NVIDIA A100-SXM4-80GB\nIRQ:   \t\t 271\n",
        "proc/driver/nvidia/gpus/0000:65:00.0/information": "Model: \t\t NVIDIA A100-SXM4-80GB\nIRQ:   \t\t 272\n",
        **dict.fromkeys((name for name in NUMBERS if "nvidia" in name or "dri" in name), ""),
        f"{_LIBRARIES}/libcuda.so.{VERSION}": "cuda",
        f"{_LIBRARIES}/libnvidia-ml.so.{VERSION}": "management",
        f"{_LIBRARIES}/libnvidia-ml.so.530.30.02": "of an older driver",
        f"{_LIBRARIES}/libGLX_nvidia.so.{VERSION}": "pictures",
        f"{_LIBRARIES}/libc.so.6": "no part of the driver",
    }
    write(root, texts)
    for name, target in {"libcuda.so.1": f"libcuda.so.{VERSION}", "libcuda.so": "libcuda.so.1"}.items():
        (root / _LIBRARIES / name).symlink_to(target)
    _render(root, "renderD128", "ast")
    return root


def fabric_host(root: Path) -> Path:
    """An adapter of InfiniBand with one port, and one of Ethernet with two, one of them down."""
    ports = {
        "mlx5_0/ports/1": ("InfiniBand", "100 Gb/sec (4X EDR)", "4: ACTIVE"),
        "mlx5_1/ports/1": ("Ethernet", "25 Gb/sec (1X EDR)", "4: ACTIVE"),
        "mlx5_1/ports/2": ("Ethernet", "40 Gb/sec (4X QDR)", "1: DOWN"),
    }
    for port, (layer, rate, state) in ports.items():
        folder = f"sys/class/infiniband/{port}"
        write(root, {f"{folder}/link_layer": layer, f"{folder}/rate": rate, f"{folder}/state": state})
    return write(root, dict.fromkeys((name for name in NUMBERS if "infiniband" in name), ""))


def energy_host(root: Path) -> Path:
    """Two packages with memory and cores, the platform's own counter, and a mirror of the first."""
    zones = {
        "intel-rapl:0": ("package-0", 262_143_328_850, 1_000_000),
        "intel-rapl:0:0": ("dram", 65_712_999_613, 100_000),
        "intel-rapl:0:1": ("core", 262_143_328_850, 1),
        "intel-rapl:1": ("package-1", 262_143_328_850, 2_000_000),
        "intel-rapl:2": ("psys", 262_143_328_850, 9_000_000),
        "intel-rapl-mmio:0": ("package-0", 262_143_328_850, 1_000_000),
    }
    for zone, (name, range_uj, count_uj) in zones.items():
        folder = f"sys/class/powercap/{zone}"
        write(
            root,
            {
                f"{folder}/name": f"{name}\n",
                f"{folder}/max_energy_range_uj": f"{range_uj}\n",
                f"{folder}/energy_uj": f"{count_uj}\n",
            },
        )
    return root


def _render(root: Path, device: str, driver: str) -> None:
    folder = root / "sys/class/drm" / device / "device"
    folder.mkdir(parents=True)
    (root / "sys/bus/drivers" / driver).mkdir(parents=True)
    (folder / "driver").symlink_to(root / "sys/bus/drivers" / driver)
