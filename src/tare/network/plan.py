# SPDX-License-Identifier: Apache-2.0
"""The network planned for each node of a trial: addresses, and the files that will hold the namespaces."""

import ipaddress
from collections.abc import Sequence
from pathlib import Path

from tare.nodes.provider import NodeNetwork
from tare.records import Layout, NetworkKind

SUBNET = ipaddress.IPv4Network("198.18.0.0/16")
"""The first half of RFC 2544's range for benchmarks, which no real network uses."""
SWITCH_ADDRESS = ipaddress.IPv4Interface("198.18.0.1/16")
_FIRST_NODE = 10
_NEIGHBOUR_SETTING = "net.ipv4.neigh.default.gc_thresh3"
_NEIGHBOUR_ENTRIES = Path("/proc/sys") / _NEIGHBOUR_SETTING.replace(".", "/")


def plan_networks(
    kind: NetworkKind, directories: Sequence[Path], rto_min_s: float | None
) -> tuple[NodeNetwork, ...]:
    """One plan per node of a trial, in order; files are in the nodes' own folders, the switch's in the first node's."""
    if kind in {NetworkKind.HOST, NetworkKind.DEFAULT}:
        return tuple(NodeNetwork(kind=kind) for _ in directories)
    linked = kind is not NetworkKind.NONE
    return tuple(
        NodeNetwork(
            kind=kind,
            namespace=directory / "network",
            switch=directories[0] / "switch" if linked else None,
            address=str(SUBNET[_FIRST_NODE + index]) if linked else None,
            rto_min_s=rto_min_s if linked else None,
        )
        for index, directory in enumerate(directories)
    )


def neighbours_problem(kind: NetworkKind, layout: Layout, threshold: Path = _NEIGHBOUR_ENTRIES) -> str | None:
    """Why the nodes of an instance could not all reach each other; ``None`` if they can.

    All network namespaces share the kernel's ARP table (arp(7)); one that is full refuses connections.
    """
    if kind not in {NetworkKind.VETH, NetworkKind.MACVLAN} or not layout.cooperative:
        return None
    try:
        most = int(threshold.read_text())
    except (OSError, ValueError):
        return None
    wanted = layout.nodes * (layout.nodes // layout.instances - 1)
    if wanted <= most:
        return None
    return (
        f"the {layout.nodes} nodes of {layout} reach each other by {wanted} entries of this host's ARP table, which "
        f"holds {most}: raise it for all namespaces, such as by sysctl -w {_NEIGHBOUR_SETTING}={2 * wanted}"
    )
