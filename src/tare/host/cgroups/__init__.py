# SPDX-License-Identifier: Apache-2.0
"""Control groups, version 1 and 2, behind one small interface.

Tare's own groups are ``tare/NODE`` in every hierarchy that matters; groups made by Docker or LXC are read through the
same interface. On a hybrid host, the version that holds the cpu controller is used.
Sources: cgroups(7); the kernel's admin-guide pages for cgroup-v1 and cgroup-v2.
"""

import os
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from tare.errors import NodeError
from tare.host.cgroups.group import Group, Settings
from tare.host.cgroups.hierarchies import (
    IO,
    UNIFIED,
    V1,
    V2,
    V2_CONTROLLERS,
    Hierarchies,
    find_hierarchies,
    group_mounts,
)
from tare.host.cgroups.processors import format_processors, parse_processors
from tare.host.kernel_files import read_text
from tare.host.privileges import ordinary_user

__all__ = [
    "ENDING",
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
_LAST_PREPARED = "cgroup.clone_children"
_ATTEMPTS = 5
_REMEMBERED = 64
"""A trial repeatedly asks for the groups of its few nodes."""


def can_bound_processes() -> bool:
    """Whether this host's kernel can limit the number of processes in a group."""
    return "pids" in find_hierarchies().mounts


def own_group(name: str) -> Group:
    """Tare's group for a node of this name, whether or not it exists."""
    hierarchies = find_hierarchies()
    return Group(hierarchies.version, _own_directories(hierarchies, name))


@lru_cache(maxsize=_REMEMBERED)
def _own_directories(host: Hierarchies, name: str) -> Mapping[str, str]:
    return {key: f"{point}/{PARENT}/{name}" for key, point in host.mounts.items()}


def create_own_group(name: str) -> Group:
    """Make the group of ``own_group``; ``NodeError`` gives the kernel's reason when it refuses."""
    hierarchies, group = find_hierarchies(), own_group(name)

    def make() -> None:
        if not _is_parent_prepared(hierarchies):
            _create_parent(hierarchies)
        for path in group.paths:
            _make_folder(path)

    _made(make, f"{PARENT}/{name}")
    return group


def prepare_parent() -> None:
    """Make the parent of all nodes' groups, for a technology that makes its own below it; ``NodeError`` as above."""
    hierarchies = find_hierarchies()
    _made(lambda: _create_parent(hierarchies), PARENT)


def _made(make: Callable[[], None], name: str) -> None:
    for _ in range(_ATTEMPTS):
        try:
            return make()
        except FileNotFoundError:
            continue  # a run below another state folder has just removed the parent that both share
        except OSError as error:
            raise NodeError(
                f"cannot make the control group {error.filename}: {error.strerror}; run as root"
            ) from error
    raise NodeError(f"the control group {name} vanishes as often as it is made; who removes it?")


def named_groups(name: str) -> Group:
    """Groups at this path in every hierarchy, including those without controllers: LXC and systemd-nspawn use them."""
    return Group(V1, {str(point): f"{point}/{name}" for point in group_mounts()})


def group_of(pid: int) -> Group:
    """The group that a running process is in; ``NodeError`` if the process is gone."""
    text = read_text(f"/proc/{pid}/cgroup")
    if text is None:
        raise NodeError(f"process {pid} of the node has ended")
    hierarchies = find_hierarchies()
    return Group(hierarchies.version, _directories_of(hierarchies, text))


@lru_cache(maxsize=_REMEMBERED)
def _directories_of(host: Hierarchies, text: str) -> Mapping[str, str]:
    """The group's directories, from a process's lines in /proc/PID/cgroup."""
    paths: dict[str, str] = {}
    for line in text.split("\n"):
        _, names, path = line.split(":", 2)
        paths.update(dict.fromkeys(names.split(","), path))
    names_of = {key: "" if host.version == V2 or key == UNIFIED else key for key in host.mounts}
    return {
        key: f"{point}/{paths[names_of[key]].strip('/')}".rstrip("/")
        for key, point in host.mounts.items()
        if names_of[key] in paths
    }


ENDING = "ending"
"""The group for a technology's own process when it ends, so that its node's group can be removed first."""
_ENDING_LIMIT_S = 1.0
_CONTAINER = re.compile(r"[0-9a-f]{64}")
"""Docker's name for a container's group; killed while it starts a container, Docker leaves it empty."""
_STARTED_S = 5.0
"""A container's group that is still empty after this time stays so: the engine makes it just before the process.

It has no age of its own: the kernel dates a group by its first reader.
"""
EXPECTED = "expected"
"""In the name of a group that a process makes briefly, to see which settings it gets; its number follows."""


def remove_parent_if_empty() -> None:
    """Remove it with groups that a killed process or engine left empty, and processes that should have ended long ago.

    Only root's runs make groups there, and only root can remove them.
    """
    if ordinary_user():
        return
    with suppress(NodeError, OSError):
        named_groups(f"{PARENT}/{ENDING}").remove(_ENDING_LIMIT_S)
    for group in named_groups(PARENT).directories:
        for expected in _below(group, f"*-{EXPECTED}-*"):
            if not Path("/proc", expected.name.rpartition("-")[2]).exists():
                _remove_if_empty(expected)
    if left := [group for group in _containers() if _is_empty(group)]:
        time.sleep(_STARTED_S)
        for container in left:
            _remove_if_empty(container)
    for group in named_groups(PARENT).directories:
        _remove_if_empty(group)


def _containers() -> list[Path]:
    below = (path for group in named_groups(PARENT).directories for path in _below(group, "*"))
    return [path for path in below if _CONTAINER.fullmatch(path.name)]


def _below(group: Path, pattern: str) -> list[Path]:
    """The matching groups; none if the group has vanished: a run below another state folder removes the parent too."""
    try:
        return list(group.glob(pattern))
    except FileNotFoundError:
        return []


def _is_empty(group: Path) -> bool:
    return not Group(V1, {"": group}).processes()


def _remove_if_empty(group: Path) -> None:
    with suppress(OSError):
        group.rmdir()


def _make_folder(path: str) -> None:
    try:
        os.mkdir(path)  # noqa: PTH102 - nine in every trial; the parents exist
    except FileExistsError:
        if not os.path.isdir(path):  # noqa: PTH112
            raise


def _is_parent_prepared(host: Hierarchies) -> bool:
    """Whether ``_create_parent`` has done all its work; in version 2 never: it hands down the controllers each time."""
    if host.version != V1 or not all(os.path.isdir(f"{root}/{PARENT}") for root in host.roots):  # noqa: PTH112
        return False
    parent = host.mounts["cpuset"] / PARENT
    return bool(read_text(f"{parent}/cpuset.cpus")) and read_text(f"{parent}/{_LAST_PREPARED}") == "1"


def _create_parent(host: Hierarchies) -> None:
    for root in host.roots:
        _make_folder(f"{root}/{PARENT}")
    if host.version == V1:
        parent = host.mounts["cpuset"] / PARENT
        for name in ("cpuset.mems", "cpuset.cpus"):
            if not read_text(f"{parent}/{name}"):
                (parent / name).write_text((parent.parent / name).read_text())
        # A technology's own groups below a node's would have no processors, and nothing could enter them.
        if read_text(f"{parent}/{_LAST_PREPARED}") != "1":
            (parent / _LAST_PREPARED).write_text("1")
        return
    wanted = " ".join(f"+{name}" for name in V2_CONTROLLERS if name != IO or host.weighs_io())
    for directory in (host.roots[0], host.roots[0] / PARENT):
        try:
            (directory / "cgroup.subtree_control").write_text(wanted)
        except OSError as error:
            raise NodeError(
                f"cannot hand the controllers {', '.join(V2_CONTROLLERS)} to {directory}: {error.strerror}; "
                "run as root outside a container, or with a delegated control group"
            ) from error
