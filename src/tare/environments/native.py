# SPDX-License-Identifier: Apache-2.0
"""Native: the host's own kernel, devices, network and process ids, in the image by chroot(2), under the same limits.

``chroot`` is the same as a separate environment: it follows the given layout and network, where native is always one
node on the host's network. The difference between the two is the cost of a network namespace alone.

An ordinary user may mount or change the root directory only in a user namespace, and so gets one.
"""

from collections.abc import Mapping

from tare.host import process
from tare.host.privileges import ordinary_user
from tare.nodes import confined, layer, root_mounts, unprivileged
from tare.nodes.provider import MADE_NETWORKS, Node, NodeSpec, Probe, Shared
from tare.nodes.unprivileged import AlsoUnprivileged
from tare.records import NATIVE, NetworkKind


class Native(AlsoUnprivileged):
    technology = NATIVE
    device_refusal = None
    option_names: Mapping[str, str] = {}
    networks = frozenset({NetworkKind.HOST})
    shares = frozenset({Shared.HOST_NAME, Shared.PROCESS_IDS})

    def probe(self) -> Probe:
        return unprivileged.probe() if ordinary_user() else confined.probe_root()

    def start(self, spec: NodeSpec) -> Node:
        if ordinary_user():
            return unprivileged.start(spec)
        layer.prepare(spec)
        root = layer.mount_root(spec)
        root_mounts.mount_system(spec, root)
        root_mounts.mount_shared(spec, root)
        group = confined.create_group(spec)
        held = confined.begin(spec, group, spec.network.namespace)
        process.start_idle(
            [*held, "chroot", str(root), *confined.attending_init(spec)], log=spec.directory / "init.log"
        )
        confined.withdraw_socket(spec)
        return Node(spec=spec, init_pid=confined.only_process(group))

    def prefix(self, node: Node) -> list[str]:
        """A command is a child of the node's first process, as in a container.

        It is in the control groups from its first instruction.
        """
        if ordinary_user():
            return unprivileged.enter_image(node)
        return confined.enter_attended(node.spec)


class Chroot(Native):
    technology = "chroot"
    networks = MADE_NETWORKS | {NetworkKind.HOST, NetworkKind.DEFAULT}
