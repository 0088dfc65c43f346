# SPDX-License-Identifier: Apache-2.0
"""The switch and the links to it, made inside the namespaces: none ever appears in the host's network."""

import ipaddress
import math
import socket
import struct
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tare.errors import NodeError
from tare.guests.route import kept_ms
from tare.host import network_namespace as namespace
from tare.host import process
from tare.network.netlink import Link, add_address, add_link, attribute, number, set_rto_min, set_up
from tare.network.plan import SUBNET, SWITCH_ADDRESS, WIRE_SUBNET
from tare.nodes.provider import NodeNetwork
from tare.records import NetworkKind

INTERFACE = "eth0"
"""Every node's name for its link."""
SWITCH = "switch"
"""The switch's name for its own link, which is the bridge where it has one."""

_LIMIT_S = 20.0
_LINK_LOCAL_LIMIT_S = 0.5
_IPV6_ADDRESSES = Path("/proc/thread-self/net/if_inet6")
_TENTATIVE = 0x40
"""IFA_F_TENTATIVE of linux/if_addr.h: the address cannot be used yet."""
_PARENT = "parent"
_NODE_SETTINGS = {
    "ipv6/conf/all/disable_ipv6": "0",
    "ipv6/conf/default/disable_ipv6": "0",
    "ipv6/conf/default/accept_dad": "0",
    "ipv6/conf/default/router_solicitations": "0",
}
"""Every node has a link-local IPv6 address, without checking that it is free: MPI in gVisor needs it."""
SWITCH_SETTINGS = {
    "ipv6/conf/default/disable_ipv6": "1",
    "bridge/bridge-nf-call-arptables": "0",
    "bridge/bridge-nf-call-iptables": "0",
    "bridge/bridge-nf-call-ip6tables": "0",
}
"""The switch itself uses only IPv4, and no packet filter looks at its traffic."""

_FORWARD_DELAY, _SPANNING_TREE = 1, 5
_PEER = 1
_MACVLAN_MODE, _MACVLAN_BRIDGE = 1, 4
_IPVLAN_MODE, _IPVLAN_LAYER_2 = 1, 0
"""The kernel's choice is layer 3, which answers no ARP: nobody on the wire would reach the node."""
_BRIDGE_DATA = number(_FORWARD_DELAY, 0) + number(_SPANNING_TREE, 0)
_DATA_OF_SHARING = {
    NetworkKind.MACVLAN: number(_MACVLAN_MODE, _MACVLAN_BRIDGE),
    NetworkKind.IPVLAN: attribute(_IPVLAN_MODE, struct.pack("=H", _IPVLAN_LAYER_2)),
}
"""For the kinds of which several share a parent."""
_BRIDGE_ADDRESS = bytes.fromhex("0200c6120001")
"""A bridge without an address takes its links' lowest, so it would change as nodes come."""

_REMEDIES = {
    NetworkKind.VETH: "`modprobe -a veth bridge`, or choose the network macvlan, host or default",
    NetworkKind.MACVLAN: "`modprobe -a veth macvlan`, or choose the network veth, host or default",
    NetworkKind.IPVLAN: "`modprobe -a veth ipvlan`, or choose the network veth, macvlan, host or default",
    NetworkKind.SRIOV: "another function, or choose the network macvlan or host",
    NetworkKind.VXLAN: "`modprobe -a veth bridge vxlan`, or choose the network veth, macvlan or host",
}


def make_switch(switch: Path, kind: NetworkKind) -> None:
    """Make the namespace in which a trial's links meet, with an address of its own that reaches all nodes."""
    namespace.make(switch)
    namespace.configure(switch, SWITCH_SETTINGS)
    do_inside(switch, kind, partial(_make_switch, kind))


def connect(network: NodeNetwork, switch: Path, inside: Path) -> None:
    """Make a link from the switch to the node's namespace ``inside``; ``NodeError`` if its route is not as wanted."""
    prepare(inside)
    with inside.open() as held:
        link = partial(_node_link, network, held.fileno())
        do_inside(switch, network.kind, lambda: add_link(link()))
    settle(network, inside)


def prepare(inside: Path) -> None:
    """Set what a node's namespace needs before its link comes."""
    namespace.configure(inside, _NODE_SETTINGS)


def settle(network: NodeNetwork, inside: Path) -> None:
    """Give the node's link its address and its route; ``NodeError`` if the route is not as wanted."""
    subnet = SUBNET if network.wire is None else WIRE_SUBNET
    address = ipaddress.IPv4Interface(f"{network.address}/{subnet.prefixlen}")
    do_inside(inside, network.kind, lambda: _bring_up(address))
    if network.rto_min_s is not None:
        rto_min_ms = _whole_ms(network.rto_min_s)
        do_inside(inside, network.kind, lambda: set_rto_min(INTERFACE, address, rto_min_ms))
        _verify_rto_min(inside, subnet, rto_min_ms)


