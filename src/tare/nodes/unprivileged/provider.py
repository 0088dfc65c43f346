# SPDX-License-Identifier: Apache-2.0
"""What the providers share whose nodes root and an ordinary user can both have."""

from tare.host.privileges import ordinary_user
from tare.nodes import confined, unprivileged
from tare.nodes.provider import Node, NodeGroup, NodeSpec, Provider


class AlsoUnprivileged(Provider):
    """The half that is the same for each: root's nodes are ``confined``'s, an ordinary user's ``unprivileged``'s."""

    makes_namespace = ordinary_user()  # an ordinary user cannot join a network that was made before

    def group(self, node: Node) -> NodeGroup | None:
        return unprivileged.group(node) if ordinary_user() else super().group(node)

    def stop(self, spec: NodeSpec) -> None:
        if ordinary_user():
            unprivileged.remove(spec)
        else:
            confined.remove(spec)
