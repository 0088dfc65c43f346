# SPDX-License-Identifier: Apache-2.0
"""The networks of nodes: a switch in its own namespace, one link per node; over hosts, links to the wire."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tare.errors import NodeError
from tare.host import mounts, process
from tare.host import network_namespace as namespace
from tare.network import functions, links, wire
from tare.network.addresses import (
    address_within,
    common_subnet,
    describe,
    launcher_namespace,
    meeting_place,
    node_address,
    own_interfaces,
)
from tare.network.plan import (
    SUBNET,
    WIRE_SUBNET,
    Between,
    launcher_network,
    neighbours_problem,
    plan_networks,
    plan_wire,
)
from tare.network.taps import make_tap, remove_tap
from tare.network.wire import facts_of
from tare.nodes.provider import Node, NodeSpec, Provider
from tare.records import NetworkKind

HOSTS = Path("/etc/hosts")
_ALONE = {NetworkKind.NONE, NetworkKind.HOST}
_LIMIT_S = 30.0
_LOCALHOST = ("127.0.0.1 localhost", "::1 localhost ip6-localhost ip6-loopback")
__all__ = [
    "SUBNET",
    "WIRE_SUBNET",
    "Between",
    "address_within",
    "adopt",
    "common_subnet",
    "create",
    "describe",
    "facts_of",
    "give_back",
    "launcher_namespace",
    "launcher_network",
    "meeting_place",
    "name_nodes",
    "neighbours_problem",
    "node_address",
    "own_interfaces",
    "plan_networks",
    "plan_wire",
    "remove",
]

_TAP = "tap"
"""A file in the node's folder that exists from the moment when its tap device may exist."""


def name_nodes(nodes: Sequence[Node], provider: Provider) -> None:
    """Write every node's /etc/hosts, so that each node resolves each name; ``NodeError`` if one refuses.

    A single node without its own network needs no names. A node whose root directory is, or may be, the host's keeps
    its file: it is the user's.
    """
    if len(nodes) == 1 and nodes[0].spec.network.kind in _ALONE:
        return
    addresses = {node.spec.name: node_address(node) for node in nodes}
    text = hosts_text({name: address for name, address in addresses.items() if address is not None})
    for node in nodes:
        if has_own_hosts(node):
            _write(node, provider, text)


def hosts_text(addresses: Mapping[str, str]) -> str:
    """The lines of a hosts(5) file: localhost, and each name with its address."""
    lines = [*_LOCALHOST, *(f"{address} {name}" for name, address in addresses.items())]
    return "".join(f"{line}\n" for line in lines)


def has_own_hosts(node: Node) -> bool:
    """Whether /etc/hosts in the node is certainly not the host's file (proc(5), /proc/PID/root)."""
    if node.machine or node.own_hosts:
        return True
    if node.init_pid is None:
        return False
    root = Path(f"/proc/{node.init_pid}/root")
    try:
        if root.samefile("/"):
            return False
        inside = root / HOSTS.relative_to("/")
        return not (inside.exists() and HOSTS.exists() and inside.samefile(HOSTS))
    except OSError:
        return False


def _write(node: Node, provider: Provider, text: str) -> None:
    """Write into the existing file: where it is a mount, as Docker makes it, it cannot be replaced."""
    done = process.run([*provider.prefix(node), "tee", str(HOSTS)], given=text, timeout_s=_LIMIT_S)
    if done.code != 0:
        raise NodeError(f"cannot write {HOSTS} in {node.spec.name}: {done.last_words}; has the image tee(1)?")


def create(spec: NodeSpec, takes_tap: bool = False) -> None:
    """Make the node's namespace with its link, and the switch before the first; nothing for the other kinds.

    A machine that ``takes_tap`` gets no namespace where it has a link: its monitor works in the switch's. ``NodeError``
    gives the kernel's reason; ``remove`` then removes what was already made.
    """
    if takes_tap and spec.network.wire is not None:
        raise NodeError(
            "a virtual machine's link ends in a switch of its host; over hosts choose network = default"
        )
    if takes_tap and spec.network.switch is not None:
        _make_switch(spec, spec.network.switch)
        (spec.directory / _TAP).touch()
        make_tap(spec.network.tap, spec.network.switch)
    elif spec.network.namespace is not None:
        namespace.make(spec.network.namespace)
        _connect(spec)


def adopt(node: Node) -> None:
    """Hold the namespace that the technology made for a running node, and give it its link.

    A node without a link keeps its namespace to itself; one on another host has got its link there.
    """
    network = node.spec.network
    if network.switch is None or network.namespace is None or node.elsewhere is not None:
        return
    if node.init_pid is None:
        raise NodeError(f"{node.spec.name} has no first process whose network could be connected")
    namespace.hold(node.init_pid, network.namespace)
    _connect(node.spec)


def give_back(spec: NodeSpec) -> None:
    """Return what the host lent to the node, while its namespace is still held; harmless when nothing is."""
    functions.give_back(spec, links.INTERFACE)


def remove(spec: NodeSpec) -> None:
    """Release the node's namespace, and the switch if it is in this node's folder; harmless when gone.

    A namespace ends, and its links with it, when nothing holds it any more; the kernel does so by itself a little later
    (network_namespaces(7)). Removing the file also ends the copies of its mount in other mount namespaces.
    """
    tap = spec.directory / _TAP
    if tap.exists() and spec.network.switch is not None:
        remove_tap(spec.network.tap, spec.network.switch)
        tap.unlink(missing_ok=True)
    if spec.network.wire is not None:
        wire.disconnect(spec)
    for name in ("network", "switch"):
        mounts.unmount(spec.directory / name)
        (spec.directory / name).unlink(missing_ok=True)


def _connect(spec: NodeSpec) -> None:
    network = spec.network
    if network.switch is None or network.namespace is None:
        return
    if network.wire is not None:
        wire.connect(spec)
        return
    _make_switch(spec, network.switch)
    links.connect(network, network.switch, network.namespace)


def _make_switch(spec: NodeSpec, switch: Path) -> None:
    """Make it in the first node's folder."""
    if switch.parent == spec.directory:
        links.make_switch(switch, spec.network.kind)
