# SPDX-License-Identifier: Apache-2.0
"""Links, addresses and routes by messages to the kernel (rtnetlink(7)): a link takes a millisecond, ip(8) takes ten.

The numbers come from the kernel's headers linux/rtnetlink.h, linux/if_link.h, linux/if_addr.h and linux/veth.h.
"""

import ipaddress
import os
import socket
import struct
from dataclasses import dataclass

_LIMIT_S = 20.0
_HEADER = struct.Struct("=IHHII")
_REQUEST_ACK = 0x1 | 0x4
_REPLACE, _EXCLUSIVE, _CREATE, _APPEND = 0x100, 0x200, 0x400, 0x800
_NEW_LINK, _DELETE_LINK, _NEW_ADDRESS, _NEW_ROUTE, _NEW_NEIGHBOUR = 16, 17, 20, 24, 28

_LINK_MESSAGE, _ADDRESS_MESSAGE, _ROUTE_MESSAGE, _NEIGHBOUR_MESSAGE = (
    struct.Struct(form) for form in ("=BxHiII", "=4Bi", "=8BI", "=B3xiHBB")
)
_UP = 0x1
_HARDWARE_ADDRESS, _NAME, _MTU, _PARENT, _MASTER, _KIND_AND_DATA, _NAMESPACE = 1, 3, 4, 5, 10, 18, 28
_KIND, _DATA = 1, 2

_ADDRESS, _LOCAL, _BROADCAST = 1, 2, 4

_DESTINATION, _OUT, _SOURCE, _METRICS = 1, 4, 7, 8
_MAIN_TABLE, _BY_KERNEL, _ON_LINK, _UNICAST = 254, 2, 253, 1
_LOCK, _RTO_MIN = 1, 13
_NEIGHBOUR_DESTINATION, _NEIGHBOUR_HARDWARE = 1, 2
_PERMANENT_ENTRY, _OF_DEVICE = 0x80 | 0x40, 0x02
"""NUD_PERMANENT with NUD_NOARP, and NTF_SELF."""
_ANY_HARDWARE = bytes(6)


def attribute(kind: int, payload: bytes) -> bytes:
    """One attribute, padded to four bytes (netlink(7))."""
    return struct.pack("=HH", 4 + len(payload), kind) + payload + bytes(-len(payload) % 4)


