# SPDX-License-Identifier: Apache-2.0
"""Any technology, through the commands that a campaign file gives for it (docs/custom-environment.md)."""

import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from tare.environments import custom_commands
from tare.errors import NodeError
from tare.host import cgroups, process
from tare.host.facts import online_processors
from tare.host.told import process_id
from tare.nodes import confined, layer, root_mounts
from tare.nodes.provider import MADE_NETWORKS, TOOLS_DIRECTORY, Node, NodeSpec, Probe, Provider
from tare.records import NetworkKind, OptionValue

_NO_LIMIT_BYTE = 1 << 60
_PROBE_LIMIT_S = 5.0
_PREPARE_LIMIT_S = 600.0
_TOOL_LIMIT_S = 120.0
_ENTER_LIMIT_S = 60.0
_TRY = (f"{TOOLS_DIRECTORY}/burn", "1")
"""A command that every node can run."""
_INTO_LOG = ("sh", "-c", 'exec "$@" >"$0" 2>&1')
"""A daemon that keeps its output open would keep its reader waiting."""


class Custom(Provider):
    technology = "custom"
    networks = MADE_NETWORKS | {NetworkKind.HOST, NetworkKind.DEFAULT}
    bounds_processes = False
    device_refusal = "its commands are yours: pass the device in them, and leave devices out"
    option_names: Mapping[str, str] = custom_commands.OPTION_NAMES

    def __init__(self, options: Mapping[str, OptionValue] | None = None) -> None:
        """Keep the commands for ``probe`` and ``prepare``; nodes have their own."""
        self._options = options

    def check_options(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        return custom_commands.complaints(options)

    def configured(self, options: Mapping[str, OptionValue]) -> Self:
        return type(self)(options)

    def probe(self) -> Probe:
        if self._options is None:
            reason = "its commands are in a campaign file, and tried with it"
            return Probe(usable=False, reason=reason, remedy=f"write them as {custom_commands.PAGE} shows")
        probe = confined.probe_root()
        return _probe_tool(self._options) if probe.usable else probe

    def prepare(self, image_root: Path, image_digest: str) -> None:
        argv = custom_commands.for_image(self._options or {}, "prepare", str(image_root), image_digest)
        if argv:
            process.run_checked(argv, timeout_s=_PREPARE_LIMIT_S)

    def start(self, spec: NodeSpec) -> Node:
        if complaints := self.check_options(spec.options):
            raise NodeError("; ".join(f"{option}: {words}" for option, words in complaints.items()))
        if spec.network.switch is not None and not custom_commands.joins_network(spec):
            raise NodeError(
                f"network {spec.network.kind} needs a start command that joins {{network_namespace}}"
            )
        layer.prepare(spec)
        root = layer.mount_root(spec)
        if spec.options.get("system"):
            root_mounts.mount_system(spec, root)
        root_mounts.mount_shared(spec, root)
        _start_tool(spec)
        node = Node(spec=spec, init_pid=_first_process(spec))
        _wait_until_entered(self.prefix(node))
        _check_network(node)
        return node

    def prefix(self, node: Node) -> list[str]:
        enter = custom_commands.for_node(node.spec, "enter", node.init_pid)
        if node.spec.options.get("control_group") and node.init_pid is not None:
            return [*confined.join(node.spec, cgroups.group_of(node.init_pid)), *enter]
        return enter

    def helpers(self, node: Node) -> list[int]:
        """The processes of a start command that stays, outside the group that holds the node."""
        if not node.spec.options.get("foreground") or node.init_pid is None:
            return []
        counted = cgroups.group_of(node.init_pid).processes()
        own = cgroups.own_group(node.spec.name).processes()
        return [pid for pid in own if pid not in counted]

    def stop(self, spec: NodeSpec) -> None:
        """A failing stop command is an error only if the node still exists: it may have been stopped before."""
        if (spec.directory / "layer").exists():
            argv = custom_commands.for_node(spec, "stop")
            problem = _problem(argv) if argv else None
            cgroups.named_groups(f"{cgroups.PARENT}/{spec.name}").remove()
            if problem is not None and _runs(spec):
                raise NodeError(f"{spec.name} is still there after its stop: {problem}")
        confined.remove(spec)


def _probe_tool(options: Mapping[str, OptionValue]) -> Probe:
    argv = custom_commands.words(options, "probe")
    program = next(iter(argv or custom_commands.words(options, "start")), "")
    if not _is_there(program):
        remedy = "install it, or correct its name in the campaign file"
        return Probe(usable=False, reason=f"there is no program {program!r} on this host", remedy=remedy)
    if not argv:
        return Probe(usable=True)
    done = process.run(argv, timeout_s=_PROBE_LIMIT_S)
    if done.code != 0:
        reason = f"{program} ended with {done.code}: {done.last_words}"
        return Probe(usable=False, reason=reason, remedy="correct what it says, or the campaign's probe")
    return Probe(usable=True, version=next(iter(done.stdout.strip().splitlines()), ""))


def _is_there(program: str) -> bool:
    return shutil.which(program, path=process.tool_environment()["PATH"]) is not None


def _start_tool(spec: NodeSpec) -> None:
    group, log = _group(spec), spec.directory / "start.log"
    argv = [
        *([] if group is None else confined.join(spec, group)),
        *custom_commands.for_node(spec, "start"),
    ]
    if spec.options.get("foreground"):
        ready = str(spec.options.get("ready", "READY")).encode()
        process.start_idle(argv, log=log, ready=ready, timeout_s=_ENTER_LIMIT_S)
        return
    done = process.run([*_INTO_LOG, str(log), *argv], timeout_s=_TOOL_LIMIT_S, leaves_daemon=True)
    if done.code != 0:
        said = " / ".join(log.read_text(errors="replace").strip().splitlines()[-3:])
        raise NodeError(f"the start command ended with {done.code}: {said or done.last_words}")


def _group(spec: NodeSpec) -> cgroups.Group | None:
    """The group in which the start command begins; by it a command that stays is found even after a ``kill -9``."""
    if spec.options.get("control_group"):
        return confined.create_group(spec)
    if not spec.options.get("foreground"):
        return None
    group = cgroups.create_own_group(spec.name)
    group.limit(online_processors(), _NO_LIMIT_BYTE, None)
    return group


def _first_process(spec: NodeSpec) -> int | None:
    """The process that the technology names, else one found in our control group; ``None`` if neither is known."""
    if argv := custom_commands.for_node(spec, "init_pid"):
        said = process.run_checked(argv).stdout.strip()
        return process_id(said, "the init_pid command")
    if not spec.options.get("control_group"):
        return None
    group = cgroups.own_group(spec.name)
    try:
        return confined.first_process(group)
    except NodeError:
        # Without a PID namespace any process will do: all share the group and the other namespaces.
        return next(iter(group.processes()), None)


def _wait_until_entered(prefix: list[str]) -> None:
    """Wait for a start command that returns before the node is up."""
    deadline = time.monotonic() + _ENTER_LIMIT_S
    while (problem := _problem([*prefix, *_TRY])) is not None:
        if time.monotonic() > deadline:
            raise NodeError(f"the node cannot be entered {_ENTER_LIMIT_S:.0f} s after its start: {problem}")
        time.sleep(0.05)


def _problem(argv: list[str]) -> str | None:
    """What went wrong with a command; ``None``: nothing."""
    try:
        done = process.run(argv, timeout_s=_TOOL_LIMIT_S)
    except NodeError as error:
        return str(error)
    return None if done.code == 0 else f"{argv[0]} ended with {done.code}: {done.last_words}"


def _runs(spec: NodeSpec) -> bool:
    """Whether the technology says so, or else the node can be entered; a command that hangs counts as yes."""
    argv = custom_commands.for_node(spec, "is_running")
    try:
        argv = argv or [*custom_commands.for_node(spec, "enter", _first_process(spec)), *_TRY]
    except NodeError:  # its first process is no longer known
        return False
    if not _is_there(argv[0]):
        return False
    try:
        return process.run(argv, timeout_s=_TOOL_LIMIT_S).code == 0
    except NodeError:
        return True


def _check_network(node: Node) -> None:
    """``NodeError`` if the node is not in the intended network; not checked without a first process."""
    if node.init_pid is None:
        return
    network, on_hosts = node.spec.network, _has_network(node.init_pid, Path("/proc/self/ns/net"))
    if network.kind is NetworkKind.HOST:
        joined = on_hosts
    elif network.namespace is None:
        joined = True
    elif network.switch is None:  # alone: any separate network will do
        joined = not on_hosts
    else:
        joined = _has_network(node.init_pid, network.namespace)
    if not joined:
        place = "the host's" if on_hosts else "another"
        raise NodeError(f"the start command did not give the node the network {network.kind}: it has {place}")


def _has_network(pid: int, namespace: Path) -> bool:
    try:
        return Path(f"/proc/{pid}/ns/net").samefile(namespace)
    except OSError as error:
        raise NodeError(
            f"cannot see the network of process {pid}: {error.strerror}; has the node ended?"
        ) from error
