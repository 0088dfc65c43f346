# SPDX-License-Identifier: Apache-2.0
"""Links of nodes that leave their host, by the interface that it has on the hosts' own subnet.

That interface keeps its address and all its traffic: it becomes the parent of further links, or carries VXLAN's UDP
packets. Only an interface that is a bridge already gets ports. So no step can cut the connection over which Tare, or
anybody else, has come. Each link is deleted by hand in the end: a parent that still has links of one kind takes none of
another, and the kernel ends a namespace some time after its last user. A virtual function is moved back.
"""

import ipaddress
import socket
import struct
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from tare.errors import NodeError
from tare.host import network_namespace as namespace
from tare.network import functions, links
from tare.network.interfaces import Interface, described, interface_within
from tare.network.netlink import (
    Link,
    add_address,
    add_link,
    add_route,
    attach,
    attribute,
    delete_link,
    flood_to,
    number,
)
from tare.network.plan import WIRE_SUBNET
from tare.nodes.provider import NodeNetwork, NodeSpec, Wire
from tare.records import NetworkKind

_UPLINK = "uplink"
"""The switch's name for what leads out of the host."""
_SWITCH_LIMIT_S = 20.0
_BRIDGE = "bridge"
_ROUTER_SETTINGS = {"ipv4/ip_forward": "1", "ipv4/conf/all/proxy_arp": "1", "ipv4/conf/all/rp_filter": "0"}
_ANSWER_AT_ONCE = {f"ipv4/neigh/{name}/proxy_delay": "0" for name in (_UPLINK, links.SWITCH)}
_IDENTIFIER, _LOWER, _LOCAL, _PORT = 1, 3, 4, 15
"""Attributes of a VXLAN device in linux/if_link.h."""
_VXLAN_PORT = 4789
_VXLAN_HEADERS_BYTE = 50
"""Of Ethernet, IPv4, UDP and VXLAN, around each frame (RFC 7348)."""


def connect(spec: NodeSpec) -> None:
    """Give the node's namespace its link to the wire; ``NodeError`` says why that cannot be."""
    network = spec.network
    assert network.wire is not None  # noqa: S101 - the caller has looked
    assert network.namespace is not None  # noqa: S101
    interface = interface_within(network.wire.subnet)
    links.prepare(network.namespace)
    try:
        with network.namespace.open() as held:
            _link(spec, network.wire, interface, held.fileno())
    except OSError as error:
        raise _refused(network.kind, interface, error) from error
    links.settle(network, network.namespace)


def disconnect(spec: NodeSpec) -> None:
    """Delete the links that ``connect`` made, but what was lent (``functions.give_back``); harmless when gone."""
    for path, link in ((spec.directory / "network", links.INTERFACE), (spec.directory / "switch", _UPLINK)):
        if path.exists():
            with suppress(
                OSError, NodeError
            ):  # a file that holds no namespace, or a link that was never made
                namespace.inside(path, partial(delete_link, link))


def path_of(network: NodeNetwork) -> str:
    """How the frames of a connected node leave this host, in words; ``network.wire`` must be there."""
    assert network.wire is not None  # noqa: S101 - the caller has looked
    interface = interface_within(network.wire.subnet)
    if network.kind is NetworkKind.VXLAN:
        return f"bridge, VXLAN in UDP over {interface.name}"
    if network.kind is NetworkKind.SRIOV:
        return f"virtual function of {interface.name}"
    if network.kind is not NetworkKind.VETH:
        return f"{network.kind} on {interface.name}"
    if interface.kind == _BRIDGE:
        return f"port of the bridge {interface.name}"
    return f"bridge, routed to a macvlan on {interface.name}"


def facts_of(network: NodeNetwork, subnet: str | None) -> dict[str, str]:
    """What carries a node's packets: the host's interface on ``subnet``, and the node's own link if it has one."""
    facts = {}
    carrying = subnet if network.wire is None else network.wire.subnet
    if carrying is not None:
        facts["host's interface"] = described(interface_within(carrying).name)
    if network.wire is not None and network.namespace is not None:
        facts["way to the wire"] = path_of(network)
        inside: list[str] = []
        namespace.inside(network.namespace, lambda: inside.append(described(links.INTERFACE)))
        facts["node's interface"] = inside[0]
    return facts


