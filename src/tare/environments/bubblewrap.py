# SPDX-License-Identifier: Apache-2.0
"""Bubblewrap: bwrap(1) with separate namespaces for processes, IPC and host name.

For an ordinary user also with a user namespace, which is how people use bwrap without root.
"""

from collections.abc import Mapping

from tare.host.privileges import ordinary_user
from tare.nodes import confined, layer, unprivileged
from tare.nodes.provider import MADE_NETWORKS, WORK_DIRECTORY, Node, NodeSpec, Probe
from tare.nodes.unprivileged import AlsoUnprivileged
from tare.records import NetworkKind

_VERSION = ["bwrap", "--version"]
_PACKAGE = "bubblewrap"


class Bubblewrap(AlsoUnprivileged):
    technology = "bubblewrap"
    networks = MADE_NETWORKS | {NetworkKind.HOST, NetworkKind.DEFAULT}
    device_refusal = None
    option_names: Mapping[str, str] = {}

    def probe(self) -> Probe:
        if ordinary_user():
            return unprivileged.probe_tool(_VERSION, _PACKAGE)
        return confined.probe_tool(_VERSION, _PACKAGE)

    def start(self, spec: NodeSpec) -> Node:
        if ordinary_user():
            return unprivileged.start(spec, ["bwrap", *_user_options(spec), *_options(spec)], attends=True)
        return confined.start(spec, ["bwrap", *_options(spec)], spec.network.namespace)

    def prefix(self, node: Node) -> list[str]:
        return confined.enter_attended(node.spec)


def _user_options(spec: NodeSpec) -> list[str]:
    """Let bwrap bring up the loopback of a separate network."""
    network = ["--unshare-net"] if spec.network.kind is NetworkKind.NONE else []
    return ["--unshare-user", "--uid", "0", "--gid", "0", *network]


def _options(spec: NodeSpec) -> list[str]:
    return [
        *("--bind", str(spec.directory / "root"), "/"),
        *("--dev", "/dev", "--size", str(spec.shm_byte), "--perms", "1777", "--tmpfs", "/dev/shm"),
        *_devices(spec),
        *("--proc", "/proc", "--ro-bind", "/sys", "/sys"),
        *("--bind", str(spec.work), WORK_DIRECTORY),
        *_binds(spec),
        *("--unshare-pid", "--unshare-ipc", "--unshare-uts"),
        *("--hostname", spec.name, "--as-pid-1", "--clearenv"),
    ]


def _devices(spec: NodeSpec) -> list[str]:
    """The devices in folders that every user may enter: those that bwrap makes by itself are closed."""
    folders = {folder for device in spec.devices for folder in device.path.parents[:-2]}
    parts = [word for folder in sorted(folders) for word in ("--perms", "755", "--dir", str(folder))]
    for device in spec.devices:
        parts += ["--dev-bind", str(device.path), str(device.path)]
    return parts


def _binds(spec: NodeSpec) -> list[str]:
    parts: list[str] = []
    for source, bound in layer.bound_sources(spec):
        parts += ["--bind" if bound.writable else "--ro-bind", str(source), str(bound.path)]
    return parts
