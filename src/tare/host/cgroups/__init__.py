# SPDX-License-Identifier: Apache-2.0
"""Control groups, version 1 and 2, behind one small face.

Tare's own groups are ``tare/NODE`` in every hierarchy that matters; groups that Docker or LXC made are read
through the same face. On a hybrid host the version that holds the cpu controller is the one used.
Sources: cgroups(7); the kernel's admin-guide pages for cgroup-v1 and cgroup-v2.
"""

from pathlib import Path

from tare.errors import NodeError
from tare.host.cgroups.group import Group, Settings
from tare.host.cgroups.hierarchies import V1, V2, V2_CONTROLLERS, Hierarchies, find_hierarchies
from tare.host.cgroups.processors import format_processors, parse_processors

__all__ = [
    "PARENT",
    "Group",
    "Hierarchies",
    "Settings",
    "create_own_group",
    "find_hierarchies",
    "format_processors",
    "group_of",
    "named_groups",
    "own_group",
    "parse_processors",
    "remove_parent_if_empty",
]

PARENT = "tare"


def own_group(name: str) -> Group:
    """Tare's group for a node of this name, made or not."""
    found = find_hierarchies()
    return Group(found.version, {key: point / PARENT / name for key, point in found.mounts.items()})


def create_own_group(name: str) -> Group:
    found = find_hierarchies()
    _create_parent(found)
    group = own_group(name)
    for directory in group.directories:
        directory.mkdir(exist_ok=True)
    return group


def named_groups(name: str) -> Group:
    """Groups of this name at the top of every hierarchy, named ones and version 2's too, as LXC makes them."""
    lines = [line.split(" ") for line in Path("/proc/self/mounts").read_text().splitlines()]
    points = [Path(point) for _, point, kind, *_ in lines if kind in {"cgroup", "cgroup2"}]
    return Group(find_hierarchies().version, {str(point): point / name for point in points})


def group_of(pid: int) -> Group:
    """The group that a running process is in; ``NodeError`` if the process is gone."""
    found = find_hierarchies()
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    except OSError as error:
        raise NodeError(f"process {pid} of the node has ended") from error
    paths: dict[str, str] = {}
    for line in lines:
        _, names, path = line.split(":", 2)
        paths.update(dict.fromkeys(names.split(","), path))
    names_of = {key: "" if found.version == V2 else key for key in found.mounts}
    own = {
        key: point / paths[names_of[key]].lstrip("/")
        for key, point in found.mounts.items()
        if names_of[key] in paths
    }
    return Group(found.version, own)


def remove_parent_if_empty() -> None:
    for root in find_hierarchies().roots:
        try:
            (root / PARENT).rmdir()
        except OSError:
            continue


def _create_parent(found: Hierarchies) -> None:
    for root in found.roots:
        (root / PARENT).mkdir(exist_ok=True)
    if found.version == V1:
        parent = found.mounts["cpuset"] / PARENT
        for name in ("cpuset.mems", "cpuset.cpus"):
            if not (parent / name).read_text().strip():
                (parent / name).write_text((parent.parent / name).read_text())
        return
    wanted = " ".join(f"+{name}" for name in V2_CONTROLLERS)
    for directory in (found.roots[0], found.roots[0] / PARENT):
        try:
            (directory / "cgroup.subtree_control").write_text(wanted)
        except OSError as error:
            raise NodeError(
                f"cannot hand the controllers {', '.join(V2_CONTROLLERS)} to {directory}: {error.strerror}; "
                "run as root outside a container, or with a delegated control group"
            ) from error
