# SPDX-License-Identifier: Apache-2.0
"""The network planned for each node of a trial: addresses, and the files that will hold the namespaces."""

import ipaddress
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tare.errors import NodeError
from tare.nodes.provider import LINKED_NETWORKS, NodeNetwork, Wire
from tare.records import Layout, NetworkKind

SUBNET = ipaddress.IPv4Network("198.18.0.0/16")
"""The first half of RFC 2544's range for benchmarks, which no real network uses."""
WIRE_SUBNET = ipaddress.IPv4Network("198.19.0.0/16")
"""The second half, for nodes on several hosts: their frames share a wire with the hosts' own."""
SWITCH_ADDRESS = ipaddress.IPv4Interface("198.18.0.1/16")
_FIRST_NODE = 10
_MOST_NUMBERS = (1 << 24) - 2
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """The hosts of a campaign, and the network between them."""

    subnet: str
    """The address range, in CIDR notation, in which they reach each other and this host."""
    own: str
    """This host's address there."""
    addresses: Mapping[str, str]
    """Name of each host of the campaign's list → its address there."""


def plan_wire(
    kind: NetworkKind,
    directories: Sequence[Path],
    places: Sequence[str],
    between: Between,
    rto_min_s: float | None,
) -> tuple[NodeNetwork, ...]:
    """One plan per node of a trial over hosts, in order, for a linked ``kind``; ``places`` are their hosts' names.

    The nodes of a host have a switch of their own, in the first one's folder. Addresses are unique over all hosts, and
    those of a campaign begin where its list of hosts says, so that two campaigns on one wire rarely meet.
    """
    known = list(between.addresses)
    firsts = {place: places.index(place) for place in places}
    wire = Wire(
        subnet=between.subnet,
        peers=tuple(dict.fromkeys([between.own, *(between.addresses[place] for place in firsts)])),
        number=zlib.crc32(directories[0].name.encode()) % _MOST_NUMBERS + 1,
        router="",
    )
    return tuple(
        NodeNetwork(
            kind=kind,
            namespace=directory / "network",
            switch=directories[firsts[place]] / "switch",
            address=_wired(between, 2 + len(known) + index),
            rto_min_s=rto_min_s,
            wire=replace(wire, router=_wired(between, 2 + known.index(place))),
        )
        for index, (directory, place) in enumerate(zip(directories, places, strict=True))
    )


def launcher_network(first: NodeNetwork, directory: Path, between: Between) -> NodeNetwork:
    """The network of the node in which ``mpirun`` runs, for a job of nodes such as the ``first``; on this host."""
    if first.wire is None:
        raise NodeError("these nodes have no wire on which mpirun could reach them")
    if first.kind is NetworkKind.VXLAN and between.own in between.addresses.values():
        raise NodeError(
            f"this host, {between.own}, has nodes and mpirun, and a host has one end of a VXLAN: run tare on another "
            "host, or choose macvlan or veth"
        )
    return replace(
        first,
        namespace=directory / "network",
        switch=directory / "switch",
        address=_wired(between, 0),
        rto_min_s=None,
        wire=replace(first.wire, router=_wired(between, 1)),
    )


def _wired(between: Between, number: int) -> str:
    """The address with this number, from 0, among the campaign's on the wire."""
    start = zlib.crc32(",".join([between.own, *sorted(between.addresses.values())]).encode())
    return str(WIRE_SUBNET[1 + (start + number) % (WIRE_SUBNET.num_addresses - 2)])


def neighbours_problem(kind: NetworkKind, layout: Layout, threshold: Path = _NEIGHBOUR_ENTRIES) -> str | None:
    """Why the nodes of an instance could not all reach each other; ``None`` if they can.

    All network namespaces share the kernel's ARP table (arp(7)); one that is full refuses connections.
    """
    if kind not in LINKED_NETWORKS or not layout.cooperative:
        return None
    try:
        most = int(threshold.read_text())
    except (OSError, ValueError):
        return None
    wanted = layout.nodes_per_host * (layout.nodes // layout.instances - 1)
    if wanted <= most:
        return None
    return (
        f"the nodes of {layout} on one host reach each other by {wanted} entries of its ARP table, which holds "
        f"{most}: raise it for all namespaces, such as by sysctl -w {_NEIGHBOUR_SETTING}={2 * wanted}"
    )
