# SPDX-License-Identifier: Apache-2.0
"""Runs in a fresh process: enters new namespaces, mounts the node there, and becomes the node's first process.

The mounts live as long as any process of the node: the kernel removes them with the last one.
"""

import ctypes
import fcntl
import os
import socket
import struct
import sys
from pathlib import Path

from tare.errors import NodeError
from tare.nodes.provider import TOOLS_DIRECTORY, WORK_DIRECTORY, NodeSpec
from tare.nodes.unprivileged import inside
from tare.nodes.unprivileged.limits import hold_self
from tare.nodes.unprivileged.start_order import KEEPER_FILE, MAKER_FILE, TECHNOLOGY_FILE, StartOrder

_CLONE_NEWNS, _CLONE_NEWUSER, _CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1


def become(order: StartOrder, spec: NodeSpec) -> None:
    """Make the node and execute the argv. The working directory, by which the runner finds it, becomes the node's."""
    _enter_namespaces(own_network=order.own_network)
    _mount(order, spec)
    if order.in_image:
        os.chroot(spec.directory / "root")
        os.chdir(WORK_DIRECTORY)
    else:
        os.chdir(spec.work)
        _leave_keeper(spec)
    hold_self(spec.processors, order.data_limit_byte)
    os.execvp(order.argv[0], order.argv)  # noqa: S606 - an argv list without a shell is intended


def _enter_namespaces(*, own_network: bool) -> None:
    """This user becomes root, and the only user there is (user_namespaces(7))."""
    user, group = os.geteuid(), os.getegid()
    flags = _CLONE_NEWUSER | _CLONE_NEWNS | (_CLONE_NEWNET if own_network else 0)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(flags) != 0:
        reason = os.strerror(ctypes.get_errno())
        raise NodeError(f"cannot make a user namespace: {reason}; `tare doctor` says what this host lacks")
    maps = {"setgroups": "deny", "uid_map": f"0 {user} 1", "gid_map": f"0 {group} 1"}
    for name, text in maps.items():
        Path("/proc/self", name).write_text(text)
    if own_network:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
            fcntl.ioctl(asked, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))


def _mount(order: StartOrder, spec: NodeSpec) -> None:
    inside.make_layer(spec)
    (spec.directory / MAKER_FILE).write_text(inside.mount_root(spec))
    if order.system:
        inside.mount_system(spec, own_network=order.own_network)
    if order.again is not None:
        inside.mount_again(spec, order.again)


def _leave_keeper(spec: NodeSpec) -> None:
    """Continue as a child. The parent, which the runner knows, stays in these namespaces as an idle init."""
    keeper = os.getpid()
    if os.fork() == 0:
        (spec.directory / KEEPER_FILE).write_text(str(keeper))
        (spec.directory / TECHNOLOGY_FILE).write_text(str(os.getpid()))
        return
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, sys.stdout.fileno())  # only the node's own init says READY
    program = f"{spec.image_root}{TOOLS_DIRECTORY}/init"
    os.execv(program, [program])  # noqa: S606 - as above


def main() -> int:
    """``first_process ORDER`` as ``StartOrder.command`` writes it; returns only on failure."""
    try:
        become(*StartOrder.read(sys.argv[1]))
    except (NodeError, OSError) as error:
        sys.stderr.write(f"{error}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
