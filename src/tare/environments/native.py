# SPDX-License-Identifier: Apache-2.0
"""Native: the host's own kernel, devices, network and process ids, in the image by chroot(2), under the same limits.

``chroot`` is the same as an environment of its own: it follows the layout and the network that it is given, where
native is always one node on the host's network. Between the two lies what a network namespace alone costs.

An ordinary user may neither mount nor change the root directory but in a user namespace: theirs is in one.
"""

from collections.abc import Mapping

from tare.environments import confined, layer, root_mounts, unprivileged
from tare.environments.provider import (
    TOOLS_DIRECTORY,
    Node,
    NodeSpec,
    Probe,
    Shared,
)
from tare.environments.unprivileged.provider import AlsoUnprivileged
from tare.host import cgroups, process
from tare.records import NATIVE, NetworkKind


class Native(AlsoUnprivileged):
    technology = NATIVE
    option_names: Mapping[str, str] = {}
    networks = frozenset({NetworkKind.HOST})
    shares = frozenset({Shared.HOST_NAME, Shared.PROCESS_IDS})

    def probe(self) -> Probe:
        return unprivileged.probe() if unprivileged.ordinary_user() else confined.probe_root()

    def start(self, spec: NodeSpec) -> Node:
        if unprivileged.ordinary_user():
            return unprivileged.start(spec)
        layer.prepare(spec)
        root = layer.mount_root(spec)
        root_mounts.mount_system(spec, root)
        root_mounts.mount_shared(spec, root)
        group = confined.create_group(spec)
        argv = [*_enter(spec, group), f"{TOOLS_DIRECTORY}/init"]
        return Node(spec=spec, init_pid=process.start_idle(argv, log=spec.directory / "init.log"))

    def prefix(self, node: Node) -> list[str]:
        if unprivileged.ordinary_user():
            return unprivileged.enter_image(node)
        return _enter(node.spec, cgroups.own_group(node.spec.name))


class Chroot(Native):
    technology = "chroot"
    networks = frozenset(NetworkKind)


def _enter(spec: NodeSpec, group: cgroups.Group) -> list[str]:
    root = str(spec.directory / "root")
    return [*confined.join(spec, group), *confined.join_network(spec), "chroot", root]
