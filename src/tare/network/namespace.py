# SPDX-License-Identifier: Apache-2.0
"""Network namespaces that a file holds, made in this process: no tool, and nothing below /run/netns."""

import ctypes
import fcntl
import os
import socket
import struct
import threading
from collections.abc import Callable
from pathlib import Path

from tare.errors import NodeError
from tare.host import mounts

_CLONE_NEWNET = 0x40000000
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1
_libc = ctypes.CDLL(None, use_errno=True)


def make(path: Path) -> None:
    """A new namespace with its loopback up, held by ``path``; ``NodeError`` says what the kernel refuses."""
    path.touch()
    _in_thread(lambda: _make(path))


def hold(pid: int, path: Path) -> None:
    """Have ``path`` hold the namespace of a process that runs already."""
    path.touch()
    mounts.mount(f"/proc/{pid}/ns/net", path, "", mounts.MS_BIND)


def _make(path: Path) -> None:
    if _libc.unshare(_CLONE_NEWNET) != 0:
        reason = os.strerror(ctypes.get_errno())
        raise NodeError(f"cannot make a network namespace: {reason}; `tare doctor` says what this host lacks")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        fcntl.ioctl(asked, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))
    mounts.mount("/proc/thread-self/ns/net", path, "", mounts.MS_BIND)


def _in_thread(action: Callable[[], None]) -> None:
    """In a thread of its own, as a network namespace belongs to a thread (setns(2)) and must not stay this one's."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            action()
        except BaseException as error:  # noqa: BLE001 - raised again where it belongs
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
