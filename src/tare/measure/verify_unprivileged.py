# SPDX-License-Identifier: Apache-2.0
"""Whether the limits of an ordinary user's node hold, and which are weaker than root's.

Weaker limits become facts with fixed words, which the report explains (``tare.report.weaker``).
"""

from collections.abc import Iterable, Mapping
from typing import Any

from tare.environments.ssh.group import FarUserGroup
from tare.errors import NodeError
from tare.nodes.provider import NodeSpec
from tare.nodes.unprivileged.group import UserGroup
from tare.records import InstanceRun
from tare.units import format_byte

CPU_SET, MEMORY, CPU_TIME, PROCESSES = "CPU set", "memory limit", "CPU time", "process limit"
BY_AFFINITY = "by affinity"
PER_PROCESS = "per process (RLIMIT_DATA)"
BY_RUSAGE = "by rusage"
BY_RLIMIT = "by RLIMIT_NPROC"
_QUOTA_TOLERANCE = 0.011
"""Quotas are written in whole microseconds per 100 ms."""
_PAGE_BYTE = 4096


UsersGroup = UserGroup | FarUserGroup
"""What holds an ordinary user's node, here or on another host."""


def verify_held(spec: NodeSpec, group: UsersGroup, seen: Mapping[str, Any]) -> dict[str, str]:
    """Limits weaker than root's, as facts; ``NodeError`` naming the first limit that does not hold.

    The process that entered the node is checked: if it bypassed the limits, commands would run without them.
    """
    pid = int(seen["pid"])
    if (missing := group.lacks(pid)) is None or missing:
        where = f"the control group of {', '.join(missing)}" if missing else "the node"
        raise NodeError(f"the node's limits do not hold: the entered command is not in {where}")
    return {
        **_processors(spec, group, pid),
        **_memory(spec, group, seen),
        **_processor_time(spec, group, seen),
        **_processes(spec, group),
    }


def rusage_s(runs: Iterable[InstanceRun]) -> float | None:
    """CPU time of the commands and their waited-for children (wait4(2)); ``None`` if one is not known."""
    times_s = [time_s for run in runs for time_s in (run.user_s, run.system_s)]
    return sum(times_s) if all(time_s is not None for time_s in times_s) else None


def _processors(spec: NodeSpec, group: UsersGroup, pid: int) -> dict[str, str]:
    if group.means.processors_by_group:
        same("processors (delegated cgroup)", spec.processors, group.settings().processors)
        return {}
    same("processors (affinity)", spec.processors, group.affinity(pid))
    return {CPU_SET: BY_AFFINITY}


def _memory(spec: NodeSpec, group: UsersGroup, seen: Mapping[str, Any]) -> dict[str, str]:
    if group.means.memory_by_group:
        near(
            "memory limit in bytes (delegated cgroup)",
            spec.memory_byte,
            group.settings().memory_byte,
            _PAGE_BYTE,
        )
        return {}
    near(
        "memory limit in bytes (RLIMIT_DATA)",
        spec.memory_byte,
        group.data_limit_byte(int(seen["pid"])),
        _PAGE_BYTE,
    )
    own_byte = seen.get("memory_limit_byte")
    if own_byte is not None and own_byte < spec.memory_byte:
        raise _tighter("memory limit", format_byte(own_byte))
    return {MEMORY: f"{spec.memory_byte} byte {PER_PROCESS}"}


def _processor_time(spec: NodeSpec, group: UsersGroup, seen: Mapping[str, Any]) -> dict[str, str]:
    if group.means.group is not None:
        near("CPU quota (delegated cgroup)", spec.cpu_quota, group.settings().cpu_quota, _QUOTA_TOLERANCE)
        return {}
    own_quota = seen.get("cpu_quota")
    if own_quota is not None and own_quota < len(spec.processors):
        raise _tighter("CPU quota", f"{own_quota:g} processors")
    return {CPU_TIME: BY_RUSAGE}


def _processes(spec: NodeSpec, group: UsersGroup) -> dict[str, str]:
    wanted = spec.bounds.processes
    if wanted is None:
        return {}
    if not group.means.processes_by_group:
        return {PROCESSES: f"{wanted} processes {BY_RLIMIT}"}
    same("process limit (delegated cgroup)", wanted, group.settings().processes)
    return {PROCESSES: f"{wanted} processes"}


def _tighter(what: str, own: str) -> NodeError:
    """The error if the login or the batch job itself has a lower limit than the node should have."""
    return NodeError(f"this session's own {what} is {own}, less than the node is to have: ask for less")


def same(what: str, wanted: object, actual: object) -> None:
    if wanted != actual:
        raise NodeError(f"the node's limits do not hold: {what} should be {wanted} and are {actual}")


def near(what: str, wanted: float | None, actual: float | None, tolerance: float) -> None:
    if wanted is None or actual is None:
        same(what, wanted, actual)
    elif abs(wanted - actual) > tolerance:
        raise NodeError(f"the node's limits do not hold: {what} should be {wanted} and is {actual}")
