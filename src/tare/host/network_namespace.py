# SPDX-License-Identifier: Apache-2.0
"""Network namespaces held by a file, made in this process: without a tool, and without /run/netns."""

import ctypes
import fcntl
import os
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from tare.errors import NodeError
from tare.host import mounts

_CLONE_NEWNET = 0x40000000
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1
_LIMIT_S = 30.0
_SETTINGS = Path("/proc/sys/net")
"""The settings of the reading thread's namespace (proc(5))."""
_libc = ctypes.CDLL(None, use_errno=True)


def make(path: Path) -> None:
    """Make a namespace with its loopback up, held by ``path``; ``NodeError`` gives the kernel's reason."""
    path.touch()
    _in_thread(lambda: _make(path))


def hold(pid: int, path: Path) -> None:
    """Let ``path`` hold the namespace of a running process."""
    path.touch()
    mounts.mount(f"/proc/{pid}/ns/net", path, "", mounts.MS_BIND)


def configure(path: Path, settings: Mapping[str, str]) -> None:
    """Set files below /proc/sys/net inside the namespace; files that the kernel lacks are left out.

    ``NodeError`` names the file that refuses its value.
    """
    inside(path, lambda: _configure(settings))


def inside(path: Path, action: Callable[[], None]) -> None:
    """Do something in the namespace that ``path`` holds, in a separate thread; its exceptions are raised here."""

    def joined() -> None:
        _join(path)
        action()

    _in_thread(joined)


def _configure(settings: Mapping[str, str]) -> None:
    for name, value in settings.items():
        setting = _SETTINGS / name
        try:
            if setting.exists() and setting.read_text().strip() != value:
                setting.write_text(value)
        except OSError as error:
            raise NodeError(
                f"cannot set {setting} to {value}: {error.strerror}; is /proc writable?"
            ) from error


def _join(path: Path) -> None:
    with path.open() as held:
        if _libc.setns(held.fileno(), _CLONE_NEWNET) != 0:
            reason = os.strerror(ctypes.get_errno())
            raise NodeError(f"cannot join the network namespace that {path} holds: {reason}")


def _make(path: Path) -> None:
    if _libc.unshare(_CLONE_NEWNET) != 0:
        reason = os.strerror(ctypes.get_errno())
        raise NodeError(f"cannot make a network namespace: {reason}; `tare doctor` says what this host lacks")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        fcntl.ioctl(asked, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))
    mounts.mount("/proc/thread-self/ns/net", path, "", mounts.MS_BIND)


def _in_thread(action: Callable[[], None]) -> None:
    """Use a separate thread: a network namespace belongs to a thread (setns(2)) and must not stay this thread's.

    An interrupt is raised only when the action has ended: otherwise a clean-up would miss what it makes.
    ``Thread.join`` cannot be used for that: once interrupted, it takes the thread for ended.
    """
    raised: list[BaseException] = []
    ended = threading.Event()

    def run() -> None:
        try:
            action()
        except BaseException as error:  # noqa: BLE001 - raised again in the caller
            raised.append(error)
        finally:
            ended.set()

    try:
        _start(run, ended)
        ended.wait(_LIMIT_S)
    finally:
        if not ended.wait(_LIMIT_S):
            raise NodeError(f"the kernel is busy with a network namespace for more than {_LIMIT_S:.0f} s")
    if raised:
        raise raised[0]


def _start(run: Callable[[], None], ended: threading.Event) -> None:
    try:
        threading.Thread(target=run, daemon=True).start()
    except RuntimeError as error:
        ended.set()
        raise NodeError("cannot start a thread; are there too many processes?") from error
