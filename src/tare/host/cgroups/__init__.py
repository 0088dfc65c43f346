# SPDX-License-Identifier: Apache-2.0
"""Control groups, version 1 and 2, behind one small face.

Tare's own groups are ``tare/NODE`` in every hierarchy that matters; groups that Docker or LXC made are read
through the same face. On a hybrid host the version that holds the cpu controller is the one used.
Sources: cgroups(7); the kernel's admin-guide pages for cgroup-v1 and cgroup-v2.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tare.errors import NodeError
from tare.host.cgroups.group import Group, Settings
from tare.host.cgroups.hierarchies import IO, UNIFIED, V1, V2, V2_CONTROLLERS, Hierarchies, find_hierarchies
from tare.host.cgroups.processors import format_processors, parse_processors
from tare.host.mounts import mounts_text, parse_mounts

__all__ = [
    "PARENT",
    "V1",
    "V2",
    "Group",
    "Hierarchies",
    "Settings",
    "can_bound_processes",
    "create_own_group",
    "find_hierarchies",
    "format_processors",
    "group_of",
    "named_groups",
    "own_group",
    "parse_processors",
    "prepare_parent",
    "remove_parent_if_empty",
]

PARENT = "tare"
_ATTEMPTS = 5


def can_bound_processes() -> bool:
    """Whether this host's kernel can limit the number of a group's processes."""
    return "pids" in find_hierarchies().mounts


def own_group(name: str) -> Group:
    """Tare's group for a node of this name, made or not."""
    found = find_hierarchies()
    return Group(found.version, {key: point / PARENT / name for key, point in found.mounts.items()})


def create_own_group(name: str) -> Group:
    """Make the group of ``own_group``; ``NodeError`` says what the kernel refuses."""
    hierarchies, group = find_hierarchies(), own_group(name)

    def make() -> None:
        _create_parent(hierarchies)
        for directory in group.directories:
            directory.mkdir(exist_ok=True)

    _made(make, f"{PARENT}/{name}")
    return group


def prepare_parent() -> None:
    """Make the common parent of all nodes' groups, for a technology that makes its own below it; raises the same."""
    hierarchies = find_hierarchies()
    _made(lambda: _create_parent(hierarchies), PARENT)


def _made(make: Callable[[], None], name: str) -> None:
    for _ in range(_ATTEMPTS):
        try:
            return make()
        except FileNotFoundError:
            continue  # a run below another state folder has just removed the parent, which both share
        except OSError as error:
            raise NodeError(
                f"cannot make the control group {error.filename}: {error.strerror}; run as root"
            ) from error
    raise NodeError(f"the control group {name} vanishes as often as it is made; who removes it?")


def named_groups(name: str) -> Group:
    """Groups of this path in every hierarchy, those without controllers too: LXC and systemd-nspawn use them all."""
    entries = parse_mounts(mounts_text())
    points = [entry.point for entry in entries if entry.kind in {"cgroup", "cgroup2"}]
    return Group(V1, {str(point): point / name for point in points})


def group_of(pid: int) -> Group:
    """The group that a running process is in; ``NodeError`` if the process is gone."""
    found = find_hierarchies()
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text().strip().split("\n")
    except OSError as error:
        raise NodeError(f"process {pid} of the node has ended") from error
    paths: dict[str, str] = {}
    for line in lines:
        _, names, path = line.split(":", 2)
        paths.update(dict.fromkeys(names.split(","), path))
    names_of = {key: "" if found.version == V2 or key == UNIFIED else key for key in found.mounts}
    own = {
        key: point / paths[names_of[key]].lstrip("/")
        for key, point in found.mounts.items()
        if names_of[key] in paths
    }
    return Group(found.version, own)


EXPECTED = "expected"
"""In the name of a group that a process makes for a moment, to see what it is given; its number follows."""


def remove_parent_if_empty() -> None:
    """With groups that a killed process made for a moment."""
    for group in named_groups(PARENT).directories:
        for passing in group.glob(f"*-{EXPECTED}-*"):
            if not Path("/proc", passing.name.rpartition("-")[2]).exists():
                with suppress(OSError):
                    passing.rmdir()
    for group in named_groups(PARENT).directories:
        with suppress(OSError):
            group.rmdir()


def _create_parent(found: Hierarchies) -> None:
    for root in found.roots:
        (root / PARENT).mkdir(exist_ok=True)
    if found.version == V1:
        parent = found.mounts["cpuset"] / PARENT
        for name in ("cpuset.mems", "cpuset.cpus"):
            if not (parent / name).read_text().strip():
                (parent / name).write_text((parent.parent / name).read_text())
        # A technology's own groups below a node's would have no processors, and nothing could enter them.
        (parent / "cgroup.clone_children").write_text("1")
        return
    wanted = " ".join(f"+{name}" for name in V2_CONTROLLERS if name != IO or found.weighs_io())
    for directory in (found.roots[0], found.roots[0] / PARENT):
        try:
            (directory / "cgroup.subtree_control").write_text(wanted)
        except OSError as error:
            raise NodeError(
                f"cannot hand the controllers {', '.join(V2_CONTROLLERS)} to {directory}: {error.strerror}; "
                "run as root outside a container, or with a delegated control group"
            ) from error
