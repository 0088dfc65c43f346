# SPDX-License-Identifier: Apache-2.0
"""Nodes of an ordinary user: what root's nodes are made of, as near as it comes without root.

For the providers, where ``confined`` is for root: ``probe``, ``start``, ``enter``, ``group`` and ``remove``. What is
weaker than root's is put down as facts when the limits are checked (``tare.measure.verify_unprivileged``).
"""

import json
import os
import stat
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tare.environments import confined, layer
from tare.environments.provider import TOOLS_DIRECTORY, Node, NodeSpec, Probe
from tare.environments.unprivileged import limits, members, work
from tare.environments.unprivileged.group import UserGroup
from tare.errors import NodeError
from tare.host import process
from tare.host.user_namespaces import find_obstacle
from tare.records import NetworkKind, Storage

NETWORKS = frozenset({NetworkKind.NONE, NetworkKind.HOST, NetworkKind.DEFAULT})
"""What an ordinary user's nodes can have: a link between two of them takes rights in the host's network."""
MAKER_FILE = "layer-maker"
"""In the node's folder: what made its layer."""
_NAMESPACES = {name: f"--{name}" for name in ("user", "uts", "ipc", "net", "pid")} | {"mnt": "--mount"}
"""As proc(5) names them → as nsenter(1) does."""


def ordinary_user() -> bool:
    """Whether this process is not root's."""
    return os.geteuid() != 0


def probe() -> Probe:
    """Whether this kernel lets an ordinary user make a node at all."""
    if obstacle := find_obstacle():
        return Probe(usable=False, reason=obstacle.reason, remedy=f"{obstacle.remedy}; or run as root")
    return Probe(usable=True, version=f"{os.uname().release}, in a user namespace")


def probe_tool(argv: list[str], package: str) -> Probe:
    """The same, and a tool that prints its version in its first line."""
    found = probe()
    return confined.probe_version(argv, package) if found.usable else found


def start(spec: NodeSpec, technology: Sequence[str] = (), *, system: bool = False) -> Node:
    """Start the image's idle init under ``technology``: the argv that makes the rest; without one in the image itself.

    That argv is executed in a user and a mount namespace of the node's own, where the layer and the image's root are
    mounted; with ``system`` also, below that root, /proc, /sys, /dev and all that is bound. A technology makes a
    process-id namespace, or executes the init itself. Raises ``NodeError``.
    """
    if spec.shared_work is not None:
        raise NodeError("nodes of an ordinary user do not share a work directory; run as root")
    for name in ("layer", "root"):
        (spec.directory / name).mkdir()
    limits.establish(spec)
    first = process.start_idle(
        _first_process(spec, technology, system=system), log=spec.directory / "init.log"
    )
    work.show(spec, first)
    return Node(spec=spec, init_pid=_innermost(spec, first), facts=_facts(spec))


def _first_process(spec: NodeSpec, technology: Sequence[str], *, system: bool) -> list[str]:
    order = {
        "spec": asdict(spec),
        "argv": [*technology, f"{TOOLS_DIRECTORY}/init"],
        "in_image": not technology,
        "system": system or not technology,
        "own_network": spec.network.kind is NetworkKind.NONE,
    }
    module = "tare.environments.unprivileged.first_process"
    # -P: no module of the current folder is run.
    return [*limits.join(spec), sys.executable, "-P", "-m", module, json.dumps(order, default=str)]


def _innermost(spec: NodeSpec, first: int) -> int:
    """The init: number 1 of a process-id namespace that the technology made, else the process that was started."""
    for pid in members.members(spec.name):
        numbers = confined.inner_numbers(pid)
        if len(numbers) > 1 and numbers[-1] == 1:
            return pid
    return first


def _facts(spec: NodeSpec) -> dict[str, str]:
    maker = (spec.directory / MAKER_FILE).read_text()
    medium = "tmpfs" if spec.storage is Storage.TMPFS else "disk"
    return {"layer": f"{maker} on {medium}, in a user namespace"}


def enter(node: Node, *, in_image: bool = False) -> list[str]:
    """The argv prefix whose command starts under the node's limits, in the namespaces of its first process.

    ``in_image``: the node was started in the image itself, whose root the namespaces alone do not lead to.
    """
    if node.init_pid is None:
        raise NodeError(f"{node.spec.name} has no first process whose namespaces a command could enter")
    # Without rights over other users' ids nsenter could not become root, and is it already by the namespace's map.
    target = [
        "nsenter",
        "--target",
        str(node.init_pid),
        *_namespaces(node.init_pid),
        "--preserve-credentials",
        "--",
    ]
    # Only from inside: who is outside of a namespace may not look into a FUSE file system that was mounted there.
    root = ["chroot", str(node.spec.directory / "root")] if in_image else []
    return [*limits.hold(node.spec), *target, *root]


def _namespaces(pid: int) -> list[str]:
    """Options of nsenter(1) for the namespaces that are not this process's own."""
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
    """What holds the node, for its limits' check and its CPU time."""
    return UserGroup.of(node)


def remove(spec: NodeSpec) -> None:
    """All of the node gone: its processes, and with them its mounts, its control group and what lies on the disk."""
    members.kill(spec.name)
    process.reap_idle()
    work.forget(spec)
    held_by = limits.recall(spec).as_group()
    if held_by is not None:
        held_by.remove()
    _make_removable(spec.directory)
    layer.remove(spec)


def _make_removable(directory: Path) -> None:
    """An ordinary user must be able to read a folder to remove it; overlayfs leaves one that nobody can (mode 000)."""
    for folder, names, _ in os.walk(directory):
        for name in names:
            path = Path(folder, name)
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | stat.S_IRWXU)
