# SPDX-License-Identifier: Apache-2.0
"""Virtual functions of a host's interface (SR-IOV): a free one becomes a node's link, and goes back in the end.

Tare makes none: how many there are, and their hardware addresses and VLANs, is the site's choice (the kernel's
PCI/pci-iov-howto, sriov_numvfs). A function is lent by moving it to the node's network namespace. Its name is written
down before, so that any later process can give it back.
"""

import socket
from collections.abc import Set as AbstractSet
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NotRequired, TypedDict

from tare.errors import NodeError
from tare.host import network_namespace as namespace
from tare.host import process
from tare.host.told import told
from tare.network.netlink import move_link
from tare.nodes.provider import NodeSpec

_NET = Path("/sys/class/net")
_OWN_NAMESPACE = Path("/proc/thread-self/ns/net")
_LENT = "function"
"""The file in the node's folder that names its function, from before it is moved until it is back."""
_LIMIT_S = 20.0
_GLOBAL = "global"


class _ItsAddress(TypedDict):
    scope: NotRequired[str]


class _PossibleFunction(TypedDict):
    ifname: NotRequired[str]
    master: NotRequired[str]
    addr_info: NotRequired[list[_ItsAddress]]


def lend(spec: NodeSpec, interface: str, node: int, name: str) -> None:
    """Move a free function of the interface to the namespace with the descriptor ``node``, as ``name``.

    Nodes of a host start at the same time: whoever finds a function taken meanwhile looks for the next. ``NodeError``
    when there is none, ``OSError`` when the kernel refuses.
    """
    while True:
        function = free_function(interface, _unused_here())
        (spec.directory / _LENT).write_text(function)
        try:
            move_link(function, node, name)
        except OSError:
            if function in {own for _, own in socket.if_nameindex()}:
                raise
        else:
            return


def give_back(spec: NodeSpec, name: str) -> None:
    """Move the node's function back to this thread's namespace, under its own name; harmless when it is there.

    ``OSError`` when the kernel refuses: the function stays the node's, so that a later call can try again.
    """
    lent = spec.directory / _LENT
    if not lent.exists():
        return
    with _OWN_NAMESPACE.open() as own, suppress(FileNotFoundError, NodeError):
        # A namespace that nothing holds any more has ended, and the kernel gave the device back: it ends no hardware's.
        back = partial(_move_if_there, name, own.fileno(), lent.read_text())
        namespace.inside(spec.directory / "network", back)
    lent.unlink()


def _move_if_there(link: str, namespace: int, name: str) -> None:
    if link in {own for _, own in socket.if_nameindex()}:
        move_link(link, namespace, name)


def free_function(interface: str, unused: AbstractSet[str]) -> str:
    """The name of the interface's first function that is among the ``unused``; ``NodeError`` if there is none."""
    functions = sorted(_NET.glob(f"{interface}/device/virtfn*"), key=_number)
    if not functions:
        raise NodeError(
            f"{interface} has no virtual functions: make some, such as by echo 8 > "
            f"{_NET}/{interface}/device/sriov_numvfs, or choose the network macvlan"
        )
    names = [device.name for function in functions for device in sorted(function.glob("net/*"))]
    if (free := next((name for name in names if name in unused), None)) is None:
        raise NodeError(
            f"none of the {len(functions)} virtual functions of {interface} is free: every node on a host takes one "
            "that has a driver and no address; make more (sriov_numvfs), or have fewer nodes on each host"
        )
    return free


def _unused_here() -> frozenset[str]:
    done = process.run_checked(["ip", "-json", "address", "show"], timeout_s=_LIMIT_S)
    return unused_among(done.stdout)


def unused_among(text: str) -> frozenset[str]:
    """The interfaces without an address beyond their link, and in no bridge or bond, of those that ip(8) printed.

    ``NodeError`` if its JSON is not understood.
    """
    return frozenset(
        link["ifname"]
        for link in told(list[_PossibleFunction], text or "[]", "ip address show")
        if "ifname" in link
        and "master" not in link
        and all(each.get("scope") != _GLOBAL for each in link.get("addr_info", []))
    )


def _number(function: Path) -> int:
    """Of virtfn10, which is after virtfn9."""
    return int("".join(filter(str.isdecimal, function.name)) or 0)