def do_inside(path: Path, kind: NetworkKind, action: Callable[[], None]) -> None:
    """Do it in the namespace that ``path`` holds; ``NodeError`` with the remedy when the kernel refuses."""
    try:
        namespace.inside(path, action)
    except OSError as error:
        raise refused(kind, error) from error


def refused(kind: NetworkKind, error: OSError) -> NodeError:
    """The kernel's refusal in words."""
    return NodeError(f"cannot make the {kind} network: {error.strerror}; try {_REMEDIES[kind]}")


def make_bridge() -> None:
    """Make the bridge for the nodes' links in this thread's namespace, without an address."""
    add_link(Link(name=SWITCH, kind="bridge", data=_BRIDGE_DATA, hardware_address=_BRIDGE_ADDRESS))


def _make_switch(kind: NetworkKind) -> None:
    if kind in _DATA_OF_SHARING:
        _make_parent(kind)
    else:
        make_bridge()
    add_address(SWITCH, SWITCH_ADDRESS)


def _make_parent(kind: NetworkKind) -> None:
    """Make the parent that such links need, and bring it up: one end of a pair whose other end leads nowhere."""
    nowhere = Link(name="nowhere")
    add_link(Link(name=_PARENT, kind="veth", data=attribute(_PEER, nowhere.encoded())))
    set_up(nowhere.name)
    add_link(sharing(kind, SWITCH, socket.if_nametoindex(_PARENT)))


def _node_link(network: NodeNetwork, node: int) -> Link:
    """The node's link, seen from the switch; ``node`` is a descriptor of the node's namespace."""
    if network.kind in _DATA_OF_SHARING:
        return sharing(network.kind, INTERFACE, socket.if_nametoindex(_PARENT), node)
    return pair(port_name(network), node, socket.if_nametoindex(SWITCH))


def port_name(network: NodeNetwork) -> str:
    """The name of the switch's end of a node's link."""
    return f"node{int(ipaddress.IPv4Address(network.address or 0)) & 0xFFFF}"


def pair(name: str, node: int, master: int, mtu_byte: int | None = None) -> Link:
    """A port of the bridge ``master`` whose other end is the node's link."""
    end = Link(name=INTERFACE, namespace=node, mtu_byte=mtu_byte)
    data = attribute(_PEER, end.encoded())
    return Link(name=name, kind="veth", data=data, master=master, mtu_byte=mtu_byte)


def sharing(kind: NetworkKind, name: str, parent: int, node: int | None = None) -> Link:
    """A macvlan or ipvlan link, in the namespace with the descriptor ``node``."""
    return Link(name=name, kind=str(kind), data=_DATA_OF_SHARING[kind], namespace=node, parent=parent)


def _bring_up(address: ipaddress.IPv4Interface) -> None:
    set_up(INTERFACE)
    add_address(INTERFACE, address)
    deadline = time.monotonic() + _LINK_LOCAL_LIMIT_S
    while _awaits_link_local() and time.monotonic() < deadline:
        time.sleep(0.001)


def _awaits_link_local() -> bool:
    """Whether the link-local IPv6 address is still missing: the kernel assigns it some milliseconds later."""
    try:
        rows = [line.split() for line in _IPV6_ADDRESSES.read_text().splitlines()]
    except OSError:
        return False  # a kernel without IPv6
    flags = [int(row[4], 16) for row in rows if row[5] == INTERFACE]
    return not flags or any(flag & _TENTATIVE for flag in flags)


def _whole_ms(rto_min_s: float) -> int:
    whole = round(rto_min_s * 1000)
    if whole < 1 or not math.isclose(whole, rto_min_s * 1000):
        raise NodeError(
            f"rto_min is {rto_min_s * 1000:g} ms, but the kernel counts in whole milliseconds from 1"
        )
    return whole


def _verify_rto_min(inside: Path, subnet: ipaddress.IPv4Network, rto_min_ms: int) -> None:
    """Read the route back by other means than it was written (ip-route(8))."""
    argv = ["nsenter", f"--net={inside}", "--", "ip", "-json", "route", "show", str(subnet)]
    if rto_min_ms not in kept_ms(process.run_checked(argv, timeout_s=_LIMIT_S).stdout):
        raise NodeError(
            f"the node's route does not keep rto_min = {rto_min_ms} ms; leave rto_min out on this host"
        )
