# SPDX-License-Identifier: Apache-2.0
"""A part of the control group tree that an ordinary user owns: version 2, delegated (cgroups(7), "Delegation").

``systemd-run --user --scope -p Delegate=yes COMMAND`` gives a user one. Its processes must then move down into a
separate group, because a group that hands controllers down holds no processes itself; the nodes' groups are beside
that one.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tare.errors import NodeError
from tare.host import cgroups
from tare.host.cgroups import V2, Group
from tare.host.cgroups.hierarchies import V2_CONTROLLERS
from tare.host.privileges import ordinary_user

RUNNER = "tare-runner"
PRIVILEGES = "privileges"
"""The label of ``privileges``' answer among a session's host facts."""
_NEEDED = "memory"
_PERIOD_US = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Delegation:
    """A group in which this user may make others, and the controllers available to them."""

    directory: Path
    controllers: frozenset[str]

    def group(self, name: str) -> Group:
        """The group for a node of this name, whether or not it exists."""
        return Group(V2, dict.fromkeys(V2_CONTROLLERS, self.directory / name))


def find_delegation(own: Path | None = None) -> Delegation | None:
    """The group in which this process may make groups; ``None`` without one. ``own`` is the folder of its group.

    A group that other processes share, such as a terminal's, is not used: they would have to be moved.
    """
    own = own_directory() if own is None else own
    if own is None:
        return None
    top = own.parent if own.name == RUNNER else own
    controllers = frozenset(_text(top / "cgroup.controllers").split()) & set(V2_CONTROLLERS)
    mine = all(os.access(top / name, os.W_OK) for name in ("", "cgroup.procs", "cgroup.subtree_control"))
    if (
        not mine
        or _NEEDED not in controllers
        or not _processes(top) <= {os.getpid(), *_descendants(os.getpid())}
    ):
        return None
    return Delegation(directory=top, controllers=controllers)


def own_directory() -> Path | None:
    """The folder of this process's group where the controllers belong to version 2, else ``None``."""
    try:
        hierarchies = cgroups.find_hierarchies()
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except (NodeError, OSError):
        return None
    paths = [line.removeprefix("0::") for line in lines if line.startswith("0::")]
    return hierarchies.roots[0] / paths[0].lstrip("/") if hierarchies.version == V2 and paths else None


def create_group(
    delegation: Delegation,
    name: str,
    processors: tuple[int, ...],
    memory_byte: int,
    cpu_quota: float | None,
    processes: int | None = None,
) -> Group:
    """Make a node's group with the limits that its controllers support; ``NodeError`` gives the kernel's reason."""
    folder = delegation.directory / name
    try:
        _step_down(delegation)
        folder.mkdir()
        for file, text in _settings(delegation, processors, memory_byte, cpu_quota):
            (folder / file).write_text(text)
        if processes is not None and "pids" in delegation.controllers:
            (folder / "pids.max").write_text(str(processes))
    except OSError as error:
        raise NodeError(
            f"the delegated control group {delegation.directory} refuses {error.filename}: {error.strerror}"
        ) from error
    return delegation.group(name)


def _step_down(delegation: Delegation) -> None:
    """Move this runner into a group below, so that the controllers can be handed to the groups beside it."""
    runner = delegation.directory / RUNNER
    runner.mkdir(exist_ok=True)
    for pid in sorted(_processes(delegation.directory)):
        with suppress(ProcessLookupError):
            (runner / "cgroup.procs").write_text(str(pid))
    handed = " ".join(f"+{name}" for name in sorted(delegation.controllers))
    (delegation.directory / "cgroup.subtree_control").write_text(handed)


def _settings(
    delegation: Delegation, processors: tuple[int, ...], memory_byte: int, cpu_quota: float | None
) -> Iterator[tuple[str, str]]:
    """File → text; swap is forbidden where the kernel can, as for root."""
    yield "memory.max", str(memory_byte)
    if (delegation.directory / RUNNER / "memory.swap.max").exists():
        yield "memory.swap.max", "0"
    if "cpuset" in delegation.controllers:
        yield "cpuset.cpus", cgroups.format_processors(processors)
    if cpu_quota is not None:
        if "cpu" not in delegation.controllers:
            raise NodeError("a CPU quota needs the cpu controller, which is not delegated to this user")
        yield "cpu.max", f"{round(cpu_quota * _PERIOD_US)} {_PERIOD_US}"


def _processes(directory: Path) -> set[int]:
    return {int(word) for word in _text(directory / "cgroup.procs").split()}


def _descendants(pid: int) -> set[int]:
    """Process ids of everything that this process and its children have started (proc(5), task/TID/children)."""
    descendants: set[int] = set()
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, _text(file).split()):
            descendants |= {child, *_descendants(child)}
    return descendants


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def privileges() -> str:
    """The rights with which this session measures: figures with different rights do not belong in one result.

    ``"root"``, or an ordinary user with what holds their nodes.
    """
    if not ordinary_user():
        return "root"
    delegation = find_delegation()
    if delegation is None:
        return "an ordinary user's, without control groups"
    return f"an ordinary user's, with delegated control groups ({' '.join(sorted(delegation.controllers))})"
