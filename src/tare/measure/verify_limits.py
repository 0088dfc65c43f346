# SPDX-License-Identifier: Apache-2.0
"""Whether a node's limits hold: seen from inside by the stopwatch, and from the host in the control group."""

from collections.abc import Mapping
from typing import Any

from tare.environments.confined import inner_numbers
from tare.environments.provider import Node
from tare.errors import NodeError
from tare.host.cgroups import Group, format_processors

_QUOTA_TOLERANCE = 0.011
"""Quotas are written in whole microseconds per 100 ms, and Docker rounds."""
_PAGE_BYTE = 4096


def verify(node: Node, group: Group, seen: Mapping[str, Any]) -> dict[str, str]:
    """What holds, as facts; ``NodeError`` naming the first limit that does not."""
    spec, held = node.spec, group.settings()
    _same("processors (host's cgroup)", spec.processors, held.processors)
    _same("processors (inside)", spec.processors, tuple(seen["processors"]))
    _near("memory limit in bytes (host's cgroup)", spec.memory_byte, held.memory_byte, _PAGE_BYTE)
    _near("CPU quota (host's cgroup)", spec.cpu_quota, held.cpu_quota, _QUOTA_TOLERANCE)
    _near("size of shm in bytes (inside)", spec.shm_byte, seen["shm_byte"], _PAGE_BYTE)
    if seen.get("memory_limit_byte") is not None:
        _near("memory limit in bytes (inside)", spec.memory_byte, seen["memory_limit_byte"], _PAGE_BYTE)
    if seen.get("cpu_quota") is not None:
        _near("CPU quota (inside)", spec.cpu_quota, seen["cpu_quota"], _QUOTA_TOLERANCE)
    _is_member(group, int(seen["pid"]))
    return _facts(seen, held.memory_byte, held.cpu_quota)


def _same(what: str, wanted: object, found: object) -> None:
    if wanted != found:
        raise NodeError(f"the node's limits do not hold: {what} should be {wanted} and are {found}")


def _near(what: str, wanted: float | None, found: float | None, tolerance: float) -> None:
    if wanted is None or found is None:
        _same(what, wanted, found)
    elif abs(wanted - found) > tolerance:
        raise NodeError(f"the node's limits do not hold: {what} should be {wanted} and is {found}")


def _is_member(group: Group, inner_pid: int) -> None:
    """The stopwatch itself must be in the group: a command entered past it would run without limits."""
    found = [pid for pid in group.processes() if inner_numbers(pid)[-1:] == [inner_pid]]
    if not found:
        raise NodeError(
            "the node's limits do not hold: the entered command is not in the node's control group"
        )
    if missing := group.lacks(found[0]):
        raise NodeError(
            f"the node's limits do not hold: the entered command is not in the control group of {', '.join(missing)}"
        )


def _facts(seen: Mapping[str, Any], memory_byte: int | None, cpu_quota: float | None) -> dict[str, str]:
    inside = tuple(seen["processors"])
    return {
        "processors": format_processors(inside),
        "memory limit": f"{memory_byte} byte",
        "CPU quota": "none" if cpu_quota is None else f"{cpu_quota:g} processors",
        "online processors inside": str(seen.get("online_processors")),
        "clock source": str(seen.get("clock_source")),
        "kernel": str(seen.get("kernel_release") or seen.get("kernel")),
    }
