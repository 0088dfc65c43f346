# SPDX-License-Identifier: Apache-2.0
"""Tap devices: the end of a machine's link in the switch, which its monitor opens (the kernel's networking/tuntap)."""

import errno
import fcntl
import os
import struct
from contextlib import suppress
from pathlib import Path

from tare.errors import NodeError
from tare.host import network_namespace as namespace
from tare.network import links
from tare.network.netlink import attach, delete_link

_DEVICE = Path("/dev/net/tun")
_REQUEST = struct.Struct("16sH22x")
"""struct ifreq of netdevice(7): name and flags."""
_SET_DEVICE, _SET_PERSISTENT = 0x400454CA, 0x400454CB
"""TUNSETIFF and TUNSETPERSIST of linux/if_tun.h."""
_TAP, _NO_PACKET_INFORMATION, _HEADERS = 0x0002, 0x1000, 0x4000
_REMEDY = "`modprobe -a tun bridge`, or mknod /dev/net/tun c 10 200"


def make_tap(name: str, switch: Path) -> None:
    """A tap device of this name in the switch's namespace, a port of its bridge; it stays until ``remove_tap``.

    ``NodeError`` says what the kernel refuses.
    """
    try:
        namespace.inside(switch, lambda: _make(name))
    except OSError as error:
        raise NodeError(f"cannot make the tap device {name}: {error.strerror}; try {_REMEDY}") from error


def remove_tap(name: str, switch: Path) -> None:
    """Harmless when it is gone, or the switch with it."""
    with suppress(OSError, NodeError):  # a file that holds no namespace any more cannot be joined
        namespace.inside(switch, lambda: delete_link(name))


def _make(name: str) -> None:
    """Whoever opens the device next gets the same one, with the features that it asks for."""
    if not _DEVICE.exists():
        raise FileNotFoundError(errno.ENOENT, f"there is no {_DEVICE}")
    opened = os.open(_DEVICE, os.O_RDWR | os.O_CLOEXEC)
    try:
        flags = _TAP | _NO_PACKET_INFORMATION | _HEADERS
        fcntl.ioctl(opened, _SET_DEVICE, _REQUEST.pack(name.encode(), flags))
        fcntl.ioctl(opened, _SET_PERSISTENT, 1)
    finally:
        os.close(opened)
    attach(name, links.SWITCH)
