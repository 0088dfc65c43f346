# SPDX-License-Identifier: Apache-2.0
"""Equal arms: the conditions of the measured commands, read in each trial, and which must equal native's.

A technology's own confinement is part of what is weighed. Niceness, weights and limits that come from the host, from a
daemon or from the process that started the runner are not: if they differ from a native command's, the trial is void.
"""

import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tare.errors import NodeError, UnequalArms
from tare.host import cgroups
from tare.host.cgroups.path import parent_of, path_settings
from tare.host.kernel_files import read_text
from tare.host.privileges import ordinary_user
from tare.host.standing import resource_limits, standing
from tare.measure.instances import Instance
from tare.measure.stopwatch import Stopwatch
from tare.nodes.devices import devices_shown
from tare.nodes.provider import Node, Provider
from tare.nodes.unprivileged.limits import command_limits
from tare.records import ROOT, Bounds, Parity

_SCHEDULERS = {0: "other", 1: "fifo", 2: "round robin", 3: "batch", 5: "idle", 6: "deadline"}
"""sched(7)."""
_IO_CLASSES = {0: "none", 1: "real time", 2: "best effort", 3: "idle"}
"""ioprio_set(2)."""
_SECCOMP = {"0": "none", "1": "strict", "2": "filter"}
"""proc(5), Seccomp."""
USER = "user"
"""The label of the commands' user, by its number inside."""
_SLACK = "timer slack"
_LIMIT = "limit of "
_HOST_LABELS = {
    "nice": "nice",
    "scheduler": "scheduler",
    "io_priority": "I/O class",
    "oom_score_adjustment": "OOM score adjustment",
    "timer_slack_ns": _SLACK,
}
_CAPABILITIES = {
    "effective_capabilities": "capabilities",
    "bounding_capabilities": "capability bounds",
    "inheritable_capabilities": "inheritable capabilities",
    "ambient_capabilities": "ambient capabilities",
}
_CONDITIONS = {"transparent_huge_pages": "transparent huge pages", "clock_source": "clock source"}
_MAPPINGS = "mappings of a process"
_FEW_MAPPINGS, _MOST_MAPPINGS = 64, 1 << 32
"""The stopwatch has some 20, a few more or less as it works."""
_NOT_COMPARED = {"fsize", "locks"}
"""Tare's own limit of the command's output, and a limit that Linux has ignored since 2.4.25."""
_OTHER_REMEDY = 'see docs/environments.md, "Equal arms"'
_WEIGHT = "CPU weight"
_NOBODY = "/"
"""No group has this name: a process's path is then read to its end, not to its node's group."""
_LONGEST_TEXT = 4096
_NO_BOUNDS = Bounds()
_NESTED = ("namespaces", "limits")
"""Facts that the stopwatch reports as separate tables."""
_REMEDIES = {
    "nice": "restart its daemon without nice (and tare, if you are not root)",
    "scheduler": "restart its daemon with the default scheduling, chrt --other 0 (and tare, if you are not root)",
    "I/O class": "restart its daemon without ionice (and tare, if you are not root)",
    _WEIGHT: "take the weight back (cpu.shares = 1024, or cpu.weight = 100) in the groups above the node",
    "I/O weight": "take the weight back in the groups above the node",
    "CPU quota above": "take the quota off the groups above the node",
    "memory limit above": "take the limit off the groups above the node",
    "process limit above": "take the limit off (pids.max = max), in the daemon's configuration too",
}


def read_parity(provider: Provider, node: Node, seen: Mapping[str, Any]) -> Parity:
    """Parity of a node, by its stopwatch's facts (``stopwatch.seen``) and the host's data on its processes.

    Deliberate settings by the environment's options count as the technology's own, wherever on the path they are.
    """
    read, chosen = _parity(provider, node, seen), provider.chosen(node.spec.options).labels
    whole = _path(node.init_pid, _NOBODY) if chosen else {}
    own = {label: whole.get(label, text) for label, text in read.host.items() if label in chosen}
    host = {label: text for label, text in read.host.items() if label not in chosen}
    return Parity(own={**read.own, **own}, host=host)


def _parity(provider: Provider, node: Node, seen: Mapping[str, Any]) -> Parity:
    confinement = _texts_and_numbers(seen.get("confinement"))
    if not confinement:
        return Parity()
    own = _own(node, confinement) | _conditions(seen)
    if node.own_kernel:
        served = {} if node.init_pid is None else _standing(standing(node.init_pid))
        slack = {_SLACK: served.pop(_SLACK)} if _SLACK in served else {}  # QEMU chooses its own
        return Parity(own={**own, **slack}, host={**served, **_path_of(node)})
    host, limits = _standing(confinement), _limits(confinement)
    if node.elsewhere is not None:
        return Parity(own={**own, **limits}, host=host)
    host |= _path_of(node) | devices_shown(node.spec.devices, node.init_pid)
    if provider.own_limits:
        return Parity(own={**own, **limits}, host=host)
    return Parity(own=own, host={**host, **limits})


