# SPDX-License-Identifier: Apache-2.0
"""Nodes of an ordinary user: built like root's nodes, as closely as possible without root.

For providers, as ``confined`` is for root: ``probe``, ``start``, ``enter``, ``group`` and ``remove``. Whatever is
weaker than for root is recorded as facts when the limits are checked (``tare.measure.verify_unprivileged``).
"""

import os
from collections.abc import Sequence
from pathlib import Path

from tare.errors import NodeError
from tare.host import process
from tare.host.kernel_files import inner_numbers
from tare.host.privileges import ordinary_user
from tare.host.told import process_id
from tare.host.user_namespaces import find_obstacle
from tare.nodes import confined, layer
from tare.nodes.provider import TOOLS_DIRECTORY, Node, NodeGroup, NodeSpec, Probe, Provider
from tare.nodes.unprivileged import limits, members
from tare.nodes.unprivileged.group import UserGroup
from tare.nodes.unprivileged.start_order import KEEPER_FILE, MAKER_FILE, TECHNOLOGY_FILE, StartOrder
from tare.records import NetworkKind, Storage

NETWORKS = frozenset({NetworkKind.NONE, NetworkKind.HOST, NetworkKind.DEFAULT})
"""The networks of an ordinary user's nodes: a link between two needs rights in the host's network."""
_NAMESPACES = {name: f"--{name}" for name in ("user", "uts", "ipc", "net", "pid")} | {"mnt": "--mount"}
"""As proc(5) names them → as nsenter(1) does."""
_open: dict[str, int] = {}


def probe() -> Probe:
    """Check whether this kernel lets an ordinary user make a node at all."""
    if obstacle := find_obstacle():
        return Probe(usable=False, reason=obstacle.reason, remedy=f"{obstacle.remedy}; or run as root")
    return Probe(usable=True, version=f"{os.uname().release}, in a user namespace")


def probe_tool(argv: list[str], package: str) -> Probe:
    """The same, and check for a tool that prints its version on its first line."""
    outcome = probe()
    return confined.probe_version(argv, package) if outcome.usable else outcome


def start(
    spec: NodeSpec,
    technology: Sequence[str] = (),
    *,
    system: bool = False,
    again: Path | None = None,
    limits_memory: bool = False,
    attends: bool = False,
    of_host: bool = False,
) -> Node:
    """Start the image's idle init under ``technology``: the argv that makes the rest; empty: in the image itself.

    The argv is executed in a user and a mount namespace of the node, where the layer and the image's root are mounted;
    with ``system`` also, below that root, /proc, /sys, /dev and everything bound; and the root once more at ``again``.
    A technology makes a PID namespace, or becomes the init itself. With ``limits_memory`` it sets the nodes' processes
    an RLIMIT_DATA (``limits.data_limit_byte``) and is not limited itself. With ``attends`` the init starts the node's
    commands (``enter_attended``). With ``of_host`` the root has the host's own files. Raises ``NodeError``.
    """
    if (
        spec.shared_work is not None and spec.shared_work.is_symlink()
    ):  # it is in the other's own mount namespace
        raise NodeError("nodes of an ordinary user on one host do not share a work directory; run as root")
    for name in ("layer", "root"):
        (spec.directory / name).mkdir()
    limits.establish(spec)
    order = StartOrder(
        argv=(*technology, *(confined.attending_init(spec) if attends else [f"{TOOLS_DIRECTORY}/init"])),
        in_image=not technology,
        system=system or not technology,
        own_network=spec.network.kind is NetworkKind.NONE,
        data_limit_byte=None if limits_memory else limits.data_limit_byte(spec),
        again=again,
        of_host=of_host,
    )
    argv = [*limits.join(spec), *order.command(spec)]
    first = process.start_idle(argv, log=spec.directory / "init.log")
    show_work(spec, first)
    if attends:
        confined.withdraw_socket(spec)
    return Node(spec=spec, init_pid=_innermost(spec, first), facts=_facts(spec))


def _innermost(spec: NodeSpec, first: int) -> int:
    """The init: number 1 of a PID namespace that the technology made, else what the technology became."""
    for pid in members.members(spec.name):
        numbers = inner_numbers(pid)
        if len(numbers) > 1 and numbers[-1] == 1:
            return pid
    noted = spec.directory / TECHNOLOGY_FILE
    return process_id(noted.read_text(), str(noted)) if noted.exists() else first


