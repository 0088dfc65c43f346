# SPDX-License-Identifier: Apache-2.0
"""The networks of nodes: a switch in a namespace of its own, one link a node, nothing of it in the host's network."""

import ipaddress
from collections.abc import Sequence
from pathlib import Path

from tare.environments.provider import Node, NodeNetwork, NodeSpec, Provider
from tare.errors import NodeError
from tare.host import mounts
from tare.network import namespace
from tare.records import NetworkKind

SUBNET = ipaddress.ip_network("198.18.0.0/16")
"""RFC 2544's range for benchmarks, which no real network uses."""


def plan_networks(
    kind: NetworkKind, directories: Sequence[Path], rto_min_s: float | None
) -> tuple[NodeNetwork, ...]:
    """One plan for each node of a trial, in order; files lie in the nodes' own folders, the switch's in the first's."""
    if kind in {NetworkKind.HOST, NetworkKind.DEFAULT}:
        return tuple(NodeNetwork(kind=kind) for _ in directories)
    linked = kind is not NetworkKind.NONE
    return tuple(
        NodeNetwork(
            kind=kind,
            namespace=directory / "network",
            switch=directories[0] / "switch" if linked else None,
            address=str(SUBNET[10 + index]) if linked else None,
            rto_min_s=rto_min_s,
        )
        for index, directory in enumerate(directories)
    )


def create(spec: NodeSpec) -> None:
    """Make the node's namespace with its link, and the switch before the first; nothing for the other kinds."""
    network = spec.network
    if network.namespace is None:
        return
    namespace.make(network.namespace)
    if network.switch is not None:
        raise NodeError("not written yet")


def adopt(node: Node) -> None:
    """Give the link to the namespace that the technology made for a node that runs already."""
    if node.spec.network.switch is not None:
        raise NodeError("not written yet")


def remove(spec: NodeSpec) -> None:
    """Let go of the node's namespace, and of the switch if it is in this node's folder; harmless when gone."""
    for name in ("network", "switch"):
        mounts.unmount_below(spec.directory / name)
        (spec.directory / name).unlink(missing_ok=True)


def name_nodes(nodes: Sequence[Node], provider: Provider) -> None:
    """Write every node's /etc/hosts, so that each name is resolved in each node."""


def meeting_place(nodes: Sequence[Node]) -> str:
    """Where these nodes reach each other: an address range in CIDR notation, or an interface's name."""
    return str(SUBNET)