def _texts_and_numbers(answer: Any) -> dict[str, Any]:
    """The part of a possibly forged report that has the shape of an answer."""
    if not isinstance(answer, Mapping):
        return {}
    flat = {
        name: value[:_LONGEST_TEXT] if isinstance(value, str) else value
        for name, value in answer.items()
        if isinstance(value, str | int) and name not in _NESTED and name.isidentifier()
    }
    return flat | {name: _texts_and_numbers(answer[name]) for name in _NESTED if name in answer}


def expected_parity(session: str, bounds: Bounds = _NO_BOUNDS) -> Mapping[str, str]:
    """The conditions of a native command of the runner: the runner's standing and limits, and a new group's path."""
    held = {**resource_limits(), **_bounded(bounds)}
    limits = {name: ":".join(map(_limit, pair)) for name, pair in held.items()}
    return {
        **_standing(standing()),
        **_limits({"limits": limits}),
        **_expected_path(f"tare-{session}-{cgroups.EXPECTED}-{os.getpid()}"),
    }


def _bounded(bounds: Bounds) -> Mapping[str, tuple[int, int]]:
    """The bounds, limited to the runner's own."""
    own = resource_limits()
    least = {
        name: most if own[name][1] < 0 else min(most, own[name][1])
        for name, most in command_limits(bounds).items()
    }
    return {name: (most, most) for name, most in least.items()}


def require_equal(parity: Parity, expected: Mapping[str, str], where: str) -> None:
    """``UnequalArms`` naming the differences from ``expected``; unreadable values are not compared."""
    differing = [label for label, text in parity.host.items() if expected.get(label, text) != text]
    if differing:
        said = "; ".join(f"{label} {parity.host[label]} instead of {expected[label]}" for label in differing)
        raise UnequalArms(f"unequal arms: {where} has {said}; {_remedy(differing[0])}")


def require_user(parity: Parity, node: Node) -> None:
    """``UnequalArms`` if commands run as another user than elsewhere; unreadable values are not compared."""
    uid = parity.own.get(USER)
    wanted = None if node.user is None else str(node.user.uid)
    if wanted is None or uid in {None, wanted}:
        return
    raise UnequalArms(
        f"unequal arms: in {node.spec.technology} the command is user {uid} instead of {wanted}; have its commands "
        f'enter as root, which then become that user, or write user = "{ROOT}" or the user that they are'
    )


def _remedy(label: str) -> str:
    if label.startswith(_LIMIT):
        name = label.removeprefix(_LIMIT)
        return f"start tare with the {name} limit that the technology gives (prlimit --{name}=...)"
    return _REMEDIES.get(label, _OTHER_REMEDY)


def own_stopwatches(instances: Sequence[Instance], stopwatches: Sequence[Stopwatch]) -> list[Stopwatch]:
    """Stopwatches that start their command themselves, unlike mpirun's for an instance that spans nodes."""
    pairs = zip(instances, stopwatches, strict=True)
    return [stopwatch for instance, stopwatch in pairs if instance.seat.node in instance.seat.members]


def require_equal_commands(
    instances: Sequence[Instance], stopwatches: Sequence[Stopwatch], expected: Mapping[str, str]
) -> Parity | None:
    """Check the stopwatches that are about to start the commands; return the first one's conditions.

    ``None`` with mpirun, which starts an instance that spans nodes, and runs in none of them.
    """
    read = None
    for instance, stopwatch in zip(instances, stopwatches, strict=True):
        seat = instance.seat
        if seat.node in seat.members:
            parity = read_parity(seat.provider, seat.node, stopwatch.seen)
            require_equal(parity, expected, seat.node.spec.technology)
            read = read or parity
    return read


def require_equal_path(provider: Provider, node: Node, expected: Mapping[str, str]) -> None:
    """Check only the control groups' path, which may change while a command runs."""
    if expected and node.elsewhere is None:
        path, chosen = _path_of(node), provider.chosen(node.spec.options).labels
        equal = {label: text for label, text in path.items() if label not in chosen}
        require_equal(Parity(host=equal), expected, node.spec.technology)


def require_one_parent(nodes: Sequence[Node], expected: Mapping[str, str]) -> None:
    """``UnequalArms`` if a trial's nodes are below several groups, as each group has its own weight.

    Its neighbours' nodes are included: they share the processors with the measured ones.
    """
    if _WEIGHT not in expected or len(nodes) == 1:
        return
    host = cgroups.find_hierarchies()
    parents = {
        parent_of(cgroups.group_of(node.init_pid), host, node.spec.name)
        for node in nodes
        if node.init_pid is not None and node.elsewhere is None
    }
    if len(parents - {None}) > 1:
        said = " and ".join(sorted(map(str, parents - {None})))
        technologies = " and ".join(dict.fromkeys(node.spec.technology for node in nodes))
        raise UnequalArms(
            f"unequal arms: the nodes of {technologies} lie below {said}, which have a CPU weight each, "
            "where native's one node has one; start all of them below one control group"
        )


