# SPDX-License-Identifier: Apache-2.0
"""The switch and the links to it, made inside the namespaces: none ever appears in the host's network."""

import ipaddress
import math
import socket
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tare.errors import NodeError
from tare.guests.route import kept_ms
from tare.host import network_namespace as namespace
from tare.host import process
from tare.network.netlink import Link, add_address, add_link, attribute, number, set_rto_min, set_up
from tare.network.plan import SUBNET, SWITCH_ADDRESS
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
_SWITCH_SETTINGS = {
    "ipv6/conf/default/disable_ipv6": "1",
    "bridge/bridge-nf-call-arptables": "0",
    "bridge/bridge-nf-call-iptables": "0",
    "bridge/bridge-nf-call-ip6tables": "0",
}
"""The switch itself uses only IPv4, and no packet filter looks at its traffic."""

_FORWARD_DELAY, _SPANNING_TREE = 1, 5
_PEER = 1
_MACVLAN_MODE, _MACVLAN_BRIDGE = 1, 4
_BRIDGE_DATA = number(_FORWARD_DELAY, 0) + number(_SPANNING_TREE, 0)
_MACVLAN_DATA = number(_MACVLAN_MODE, _MACVLAN_BRIDGE)
_BRIDGE_ADDRESS = bytes.fromhex("0200c6120001")
"""A bridge without an address takes its links' lowest, so it would change as nodes come."""

_REMEDIES = {
    NetworkKind.VETH: "`modprobe -a veth bridge`, or choose the network macvlan, host or default",
    NetworkKind.MACVLAN: "`modprobe -a veth macvlan`, or choose the network veth, host or default",
}


def make_switch(switch: Path, kind: NetworkKind) -> None:
    """Make the namespace in which a trial's links meet, with an address of its own that reaches all nodes."""
    namespace.make(switch)
    namespace.configure(switch, _SWITCH_SETTINGS)
    _inside(switch, kind, _SWITCHES[kind])


def connect(network: NodeNetwork, switch: Path, inside: Path) -> None:
    """Make a link from the switch to the node's namespace ``inside``; ``NodeError`` if its route is not as wanted."""
    namespace.configure(inside, _NODE_SETTINGS)
    address = ipaddress.IPv4Interface(f"{network.address}/{SUBNET.prefixlen}")
    with inside.open() as held:
        link = partial(_node_link, network.kind, address, held.fileno())
        _inside(switch, network.kind, lambda: add_link(link()))
    _inside(inside, network.kind, lambda: _bring_up(address))
    if network.rto_min_s is not None:
        rto_min_ms = _whole_ms(network.rto_min_s)
        _inside(inside, network.kind, lambda: set_rto_min(INTERFACE, address, rto_min_ms))
        _verify_rto_min(inside, rto_min_ms)


def _inside(path: Path, kind: NetworkKind, action: Callable[[], None]) -> None:
    try:
        namespace.inside(path, action)
    except OSError as error:
        raise NodeError(f"cannot make the {kind} network: {error.strerror}; try {_REMEDIES[kind]}") from error


def _make_bridge() -> None:
    add_link(Link(name=SWITCH, kind="bridge", data=_BRIDGE_DATA, hardware_address=_BRIDGE_ADDRESS))
    add_address(SWITCH, SWITCH_ADDRESS)


def _make_parent() -> None:
    """Make the parent that macvlan devices need, and bring it up: one end of a pair whose other end leads nowhere."""
    nowhere = Link(name="nowhere")
    add_link(Link(name=_PARENT, kind="veth", data=attribute(_PEER, nowhere.encoded())))
    set_up(nowhere.name)
    add_link(_macvlan(SWITCH))
    add_address(SWITCH, SWITCH_ADDRESS)


_SWITCHES = {NetworkKind.VETH: _make_bridge, NetworkKind.MACVLAN: _make_parent}


def _node_link(kind: NetworkKind, address: ipaddress.IPv4Interface, node: int) -> Link:
    """The node's link, seen from the switch; ``node`` is a descriptor of the node's namespace."""
    if kind is NetworkKind.MACVLAN:
        return _macvlan(INTERFACE, node)
    end = Link(name=INTERFACE, namespace=node)
    name = f"node{int(address.ip) - int(SUBNET.network_address)}"
    master = socket.if_nametoindex(SWITCH)
    return Link(name=name, kind="veth", data=attribute(_PEER, end.encoded()), master=master)


def _macvlan(name: str, node: int | None = None) -> Link:
    parent = socket.if_nametoindex(_PARENT)
    return Link(name=name, kind="macvlan", data=_MACVLAN_DATA, namespace=node, parent=parent)


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


def _verify_rto_min(inside: Path, rto_min_ms: int) -> None:
    """Read the route back by other means than it was written (ip-route(8))."""
    argv = ["nsenter", f"--net={inside}", "--", "ip", "-json", "route", "show", str(SUBNET)]
    if rto_min_ms not in kept_ms(process.run_checked(argv, timeout_s=_LIMIT_S).stdout):
        raise NodeError(
            f"the node's route does not keep rto_min = {rto_min_ms} ms; leave rto_min out on this host"
        )
