# SPDX-License-Identifier: Apache-2.0
"""The networks of nodes: a switch in its own namespace, one link per node, nothing of it in the host's network."""

from pathlib import Path

from tare.errors import NodeError
from tare.host import mounts
from tare.host import network_namespace as namespace
from tare.network import links
from tare.network.addresses import address_within, describe, launcher_namespace, meeting_place, node_address
from tare.network.names import name_nodes
from tare.network.plan import SUBNET, plan_networks
from tare.network.taps import make_tap, remove_tap
from tare.nodes.provider import Node, NodeSpec

__all__ = [
    "SUBNET",
    "address_within",
    "adopt",
    "create",
    "describe",
    "launcher_namespace",
    "meeting_place",
    "name_nodes",
    "node_address",
    "plan_networks",
    "remove",
]

_TAP = "tap"
"""A file in the node's folder that exists from the moment when its tap device may exist."""


def create(spec: NodeSpec, takes_tap: bool = False) -> None:
    """Make the node's namespace with its link, and the switch before the first; nothing for the other kinds.

    A machine that ``takes_tap`` gets no namespace where it has a link: its monitor works in the switch's. ``NodeError``
    gives the kernel's reason; ``remove`` then removes what was already made.
    """
    if takes_tap and spec.network.switch is not None:
        _make_switch(spec, spec.network.switch)
        (spec.directory / _TAP).touch()
        make_tap(spec.network.tap, spec.network.switch)
    elif spec.network.namespace is not None:
        namespace.make(spec.network.namespace)
        _connect(spec)


def adopt(node: Node) -> None:
    """Hold the namespace that the technology made for a running node, and give it its link.

    A node without a link keeps its namespace to itself.
    """
    network = node.spec.network
    if network.switch is None or network.namespace is None:
        return
    if node.init_pid is None:
        raise NodeError(f"{node.spec.name} has no first process whose network could be connected")
    namespace.hold(node.init_pid, network.namespace)
    _connect(node.spec)


def remove(spec: NodeSpec) -> None:
    """Release the node's namespace, and the switch if it is in this node's folder; harmless when gone.

    A namespace ends, and its links with it, when nothing holds it any more; the kernel does so by itself a little later
    (network_namespaces(7)). Removing the file also ends the copies of its mount in other mount namespaces.
    """
    tap = spec.directory / _TAP
    if tap.exists() and spec.network.switch is not None:
        remove_tap(spec.network.tap, spec.network.switch)
        tap.unlink(missing_ok=True)
    for name in ("network", "switch"):
        mounts.unmount(spec.directory / name)
        (spec.directory / name).unlink(missing_ok=True)


def _connect(spec: NodeSpec) -> None:
    network = spec.network
    if network.switch is None or network.namespace is None:
        return
    _make_switch(spec, network.switch)
    links.connect(network, network.switch, network.namespace)


def _make_switch(spec: NodeSpec, switch: Path) -> None:
    """Make it in the first node's folder."""
    if switch.parent == spec.directory:
        links.make_switch(switch, spec.network.kind)