def _facts(spec: NodeSpec) -> dict[str, str]:
    maker = (spec.directory / MAKER_FILE).read_text()
    medium = "tmpfs" if spec.storage is Storage.TMPFS else "disk"
    return {"layer": f"{maker} on {medium}, in a user namespace"}


def enter(node: Node) -> list[str]:
    """The argv prefix that starts a command under the node's limits, in the namespaces of its init."""
    return _enter(node.spec, node.init_pid)


def enter_image(node: Node) -> list[str]:
    """The same for a node started in the image itself, to whose root the namespaces do not lead."""
    # Not by --root: a process outside a namespace may not look into a FUSE file system mounted inside it.
    return [*enter(node), "chroot", str(node.spec.directory / "root")]


def enter_outside(node: Node, *, limits_memory: bool = False) -> list[str]:
    """The same, but where the technology was started, for a technology that enters the node from there.

    ``limits_memory`` as in ``start``.
    """
    try:
        keeper = process_id((node.spec.directory / KEEPER_FILE).read_text(), KEEPER_FILE)
    except OSError as error:
        raise NodeError(f"{node.spec.name} has no process that keeps its namespaces") from error
    return _enter(node.spec, keeper, memory=not limits_memory)


def _enter(spec: NodeSpec, pid: int | None, *, memory: bool = True) -> list[str]:
    if pid is None:
        raise NodeError(f"{spec.name} has no first process whose namespaces a command could enter")
    # Without rights over other users' ids nsenter could not become root, and by the namespace's map it already is.
    way = ["nsenter", "--target", str(pid), *_namespaces(pid), "--preserve-credentials", "--"]
    return [*limits.hold(spec, memory=memory), *way]


def _namespaces(pid: int) -> list[str]:
    """Options of nsenter(1) for the namespaces that differ from this process's own."""
    try:
        return [
            option
            for name, option in _NAMESPACES.items()
            if _namespace(pid, name) != _namespace("self", name)
        ]
    except OSError as error:
        raise NodeError(f"process {pid}, the node's first, has ended") from error


def _namespace(pid: int | str, name: str) -> str:
    return str(Path(f"/proc/{pid}/ns/{name}").readlink())


def group(node: Node) -> UserGroup:
    """What holds the node, for checking its limits and counting its CPU time."""
    return UserGroup.of(node)


def remove(spec: NodeSpec) -> None:
    """Remove the whole node: its processes, and with them its mounts, its control group and its files on disk."""
    members.kill(spec.name)
    process.reap_idle()
    forget_work(spec)
    held_by = limits.recall(spec).as_group()
    if held_by is not None:
        held_by.remove()
    layer.remove(spec)


def show_work(spec: NodeSpec, first_pid: int) -> None:
    """Point ``spec.work`` to the working directory of the node's first process; on disk, or shared, it already exists.

    The runner keeps the directory open, and ``NodeSpec.work`` leads there through the descriptor. So the node's
    files stay readable until the node is stopped, even when its processes are dead and their namespaces gone.
    """
    if spec.storage is Storage.DISK or spec.shared_work is not None:
        return
    try:
        descriptor = os.open(f"/proc/{first_pid}/cwd", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        _open[spec.name] = descriptor
        spec.work.symlink_to(f"/proc/{os.getpid()}/fd/{descriptor}")
    except OSError as error:
        raise NodeError(f"cannot see the work directory of {spec.name}: {error.strerror}") from error


def forget_work(spec: NodeSpec) -> None:
    """Close it, if this is the runner that held it."""
    descriptor = _open.pop(spec.name, None)
    if descriptor is not None:
        os.close(descriptor)


class AlsoUnprivileged(Provider):
    """The half that all of them share: root's nodes use ``confined``, an ordinary user's use ``unprivileged``."""

    makes_namespace = ordinary_user()  # an ordinary user cannot join a network made beforehand

    def group(self, node: Node) -> NodeGroup | None:
        return group(node) if ordinary_user() else super().group(node)

    def stop(self, spec: NodeSpec) -> None:
        if ordinary_user():
            remove(spec)
        else:
            confined.remove(spec)
