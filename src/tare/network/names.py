# SPDX-License-Identifier: Apache-2.0
"""Names: every node knows the address of every node of its trial, from its own /etc/hosts."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tare.errors import NodeError
from tare.host import process
from tare.network.addresses import node_address
from tare.nodes.provider import Node, Provider
from tare.records import NetworkKind

HOSTS = Path("/etc/hosts")
_ALONE = {NetworkKind.NONE, NetworkKind.HOST}
_LIMIT_S = 30.0
_LOCALHOST = ("127.0.0.1 localhost", "::1 localhost ip6-localhost ip6-loopback")


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
    if node.machine:
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
