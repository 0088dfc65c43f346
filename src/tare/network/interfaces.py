# SPDX-License-Identifier: Apache-2.0
"""The interfaces of this thread's network: which one is on a subnet, and what its driver does to packets.

Asked by the ioctl of ethtool(8), which need not be installed, and not of /sys, which shows the network of whoever
mounted it. The numbers and layouts come from the kernel's headers linux/ethtool.h and linux/sockios.h.
"""

import ctypes
import fcntl
import ipaddress
import os
import socket
import struct
from contextlib import suppress
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from tare.errors import NodeError
from tare.host import process
from tare.host.told import told

_LIMIT_S = 20.0
_ETHTOOL = 0x8946
"""SIOCETHTOOL."""
_MTU = 0x8921
"""SIOCGIFMTU."""
_SETTINGS, _DRIVER = 0x01, 0x03
_SETTINGS_BYTE, _DRIVER_BYTE = 44, 196
_NAME = slice(4, 36)
_UNKNOWN_MBIT_PER_S = {0, 0xFFFF, 0xFFFFFFFF}
_OFFLOADS = {
    "receive checksums": 0x14,
    "transmit checksums": 0x16,
    "scatter-gather": 0x18,
    "TSO": 0x1E,
    "GSO": 0x23,
    "GRO": 0x2B,
}
"""Each in the words of ethtool(8) → the command that asks whether it is on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """One that has an address of the subnet in question."""

    name: str
    index: int
    mtu_byte: int
    address: ipaddress.IPv4Address
    kind: str | None = None
    """Such as ``"bridge"`` or ``"vlan"`` (ip-link(8)); ``None``: a device without a kind, as real ones are."""


class _OwnAddress(TypedDict):
    local: str


class _Kind(TypedDict):
    info_kind: NotRequired[str]


class _OwnLink(TypedDict):
    ifname: NotRequired[str]
    ifindex: NotRequired[int]
    mtu: NotRequired[int]
    linkinfo: NotRequired[_Kind]
    addr_info: NotRequired[list[_OwnAddress]]


def interface_within(subnet: str) -> Interface:
    """The first one with an IPv4 address in that range; ``NodeError`` when this host has none there."""
    done = process.run_checked(["ip", "-json", "-details", "-4", "address", "show"], timeout_s=_LIMIT_S)
    interface = interface_among(done.stdout, subnet)
    if interface is None:
        raise NodeError(
            f"{os.uname().nodename} has no address in {subnet}; subnet names a range in which all hosts have one"
        )
    return interface


def interface_among(text: str, subnet: str) -> Interface | None:
    """The first of those that ip-address(8) printed as JSON; ``NodeError`` if that is not understood."""
    around = ipaddress.IPv4Network(subnet)
    for link in told(list[_OwnLink], text or "[]", "ip address show"):
        for written in link.get("addr_info", []):
            try:
                address = ipaddress.IPv4Address(written["local"])
            except ValueError as error:
                raise NodeError(f"what ip address show prints is not understood: {error}") from None
            if address in around:
                return Interface(
                    name=link.get("ifname", ""),
                    index=link.get("ifindex", 0),
                    mtu_byte=link.get("mtu", 0),
                    address=address,
                    kind=link.get("linkinfo", {}).get("info_kind"),
                )
    return None


def described(name: str) -> str:
    """Such as ``"eth0 (mlx5_core); MTU 9000 B; 100000 Mbit/s; on: TSO, GSO; off: GRO"``; without what is not told."""
    parts = [f"{name} ({driver})" if (driver := _driver(name)) else name]
    if (mtu_byte := _mtu_byte(name)) is not None:
        parts.append(f"MTU {mtu_byte} B")
    if (speed := _mbit_per_s(name)) is not None:
        parts.append(f"{speed} Mbit/s")
    switches = {offload: _is_on(name, command) for offload, command in _OFFLOADS.items()}
    for words, wanted in (("on", True), ("off", False)):
        if named := [offload for offload, is_on in switches.items() if is_on is wanted]:
            parts.append(f"{words}: {', '.join(named)}")
    return "; ".join(parts)


def _driver(name: str) -> str | None:
    said = _asked(name, _DRIVER, _DRIVER_BYTE)
    return None if said is None else said[_NAME].partition(b"\0")[0].decode(errors="replace")


def _mbit_per_s(name: str) -> int | None:
    said = _asked(name, _SETTINGS, _SETTINGS_BYTE)
    if said is None:
        return None
    low, high = struct.unpack_from("=H", said, 12)[0], struct.unpack_from("=H", said, 28)[0]
    speed = int(high << 16 | low)
    return None if speed in _UNKNOWN_MBIT_PER_S else speed


def _is_on(name: str, command: int) -> bool | None:
    said = _asked(name, command, 8)
    return None if said is None else bool(struct.unpack_from("=I", said, 4)[0])


def _mtu_byte(name: str) -> int | None:
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        return int(
            struct.unpack_from("=i", fcntl.ioctl(asked, _MTU, struct.pack("16s24x", name.encode())), 16)[0]
        )
    return None


def _asked(name: str, command: int, size_byte: int) -> bytes | None:
    """The answer to one of ethtool's questions; ``None`` when the driver has none."""
    answer = ctypes.create_string_buffer(struct.pack("=I", command), size_byte)
    request = struct.pack("@16sP16x", name.encode(), ctypes.addressof(answer))
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        fcntl.ioctl(asked, _ETHTOOL, request)
        return answer.raw
    return None
