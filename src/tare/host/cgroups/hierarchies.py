# SPDX-License-Identifier: Apache-2.0
"""Where this host's control group controllers are mounted, in version 1 or 2 (cgroups(7))."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tare.errors import NodeError
from tare.host.mounts import mounts_text, parse_mounts

V1, V2 = 1, 2
V1_CONTROLLERS = ("cpuset", "cpu", "cpuacct", "memory", "freezer", "pids", "blkio")
V2_CONTROLLERS = ("cpuset", "cpu", "memory", "pids", "io")
IO = "io"
UNIFIED = "unified"
"""The version 2 hierarchy of a hybrid host: it limits nothing there, but systemd-nspawn makes groups in it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hierarchies:
    """The host's controllers: controller → mount point (the same one for all in version 2)."""

    version: int
    mounts: Mapping[str, Path]

    @property
    def roots(self) -> list[Path]:
        return list(dict.fromkeys(self.mounts.values()))

    def weighs_io(self) -> bool:
        """Whether version 2 has the io controller, which some kernels leave out."""
        controllers = self.mounts["cpu"] / "cgroup.controllers"
        return controllers.exists() and IO in controllers.read_text().split()

    def counts_swap(self) -> bool:
        """Whether this kernel can limit swap: before Linux 6.1 some distributions left it out (swapaccount=)."""
        root = self.mounts["memory"]
        if self.version == V1:
            return (root / "memory.memsw.limit_in_bytes").exists()
        return any(root.glob("*/memory.swap.max"))  # version 2's root has no limits


@cache
def find_hierarchies() -> Hierarchies:
    """This host's hierarchies, read once: they do not move under a running program. Raises as ``parse_hierarchies``."""
    return parse_hierarchies(mounts_text())


@cache
def group_mounts() -> tuple[Path, ...]:
    """Mount points of all control groups on this host, including those without a controller."""
    entries = parse_mounts(mounts_text())
    return tuple(entry.point for entry in entries if entry.kind in {"cgroup", "cgroup2"})


def parse_hierarchies(text: str) -> Hierarchies:
    """Parse the mounts of proc(5); ``NodeError`` when a controller that limits need is missing."""
    version_1: dict[str, Path] = {}
    version_2: Path | None = None
    for entry in parse_mounts(text):
        if entry.kind == "cgroup":
            names = [name for name in entry.options if name in V1_CONTROLLERS]
            version_1.update({name: version_1.get(name, entry.point) for name in names})
        elif entry.kind == "cgroup2":
            version_2 = version_2 or entry.point
    if "cpu" in version_1:
        beside = {} if version_2 is None else {UNIFIED: version_2}
        hierarchies = Hierarchies(version=V1, mounts={**version_1, **beside})
        return _checked(hierarchies, ("cpuset", "cpu", "cpuacct", "memory"))
    if version_2 is None:
        raise NodeError("no control groups are mounted; mount cgroup2 on /sys/fs/cgroup")
    return Hierarchies(version=V2, mounts=dict.fromkeys(V2_CONTROLLERS, version_2))


def _checked(host: Hierarchies, needed: tuple[str, ...]) -> Hierarchies:
    if missing := [name for name in needed if name not in host.mounts]:
        raise NodeError(
            f"the control group controllers {', '.join(missing)} are not mounted; mount them and try again"
        )
    return host
