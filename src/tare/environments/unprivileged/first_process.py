# SPDX-License-Identifier: Apache-2.0
"""Runs in a fresh process: enters namespaces of its own, mounts the node there, and becomes the node's first process.

The mounts live as long as a process of the node does: the kernel removes them with the last one.
"""

import ctypes
import fcntl
import json
import os
import socket
import struct
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tare.environments.provider import WORK_DIRECTORY, Bind, NodeNetwork, NodeSpec
from tare.environments.unprivileged import inside
from tare.environments.unprivileged.limits import hold_self, recall
from tare.errors import NodeError
from tare.records import NetworkKind, Storage

MAKER_FILE = "layer-maker"
_CLONE_NEWNS, _CLONE_NEWUSER, _CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1


def become(spec: NodeSpec, argv: list[str], *, in_image: bool, own_network: bool) -> None:
    """Make the node and execute ``argv``: in the image, or still outside of it, where the image is at its root folder.

    The working directory is then the node's work directory, by which the runner finds it.
    """
    _enter_namespaces(own_network=own_network)
    inside.make_layer(spec)
    (spec.directory / MAKER_FILE).write_text(inside.mount_root(spec))
    work = spec.work
    if in_image:
        inside.mount_system(spec)
        os.chroot(spec.directory / "root")
        work = Path(WORK_DIRECTORY)
    os.chdir(work)
    hold_self(spec.processors, None if recall(spec).memory_by_group else spec.memory_byte)
    os.execvp(argv[0], argv)  # noqa: S606 - an argv list without a shell is what is wanted


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


def spec_from(found: Mapping[str, Any]) -> NodeSpec:
    """The inverse of ``json.dumps(asdict(spec), default=str)``, as far as a node of one host needs it."""
    paths = {name: Path(found[name]) for name in ("directory", "image_root")}
    shared = found["shared_work"]
    network = NodeNetwork(kind=NetworkKind(found["network"]["kind"]))
    binds = tuple(Bind(path=Path(one["path"]), writable=one["writable"]) for one in found["binds"])
    return NodeSpec(
        **{
            **found,
            **paths,
            "processors": tuple(found["processors"]),
            "binds": binds,
            "network": network,
            "storage": Storage(found["storage"]),
            "shared_work": Path(shared) if shared else None,
        }
    )


def main() -> int:
    """``first_process ORDER``, a JSON object; returns only when it failed."""
    order = json.loads(sys.argv[1])
    try:
        become(
            spec_from(order["spec"]),
            order["argv"],
            in_image=order["in_image"],
            own_network=order["own_network"],
        )
    except (NodeError, OSError) as error:
        sys.stderr.write(f"{error}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
