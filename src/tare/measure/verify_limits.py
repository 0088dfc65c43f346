# SPDX-License-Identifier: Apache-2.0
"""Whether a node's limits hold: seen from inside by the stopwatch, and from the host in the control group."""

from collections.abc import Mapping
from typing import Any

from tare.errors import NodeError
from tare.host.cgroups import can_bound_processes, format_processors
from tare.measure.verify_unprivileged import PROCESSES, UsersGroup, near, same, verify_held
from tare.nodes.provider import Chosen, Node, NodeGroup, NodeSpec
from tare.nodes.unprivileged.limits import command_limits

_QUOTA_TOLERANCE = 0.011
"""Quotas are written in whole microseconds per 100 ms, and Docker rounds."""
_PAGE_BYTE = 4096
_AS_STATED = Chosen()


def verify(
    node: Node,
    group: NodeGroup,
    seen: Mapping[str, Any],
    chosen: Chosen = _AS_STATED,
    *,
    bounds_processes: bool = True,
) -> dict[str, str]:
    """Verified limits, as facts; ``NodeError`` naming the first limit that does not hold.

    Limits that the environment's own options have ``chosen`` replace the campaign's. ``bounds_processes``: as in the
    provider.
    """
    spec = chosen.limited(node.spec)
    own = {} if chosen.shm_byte is None else {"size of shm": f"{chosen.shm_byte} byte"}
    _verify_resources(spec, seen)
    return {**_verified(node, spec, group, seen, promised=bounds_processes), **own}


def _verified(
    node: Node, spec: NodeSpec, group: NodeGroup, seen: Mapping[str, Any], *, promised: bool
) -> dict[str, str]:
    same("processors (inside)", node.numbered_inside(spec.processors), tuple(seen["processors"]))
    near("size of shm in bytes (inside)", spec.shm_byte, seen["shm_byte"], _PAGE_BYTE)
    if isinstance(group, UsersGroup):
        return {**_facts(seen, spec.memory_byte, spec.cpu_quota), **verify_held(spec, group, seen)}
    held = group.settings()
    same("processors (host's cgroup)", spec.processors, held.processors)
    near("memory limit in bytes (host's cgroup)", spec.memory_byte, held.memory_byte, _PAGE_BYTE)
    near("CPU quota (host's cgroup)", spec.cpu_quota, held.cpu_quota, _QUOTA_TOLERANCE)
    if seen.get("memory_limit_byte") is not None:
        near("memory limit in bytes (inside)", spec.memory_byte, seen["memory_limit_byte"], _PAGE_BYTE)
    if seen.get("cpu_quota") is not None:
        near("CPU quota (inside)", spec.cpu_quota, seen["cpu_quota"], _QUOTA_TOLERANCE)
    _is_member(group, int(seen["pid"]))
    return {
        **_facts(seen, held.memory_byte, held.cpu_quota),
        **_processes(spec.bounds.processes, held.processes, promised=promised),
    }


def _processes(wanted: int | None, held: int | None, *, promised: bool) -> dict[str, str]:
    """The process limit; technologies or hosts without the pids controller may have none, or their own: a fact."""
    if promised and (held is not None or can_bound_processes()):
        same("process limit (host's cgroup)", wanted, held)
    return {} if wanted is None else {PROCESSES: "none" if held is None else f"{held} processes"}


def _verify_resources(spec: NodeSpec, seen: Mapping[str, Any]) -> None:
    """Check the limits of getrlimit(2) for the stopwatch's commands: the hard ones, from the text "soft:hard"."""
    held = seen.get("confinement", {}).get("limits", {})
    for name, most in command_limits(spec.bounds).items():
        hard = str(held.get(name)).rpartition(":")[2]
        if not (hard.isdecimal() and int(hard) <= most):
            raise NodeError(
                f"the node's limits do not hold: limit of {name} (inside) should be {most} at most and is {hard}"
            )


def _is_member(group: NodeGroup, inner_pid: int) -> None:
    """Require the stopwatch itself in the group: a command that bypassed it would run without limits."""
    missing = group.lacks(inner_pid)
    if missing is None:
        raise NodeError(
            "the node's limits do not hold: the entered command is not in the node's control group"
        )
    if missing:
        raise NodeError(
            f"the node's limits do not hold: the entered command is not in the control group of {', '.join(missing)}"
        )


def _facts(seen: Mapping[str, Any], memory_byte: int | None, cpu_quota: float | None) -> dict[str, str]:
    facts = {
        "online processors inside": seen.get("online_processors"),
        "clock source": seen.get("clock_source"),
        "kernel": seen.get("kernel_release") or seen.get("kernel"),
    }
    return {
        "processors": format_processors(tuple(seen["processors"])),
        "memory limit": f"{memory_byte} byte",
        "CPU quota": "none" if cpu_quota is None else f"{cpu_quota:g} processors",
        **{label: str(value) for label, value in facts.items() if value is not None},
    }
