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
    """Make a tap device of this name in the switch's namespace, a port of its bridge; it stays until ``remove_tap``.

    ``NodeError`` gives the kernel's reason.
    """
    try:
        namespace.inside(switch, lambda: _make(name))
    except OSError as error:
        raise NodeError(f"cannot make the tap device {name}: {error.strerror}; try {_REMEDY}") from error


def remove_tap(name: str, switch: Path) -> None:
    """Remove it; harmless when it is gone, or the switch with it."""
    with suppress(OSError, NodeError):  # a file that no longer holds a namespace cannot be joined
        namespace.inside(switch, lambda: delete_link(name))


def _make(name: str) -> None:
    """Make it; the next process that opens the device gets the same one, with the features that it requests."""
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
