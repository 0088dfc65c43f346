# SPDX-License-Identifier: Apache-2.0
"""The limits of an ordinary user's node: a delegated control group as far as it goes, else weaker means.

Without a group the CPU set is an affinity, which a process may widen again (sched_setaffinity(2)), and the memory
limit applies to each process separately: RLIMIT_DATA, which counts what a process may write and shares with nobody
(getrlimit(2); private mappings since Linux 4.7). RLIMIT_AS would also count memory that is only reserved, and so end
every program whose run time reserves much. A CPU quota has no such substitute.
"""

import json
import os
import resource
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from tare.errors import NodeError
from tare.host.cgroups import V2, Group, format_processors
from tare.host.cgroups.hierarchies import V2_CONTROLLERS
from tare.host.delegation import create_group, find_delegation
from tare.host.privileges import ordinary_user
from tare.nodes.provider import TOOLS_DIRECTORY, NodeSpec
from tare.records import Bounds
from tare.untrusted import from_json, of_kind

_FILE = "limits.json"
_OWN_GROUP = "systemd-run --user --scope -p Delegate=yes tare ..."


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What enforces a node's limits; ``controllers`` are the delegated group's, none without one."""

    group: Path | None = None
    controllers: frozenset[str] = frozenset()

    @property
    def memory_by_group(self) -> bool:
        return "memory" in self.controllers

    @property
    def processors_by_group(self) -> bool:
        return "cpuset" in self.controllers

    @property
    def processes_by_group(self) -> bool:
        return "pids" in self.controllers

    def as_group(self) -> Group | None:
        return None if self.group is None else Group(V2, dict.fromkeys(V2_CONTROLLERS, self.group))


def quota_obstacle() -> tuple[str, str] | None:
    """Why this user cannot enforce a CPU quota, and what to do; ``None`` when it can be enforced."""
    delegation = find_delegation()
    if delegation is not None and "cpu" in delegation.controllers:
        return None
    return (
        "a CPU quota takes a control group, and this user has none with the cpu controller",
        f"leave out cpu_quota, run as root, or: {_OWN_GROUP}",
    )


def establish(spec: NodeSpec) -> Means:
    """Set up what holds the node, and record it beside the node's record; ``NodeError`` when a limit cannot be kept."""
    if spec.cpu_quota is not None and (why := quota_obstacle()):
        raise NodeError(": ".join(why))
    delegation = find_delegation()
    means = Means()
    if delegation is not None:
        means = Means(group=delegation.directory / spec.name, controllers=delegation.controllers)
    (spec.directory / _FILE).write_text(
        json.dumps({"group": means.group and str(means.group), "controllers": sorted(means.controllers)})
    )
    if delegation is not None:
        group = create_group(
            delegation, spec.name, spec.processors, spec.memory_byte, spec.cpu_quota, spec.bounds.processes
        )
        if spec.weight > 1 and "cpu" in delegation.controllers:
            group.weigh(spec.weight)
    return means


def process_limit(bounds: Bounds) -> Mapping[str, int]:
    """The limits of getrlimit(2) for an ordinary user's node that no control group enforces; else none.

    In a user namespace, which every such node has, RLIMIT_NPROC counts the processes in that namespace; before Linux
    5.14, all that the user runs.
    """
    if not ordinary_user() or bounds.processes is None:
        return {}
    delegation = find_delegation()
    return {} if delegation is not None and "pids" in delegation.controllers else {"nproc": bounds.processes}


class _WrittenLimits(TypedDict):
    group: str | None
    controllers: list[str]


def recall(spec: NodeSpec) -> Means:
    """What ``establish`` recorded; a node without a record is held by nothing."""
    try:
        recorded = of_kind(_WrittenLimits, from_json((spec.directory / _FILE).read_text()))
    except (OSError, ValueError):
        return Means()
    group = recorded["group"]
    return Means(group=Path(group) if group else None, controllers=frozenset(recorded["controllers"]))


def join(spec: NodeSpec) -> list[str]:
    """The argv prefix that starts a command in the node's group; empty without one."""
    group = recall(spec).as_group()
    return [] if group is None else [f"{spec.image_root}{TOOLS_DIRECTORY}/join", *group.process_files, "--"]


def data_limit_byte(spec: NodeSpec) -> int | None:
    """RLIMIT_DATA of the node's processes; ``None`` where a group will hold their memory."""
    return spec.memory_byte if find_delegation() is None else None


def hold(spec: NodeSpec, *, memory: bool = True) -> list[str]:
    """The argv prefix that starts a command under the node's limits; without ``memory``, all but the memory limit."""
    means, parts = recall(spec), join(spec)
    if memory and not means.memory_by_group:
        parts += ["prlimit", f"--data={spec.memory_byte}"]
    if not means.processors_by_group:
        parts += ["taskset", "--cpu-list", format_processors(spec.processors)]
    return parts


def hold_self(processors: Iterable[int], memory_byte: int | None) -> None:
    """The same for this process and what it becomes; ``None``: memory is limited otherwise."""
    try:
        os.sched_setaffinity(0, processors)
        if memory_byte is not None:
            resource.setrlimit(resource.RLIMIT_DATA, (memory_byte, memory_byte))
    except (OSError, ValueError) as error:
        raise NodeError(f"cannot limit the node to its processors and memory: {error}") from error


def command_limits(bounds: Bounds) -> Mapping[str, int]:
    """Name, in lower case → maximum for a process."""
    return {**bounds.resource_limits, **process_limit(bounds)}
