# SPDX-License-Identifier: Apache-2.0
"""Code shared by the environments whose control groups Tare manages: native, bubblewrap, systemd-nspawn.

The node's processes start in Tare's own group and then become the technology's. Commands are children of the node's
first process: one entered by nsenter(1) would have its namespaces, but the runner's capabilities and no filter.
"""

import os
from pathlib import Path

from tare.errors import NodeError
from tare.host import cgroups, process
from tare.host.distribution import to_install
from tare.host.kernel_files import inner_numbers
from tare.host.privileges import ordinary_user
from tare.nodes import layer
from tare.nodes.provider import TOOLS_DIRECTORY, WORK_DIRECTORY, Node, NodeSpec, Probe

_PROBE_LIMIT_S = 5.0


def probe_root() -> Probe:
    """Check for root and control groups, which every confined environment needs."""
    if ordinary_user():
        return Probe(usable=False, reason="needs root for mounts and control groups", remedy="run as root")
    try:
        cgroups.find_hierarchies()
    except NodeError as error:
        return Probe(usable=False, reason=str(error), remedy="mount the control group file systems")
    return Probe(usable=True, version=os.uname().release)


def probe_tool(argv: list[str], package: str) -> Probe:
    """Check for root, control groups, and a tool that prints its version on its first line."""
    probe = probe_root()
    return probe_version(argv, package) if probe.usable else probe


def probe_version(argv: list[str], package: str) -> Probe:
    """Check that a tool is installed and prints its version on its first line."""
    try:
        done = process.run(argv, timeout_s=_PROBE_LIMIT_S)
    except NodeError as error:
        return Probe(usable=False, reason=str(error), remedy=to_install(package))
    if done.code != 0:
        return Probe(
            usable=False, reason=f"{argv[0]} fails: {done.last_words}", remedy=f"reinstall {package}"
        )
    return Probe(usable=True, version=done.stdout.splitlines()[0].strip() if done.stdout else "")


def create_group(spec: NodeSpec) -> cgroups.Group:
    group = cgroups.create_own_group(spec.name)
    group.limit(spec.processors, spec.memory_byte, spec.cpu_quota, spec.bounds.processes)
    if spec.weight > 1:
        group.weigh(spec.weight)
    return group


def start(spec: NodeSpec, technology: list[str], network: Path | None = None) -> Node:
    """Start the image's idle init in Tare's group, under ``technology``: the argv that creates the namespaces.

    With ``network`` the technology itself runs in the network namespace that this file holds.
    """
    layer.prepare(spec)
    layer.mount_root(spec)
    group = create_group(spec)
    argv = [*begin(spec, group, network), *technology, *attending_init(spec)]
    process.start_idle(argv, log=spec.directory / "init.log")
    withdraw_socket(spec)
    return Node(spec=spec, init_pid=first_process(group))


def join(spec: NodeSpec, group: cgroups.Group, network: Path | None = None) -> list[str]:
    """The argv prefix that starts a command inside the node's control group; a static program of the image.

    With ``network`` the command also starts in the network namespace that this file holds.
    """
    return _join(spec, group.process_files, network)


def begin(spec: NodeSpec, group: cgroups.Group, network: Path | None = None) -> list[str]:
    """The same for a node's first process, about 7 ms faster: it may be a child of the process that is started.

    Moving into a group means waiting for the kernel; see the image's ``join``. Commands are moved anyway, so that
    ending the started process ends the command.
    """
    return _join(spec, group.ways_in, network)


def _join(spec: NodeSpec, ways: list[str], network: Path | None) -> list[str]:
    held = [] if network is None else [f"--net={network}"]
    return [f"{spec.image_root}{TOOLS_DIRECTORY}/join", *ways, *held, "--"]


def join_network(spec: NodeSpec) -> list[str]:
    """The argv prefix that gives a command the node's network; empty when the node uses the host's.

    Uses nsenter(1), since ``ip netns exec`` would mount another /sys, without control groups.
    """
    return [] if spec.network.namespace is None else ["nsenter", f"--net={spec.network.namespace}", "--"]


def first_process(group: cgroups.Group) -> int:
    """The process of the group that is number 1 in a PID namespace of its own (proc(5), NSpid)."""
    for hierarchies in (1, None):
        for pid in group.processes(hierarchies):
            numbers = inner_numbers(pid)
            if len(numbers) > 1 and numbers[-1] == 1:
                return pid
    raise NodeError("the node's first process is not in its control group; it ended or escaped")


def only_process(group: cgroups.Group) -> int:
    """The node's first process where the node has no PID namespace, as long as nothing has entered the node."""
    pids = group.processes(1)
    if len(pids) != 1:
        raise NodeError("the node's first process is not alone in its control group; it ended or escaped")
    return pids[0]


def remove(spec: NodeSpec) -> None:
    cgroups.named_groups(f"{cgroups.PARENT}/{spec.name}").remove()
    layer.remove(spec)
    process.reap_idle()  # last: a join outside the group ends a moment after its child


def attending_init(spec: NodeSpec) -> list[str]:
    """The argv of the idle init that starts commands: it creates its socket where the host can see it."""
    return [f"{TOOLS_DIRECTORY}/init", "attend", f"{WORK_DIRECTORY}/{_socket(spec)}"]


def withdraw_socket(spec: NodeSpec) -> None:
    """Move the socket out of the node's sight, so that no command in the node can replace it."""
    try:
        (spec.work / _socket(spec)).rename(spec.work / ".." / _socket(spec))
    except OSError as error:
        raise NodeError(f"the node's first process made no socket to enter by: {error.strerror}") from error


def enter_attended(spec: NodeSpec) -> list[str]:
    """The argv prefix whose command the node's first process starts.

    A command entered by nsenter(1) has the node's namespaces, but the runner's capabilities and no system-call
    filter. A child of the first process has everything that the technology gave its payload, and nothing else.
    """
    return [f"{spec.image_root}{TOOLS_DIRECTORY}/enter", f"{spec.work}/../{_socket(spec)}", "--"]


def _socket(spec: NodeSpec) -> str:
    return f".{spec.name}"
