# SPDX-License-Identifier: Apache-2.0
"""The addresses of nodes, read from the kernel where Tare did not assign them."""

import ipaddress
from collections.abc import Sequence
from pathlib import Path
from typing import NotRequired, TypedDict

from tare.environments import PROVIDERS
from tare.errors import NodeError
from tare.host import process
from tare.host.privileges import ordinary_user
from tare.host.told import told
from tare.network.interfaces import interface_within
from tare.network.plan import SUBNET, WIRE_SUBNET
from tare.nodes.provider import Elsewhere, Node
from tare.records import NetworkKind

LOOPBACK = "lo"
_LOOPBACK_ADDRESS = "127.0.0.1"
_LIMIT_S = 20.0


def node_address(node: Node) -> str | None:
    """The IPv4 address at which the trial's other nodes reach this one; ``None``: it has none."""
    network = node.spec.network
    if node.elsewhere is not None:
        return node.elsewhere.address
    if network.address is not None or network.kind is NetworkKind.NONE:
        return network.address
    if _on_hosts_network(node):
        return _LOOPBACK_ADDRESS
    interfaces = _interfaces(node)
    return str(interfaces[0].ip) if interfaces else None


def meeting_place(nodes: Sequence[Node]) -> str:
    """Where these nodes reach each other: an address range in CIDR notation, or an interface's name.

    ``NodeError`` says why they do not.
    """
    if nodes[0].elsewhere is not None:
        if nodes[0].spec.network.wire is not None:
            return str(WIRE_SUBNET)
        return _between_hosts([node.elsewhere for node in nodes if node.elsewhere is not None])
    if nodes[0].spec.network.switch is not None:
        return str(SUBNET)
    if len(nodes) == 1 or all(map(_on_hosts_network, nodes)):
        return LOOPBACK
    return str(common_subnet({node.spec.name: _interfaces(node) for node in nodes}))


def address_within(subnet: str) -> str:
    """This host's own first IPv4 address in that range; ``NodeError`` when it has none there."""
    return str(interface_within(subnet).address)


def own_interfaces() -> list[ipaddress.IPv4Interface]:
    """This host's own IPv4 addresses, in the kernel's order, loopback first."""
    done = process.run_checked(["ip", "-json", "-4", "address", "show"], timeout_s=_LIMIT_S)
    return parse_addresses(done.stdout)


def _between_hosts(places: Sequence[Elsewhere]) -> str:
    subnet = places[0].subnet
    if subnet is None or any(place.address is None for place in places):
        raise NodeError(
            "how these hosts reach each other is not known: give subnet, as docs/hosts.md explains"
        )
    address_within(subnet)  # mpirun runs on this host
    return subnet


def launcher_namespace(nodes: Sequence[Node]) -> Path | None:
    """The file of the network namespace from which all the nodes can be reached; ``None``: the host's own."""
    return nodes[0].spec.network.switch


def describe(node: Node) -> dict[str, str]:
    """The outcome's fact ``network``: the kind, and the address or the owner of the network."""
    network = node.spec.network
    words = [str(network.kind)]
    if network.kind is NetworkKind.HOST:
        words = ["host's"] if node.elsewhere is None else ["its host's"]
        words += [node.elsewhere.address] if node.elsewhere and node.elsewhere.address else []
    elif network.kind is NetworkKind.DEFAULT:
        words = [f"default ({_default(node)})"]
    elif network.address is not None:
        words.append(f"{network.address}/{SUBNET.prefixlen}")
    if network.rto_min_s is not None:
        words.append(f"rto_min {network.rto_min_s * 1000:g} ms")
    return {"network": ", ".join(words)}


def _default(node: Node) -> str:
    if node.init_pid is None and not node.machine:
        return "not seen from here"
    if _on_hosts_network(node):
        return "the host's"
    return ", ".join(map(str, _interfaces(node))) or "no address"


def _on_hosts_network(node: Node) -> bool:
    """Whether its network is this process's own; a node without a first process has no namespaces of its own."""
    if node.machine:
        return False
    if node.init_pid is None:
        return True
    try:
        return Path(_namespace(node)).samefile("/proc/thread-self/ns/net")
    except OSError as error:
        raise NodeError(
            f"cannot see the network of {node.spec.name}: {error.strerror}; has it ended?"
        ) from error


def _namespace(node: Node, name: str = "net") -> str:
    return f"/proc/{node.init_pid}/ns/{name}"


def _interfaces(node: Node) -> list[ipaddress.IPv4Interface]:
    """The addresses by which others can reach the node, in the kernel's order."""
    show = ["ip", "-json", "-4", "address", "show", "scope", "global"]
    done = process.run_checked([*_way_in(node), *show], timeout_s=_LIMIT_S)
    return parse_addresses(done.stdout)


def _way_in(node: Node) -> list[str]:
    """The argv prefix; an ordinary user may enter a network only through the user namespace that owns it.

    A machine's network is read from inside it, by its own ip(8).
    """
    if node.machine:
        return PROVIDERS[node.spec.technology].prefix(node)
    user = [f"--user={_namespace(node, 'user')}", "--preserve-credentials"] if ordinary_user() else []
    return ["nsenter", *user, f"--net={_namespace(node)}", "--"]


class _Address(TypedDict):
    local: str
    prefixlen: int


class _Link(TypedDict):
    addr_info: NotRequired[list[_Address]]


def parse_addresses(text: str) -> list[ipaddress.IPv4Interface]:
    """The addresses in the JSON of ip-address(8); ``NodeError`` for anything else, as a node may have printed it."""
    links = told(list[_Link], text or "[]", "ip address show")
    written = [
        f"{address['local']}/{address['prefixlen']}"
        for link in links
        for address in link.get("addr_info", [])
    ]
    try:
        return [ipaddress.IPv4Interface(text) for text in written]
    except ValueError as error:
        raise NodeError(f"what ip address show prints is not understood: {error}", text[:400]) from None


def common_subnet(addresses_of: dict[str, list[ipaddress.IPv4Interface]]) -> ipaddress.IPv4Network:
    """The first subnet in which every node has an address and no two have the same; ``NodeError`` if there is none."""
    first, *others = addresses_of.values()
    for subnet in (interface.network for interface in first):
        addresses = [
            [interface.ip for interface in interfaces if interface.network == subnet]
            for interfaces in [first, *others]
        ]
        if all(addresses) and len({own[0] for own in addresses}) == len(addresses_of):
            return subnet
    text = "; ".join(
        f"{name}: {', '.join(map(str, own)) or 'no address'}" for name, own in addresses_of.items()
    )
    raise NodeError(f"these nodes do not meet on a network ({text}); choose network = veth")