def _own(node: Node, seen: Mapping[str, Any]) -> dict[str, str]:
    values = {
        "system call filter": _seccomp(seen),
        **{label: seen.get(name) for name, label in _CAPABILITIES.items()},
        "no new privileges": {"0": "no", "1": "yes"}.get(str(seen.get("no_new_privileges"))),
        "security label": seen.get("security_label"),
        "mitigation of store bypass": seen.get("store_bypass"),
        "mitigation of indirect branches": seen.get("indirect_branch"),
        USER: _first(seen.get("user")),
        "groups": seen.get("groups"),
        "user on the host": _on_host(node, _first(seen.get("user"))),
        "namespaces of its own": "all: a kernel of its own" if node.own_kernel else _namespaces(node, seen),
    }
    return {label: str(value) for label, value in values.items() if value not in {None, ""}}


def _on_host(node: Node, uid: str | None) -> str | None:
    """The host's view of a node's user, if different: by the map of its namespace (user_namespaces(7))."""
    if uid is None or not uid.isdigit() or node.init_pid is None or node.own_kernel:
        return None
    lines = (read_text(f"/proc/{node.init_pid}/uid_map") or "").splitlines()
    for first, outside, count in (map(int, line.split()) for line in lines):
        if first <= int(uid) < first + count:
            mapped = str(outside + int(uid) - first)
            return None if mapped == uid else mapped
    return None


def _conditions(seen: Mapping[str, Any]) -> dict[str, str]:
    """Conditions set by the node's kernel whose cost no counter shows."""
    values = {label: seen.get(name) for name, label in _CONDITIONS.items()} | {_MAPPINGS: _mappings(seen)}
    return {label: text[:_LONGEST_TEXT] for label, text in values.items() if isinstance(text, str) and text}


def _mappings(seen: Mapping[str, Any]) -> str | None:
    """The stopwatch's own number stands for what is put into every program."""
    count = seen.get("mappings")
    if not isinstance(count, int) or not 0 < count < _MOST_MAPPINGS:
        return None
    return str(count) if count > _FEW_MAPPINGS else f"up to {_FEW_MAPPINGS}"


def _seccomp(seen: Mapping[str, Any]) -> str | None:
    """The seccomp mode and filters; kernels before 5.9 do not count the filters."""
    mode = _SECCOMP.get(str(seen.get("seccomp")))
    count = seen.get("seccomp_filters")
    return mode if mode != "filter" or count is None else f"filter ({count})"


def _first(text: Any) -> str | None:
    words = text.split() if isinstance(text, str) else []
    return words[0] if words else None


def _namespaces(node: Node, seen: Mapping[str, Any]) -> str | None:
    """Namespaces other than the runner's; unknown on another host."""
    inside = seen.get("namespaces")
    if node.elsewhere is not None or not isinstance(inside, Mapping):
        return None
    own = [name for name, target in sorted(inside.items()) if target and target != _host_namespace(name)]
    return ", ".join(own) or "none"


@cache
def _host_namespace(name: str) -> str | None:
    """The host's namespace, in which the runner stays."""
    try:
        return str(Path(f"/proc/self/ns/{name}").readlink())
    except OSError:
        return None


def _standing(seen: Mapping[str, Any]) -> dict[str, str]:
    values = {
        **{label: seen.get(name) for name, label in _HOST_LABELS.items()},
        "scheduler": _SCHEDULERS.get(seen.get("scheduler", -1), seen.get("scheduler")),
        "I/O class": _io_class(seen.get("io_priority")),
    }
    if values[_SLACK] is not None:
        values[_SLACK] = f"{values[_SLACK]} ns"
    return {label: str(value) for label, value in values.items() if value is not None}


def _io_class(priority: Any) -> str | None:
    """The I/O class from the upper bits, its level from the lower 13."""
    if not isinstance(priority, int):
        return None
    name, level = _IO_CLASSES.get(priority >> 13, str(priority >> 13)), priority & 0x1FFF
    return f"{name}, level {level}" if name in {"real time", "best effort"} else name


def _limits(seen: Mapping[str, Any]) -> dict[str, str]:
    """Resource limits; an ordinary user's node may be held to its memory by a data limit."""
    limits = seen.get("limits")
    left_out = _NOT_COMPARED | ({"data"} if ordinary_user() else set())
    if not isinstance(limits, Mapping):
        return {}
    return {f"{_LIMIT}{name}": str(text) for name, text in limits.items() if text and name not in left_out}


def _limit(value: int) -> str:
    return "unlimited" if value < 0 else str(value)


def _path_of(node: Node) -> dict[str, str]:
    return _path(node.init_pid, node.spec.name, node.spec.weight)


def _path(pid: int | None, name: str, weight: int = 1) -> dict[str, str]:
    if pid is None:
        return {}
    return path_settings(cgroups.group_of(pid), cgroups.find_hierarchies(), name, weight)


def _expected_path(name: str) -> dict[str, str]:
    """Path of a new group below the common parent; an ordinary user's processes are all in one place anyway."""
    if ordinary_user():
        return {}
    try:
        group = cgroups.create_own_group(name)
    except NodeError:
        return {}
    try:
        return path_settings(group, cgroups.find_hierarchies(), name)
    finally:
        group.remove()
