# SPDX-License-Identifier: Apache-2.0
"""Bubblewrap: bwrap(1) as root, with namespaces of its own for processes, IPC and host name."""

from collections.abc import Mapping

from tare.environments import confined, layer
from tare.environments.provider import WORK_DIRECTORY, Node, NodeSpec, Probe, Provider


class Bubblewrap(Provider):
    technology = "bubblewrap"
    option_names: Mapping[str, str] = {}

    def probe(self) -> Probe:
        return confined.probe_tool(["bwrap", "--version"], "bubblewrap")

    def start(self, spec: NodeSpec) -> Node:
        return confined.start(spec, _bwrap(spec))

    def prefix(self, node: Node) -> list[str]:
        return confined.enter(node)

    def stop(self, spec: NodeSpec) -> None:
        confined.remove(spec)


def _bwrap(spec: NodeSpec) -> list[str]:
    return [
        *confined.join_network(spec),
        "bwrap",
        *("--bind", str(spec.directory / "root"), "/"),
        *("--dev", "/dev", "--size", str(spec.shm_byte), "--perms", "1777", "--tmpfs", "/dev/shm"),
        *("--proc", "/proc", "--ro-bind", "/sys", "/sys"),
        *("--bind", str(spec.work), WORK_DIRECTORY),
        *_binds(spec),
        *("--unshare-pid", "--unshare-ipc", "--unshare-uts"),
        *("--hostname", spec.name, "--as-pid-1", "--clearenv", "--cap-add", "ALL"),
    ]


def _binds(spec: NodeSpec) -> list[str]:
    parts: list[str] = []
    for source, bound in layer.bound_sources(spec):
        parts += ["--bind" if bound.writable else "--ro-bind", str(source), str(bound.path)]
    return parts