def number(kind: int, value: int) -> bytes:
    """An attribute of 32 bits."""
    return attribute(kind, struct.pack("=i", value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link to make. It is up from the beginning, except for the other end of a pair, which ``set_up`` brings up."""

    name: str
    kind: str | None = None
    """The type's name in ip-link(8); ``None``: the other end of a pair."""
    data: bytes = b""
    """The attributes of this kind of link."""
    namespace: int | None = None
    """A descriptor of the network namespace to make it in; ``None``: where the request is made."""
    parent: int | None = None
    master: int | None = None
    hardware_address: bytes | None = None
    mtu_byte: int | None = None
    """``None``: the kernel's choice."""

    def encoded(self) -> bytes:
        given = {
            _NAMESPACE: self.namespace,
            _PARENT: self.parent,
            _MASTER: self.master,
            _MTU: self.mtu_byte,
        }
        up = 0 if self.kind is None else _UP
        parts = [_LINK_MESSAGE.pack(0, 0, 0, up, up), attribute(_NAME, self.name.encode() + b"\0")]
        parts += [number(name, value) for name, value in given.items() if value is not None]
        if self.hardware_address is not None:
            parts.append(attribute(_HARDWARE_ADDRESS, self.hardware_address))
        if self.kind is not None:
            kind = attribute(_KIND, self.kind.encode() + b"\0")
            parts.append(attribute(_KIND_AND_DATA, kind + attribute(_DATA, self.data)))
        return b"".join(parts)


def add_link(link: Link) -> None:
    """Make it in this thread's namespace, as do all these functions; ``OSError`` when the kernel refuses."""
    _request(_NEW_LINK, _CREATE | _EXCLUSIVE, link.encoded())


def set_up(link: str) -> None:
    _request(_NEW_LINK, 0, _LINK_MESSAGE.pack(0, 0, socket.if_nametoindex(link), _UP, _UP))


def attach(link: str, bridge: str) -> None:
    """Make an existing link a port of a bridge, and bring it up."""
    message = _LINK_MESSAGE.pack(0, 0, socket.if_nametoindex(link), _UP, _UP)
    _request(_NEW_LINK, 0, message + number(_MASTER, socket.if_nametoindex(bridge)))


def move_link(link: str, namespace: int, name: str) -> None:
    """Move it to the namespace with this descriptor, under this name; it is down and without addresses then."""
    message = _LINK_MESSAGE.pack(0, 0, socket.if_nametoindex(link), 0, 0)
    message += number(_NAMESPACE, namespace) + attribute(_NAME, name.encode() + b"\0")
    _request(_NEW_LINK, 0, message)


def delete_link(link: str) -> None:
    _request(_DELETE_LINK, 0, _LINK_MESSAGE.pack(0, 0, socket.if_nametoindex(link), 0, 0))


def add_address(link: str, address: ipaddress.IPv4Interface) -> None:
    """Give a link an address; the kernel adds the route to the subnet itself."""
    message = _ADDRESS_MESSAGE.pack(
        socket.AF_INET, address.network.prefixlen, 0, 0, socket.if_nametoindex(link)
    )
    own, broadcast = address.ip.packed, address.network.broadcast_address.packed
    message += attribute(_LOCAL, own) + attribute(_ADDRESS, own) + attribute(_BROADCAST, broadcast)
    _request(_NEW_ADDRESS, _CREATE | _EXCLUSIVE, message)


def set_rto_min(link: str, address: ipaddress.IPv4Interface, rto_min_ms: int) -> None:
    """Set the minimum TCP retransmission timeout on the kernel's own route; locked, or TCP would ignore it."""
    kept = (_MAIN_TABLE, _BY_KERNEL, _ON_LINK, _UNICAST)
    message = _ROUTE_MESSAGE.pack(socket.AF_INET, address.network.prefixlen, 0, 0, *kept, 0)
    message += attribute(_DESTINATION, address.network.network_address.packed)
    message += number(_OUT, socket.if_nametoindex(link)) + attribute(_SOURCE, address.ip.packed)
    message += attribute(_METRICS, number(_LOCK, 1 << _RTO_MIN) + number(_RTO_MIN, rto_min_ms))
    _request(_NEW_ROUTE, _REPLACE, message)


def add_route(link: str, destination: ipaddress.IPv4Network) -> None:
    """Send everything for these addresses over the link, on which they are."""
    kept = (_MAIN_TABLE, _BY_KERNEL, _ON_LINK, _UNICAST)
    message = _ROUTE_MESSAGE.pack(socket.AF_INET, destination.prefixlen, 0, 0, *kept, 0)
    message += attribute(_DESTINATION, destination.network_address.packed)
    _request(_NEW_ROUTE, _CREATE | _REPLACE, message + number(_OUT, socket.if_nametoindex(link)))


def flood_to(link: str, host: ipaddress.IPv4Address) -> None:
    """Have a VXLAN device send frames for unknown and for all addresses to this host too (bridge(8), fdb append)."""
    index = socket.if_nametoindex(link)
    message = _NEIGHBOUR_MESSAGE.pack(socket.AF_BRIDGE, index, _PERMANENT_ENTRY, _OF_DEVICE, 0)
    message += attribute(_NEIGHBOUR_DESTINATION, host.packed) + attribute(_NEIGHBOUR_HARDWARE, _ANY_HARDWARE)
    _request(_NEW_NEIGHBOUR, _CREATE | _APPEND, message)


def _request(kind: int, flags: int, body: bytes) -> None:
    """Send a request, and wait for the answer: 0, or the negative error number."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
        kernel.settimeout(_LIMIT_S)
        kernel.sendto(_HEADER.pack(_HEADER.size + len(body), kind, flags | _REQUEST_ACK, 1, 0) + body, (0, 0))
        (error,) = struct.unpack_from("=i", kernel.recv(1 << 16), _HEADER.size)
    if error:
        raise OSError(-error, os.strerror(-error))
