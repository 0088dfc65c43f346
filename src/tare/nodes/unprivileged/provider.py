# SPDX-License-Identifier: Apache-2.0
"""Code shared by providers that work both for root and for an ordinary user."""

from tare.host.privileges import ordinary_user
from tare.nodes import confined, unprivileged
from tare.nodes.provider import Node, NodeGroup, NodeSpec, Provider


class AlsoUnprivileged(Provider):
    """The half that all of them share: root's nodes use ``confined``, an ordinary user's use ``unprivileged``."""

    makes_namespace = ordinary_user()  # an ordinary user cannot join a network made beforehand

    def group(self, node: Node) -> NodeGroup | None:
        return unprivileged.group(node) if ordinary_user() else super().group(node)

    def stop(self, spec: NodeSpec) -> None:
        if ordinary_user():
            unprivileged.remove(spec)
        else:
            confined.remove(spec)