def _link(spec: NodeSpec, wire: Wire, interface: Interface, node: int) -> None:
    """Make the node's link; ``node`` is a descriptor of its namespace. This thread is in the host's network."""
    kind = spec.network.kind
    if kind is NetworkKind.VXLAN:
        _join_switch(spec, wire, interface, node)
    elif kind is NetworkKind.SRIOV:
        functions.lend(spec, interface.name, node, links.INTERFACE)
    elif kind is not NetworkKind.VETH:
        add_link(links.sharing(kind, links.INTERFACE, interface.index, node))
    elif interface.kind == _BRIDGE:
        name = f"tare{int(ipaddress.IPv4Address(spec.network.address or 0)):08x}"
        add_link(links.pair(name, node, interface.index, interface.mtu_byte))
    else:
        _join_switch(spec, wire, interface, node)


def _join_switch(spec: NodeSpec, wire: Wire, interface: Interface, node: int) -> None:
    """Make the link a port of the bridge in the host's switch, which the first node here makes."""
    network, switch = spec.network, spec.network.switch
    assert switch is not None  # noqa: S101 - every linked network has one
    is_vxlan = network.kind is NetworkKind.VXLAN
    if switch.parent == spec.directory:
        (_make_tunnel if is_vxlan else _make_router)(switch, wire, interface)
    else:
        _wait_for(switch)
    mtu_byte = interface.mtu_byte - (_VXLAN_HEADERS_BYTE if is_vxlan else 0)

    def join() -> None:
        master = socket.if_nametoindex(links.SWITCH)
        add_link(links.pair(links.port_name(network), node, master, mtu_byte))
        if not is_vxlan:
            add_route(links.SWITCH, ipaddress.IPv4Network(f"{network.address}/32"))

    namespace.inside(switch, join)


def _make_router(switch: Path, wire: Wire, interface: Interface) -> None:
    """Make a bridge for the nodes here, and pass packets on to the wire, on which it answers for their addresses."""
    _make_uplink(switch, links.sharing(NetworkKind.MACVLAN, _UPLINK, interface.index), _ROUTER_SETTINGS)

    def complete() -> None:
        links.make_bridge()
        add_address(_UPLINK, ipaddress.IPv4Interface(f"{wire.router}/32"))
        add_route(_UPLINK, WIRE_SUBNET)

    namespace.inside(switch, complete)
    namespace.configure(switch, _ANSWER_AT_ONCE)


def _make_tunnel(switch: Path, wire: Wire, interface: Interface) -> None:
    """Make a bridge for the nodes here, with a VXLAN device that sends to every other host what is for all."""
    data = number(_IDENTIFIER, wire.number) + number(_LOWER, interface.index)
    data += attribute(_LOCAL, interface.address.packed) + attribute(_PORT, struct.pack("!H", _VXLAN_PORT))
    mtu_byte = interface.mtu_byte - _VXLAN_HEADERS_BYTE
    _make_uplink(switch, Link(name=_UPLINK, kind="vxlan", data=data, mtu_byte=mtu_byte), {})

    def complete() -> None:
        links.make_bridge()
        attach(_UPLINK, links.SWITCH)
        for peer in map(ipaddress.IPv4Address, wire.peers):
            if peer != interface.address:
                flood_to(_UPLINK, peer)

    namespace.inside(switch, complete)


def _make_uplink(switch: Path, uplink: Link, settings: dict[str, str]) -> None:
    """Make the switch's namespace, and in it the link to the wire: its other side stays in this thread's network."""
    namespace.make(switch)
    namespace.configure(switch, {**links.SWITCH_SETTINGS, **settings})
    with switch.open() as held:
        add_link(replace(uplink, namespace=held.fileno()))


def _wait_for(switch: Path) -> None:
    """Until the node that makes it has done so; ``NodeError`` if it does not."""
    deadline = time.monotonic() + _SWITCH_LIMIT_S
    while True:
        with suppress(OSError, NodeError):
            namespace.inside(switch, _look_for_bridge)
            return
        if time.monotonic() > deadline:
            raise NodeError(f"the node that was to make {switch} did not")
        time.sleep(0.02)


def _look_for_bridge() -> None:
    socket.if_nametoindex(links.SWITCH)


def _refused(kind: NetworkKind, interface: Interface, error: OSError) -> NodeError:
    """The kernel's refusal in words."""
    return NodeError(f"on {interface.name}: {links.refused(kind, error)}")
