# SPDX-License-Identifier: Apache-2.0
"""Where this host's control group controllers are mounted, in version 1 or 2 (cgroups(7))."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tare.errors import NodeError

V1, V2 = 1, 2
V1_CONTROLLERS = ("cpuset", "cpu", "cpuacct", "memory", "freezer", "pids")
V2_CONTROLLERS = ("cpuset", "cpu", "memory", "pids")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hierarchies:
    """Where this host's controllers are: controller → mount point (the same one for all in version 2)."""

    version: int
    mounts: Mapping[str, Path]

    @property
    def roots(self) -> list[Path]:
        return list(dict.fromkeys(self.mounts.values()))


def find_hierarchies(mounts_text: str | None = None) -> Hierarchies:
    """Read proc(5) mounts; ``NodeError`` when a controller that limits need is missing."""
    text = mounts_text if mounts_text is not None else Path("/proc/self/mounts").read_text()
    version_1: dict[str, Path] = {}
    version_2: Path | None = None
    for line in text.splitlines():
        _, point, kind, options, *_ = line.split(" ")
        if kind == "cgroup":
            names = [name for name in options.split(",") if name in V1_CONTROLLERS]
            version_1.update({name: version_1.get(name, Path(point)) for name in names})
        elif kind == "cgroup2":
            version_2 = version_2 or Path(point)
    if "cpu" in version_1:
        return _checked(Hierarchies(version=V1, mounts=version_1), ("cpuset", "cpu", "cpuacct", "memory"))
    if version_2 is None:
        raise NodeError("no control groups are mounted; mount cgroup2 on /sys/fs/cgroup")
    return Hierarchies(version=V2, mounts=dict.fromkeys(V2_CONTROLLERS, version_2))


def _checked(found: Hierarchies, needed: tuple[str, ...]) -> Hierarchies:
    if missing := [name for name in needed if name not in found.mounts]:
        raise NodeError(
            f"the control group controllers {', '.join(missing)} are not mounted; mount them and try again"
        )
    return found
