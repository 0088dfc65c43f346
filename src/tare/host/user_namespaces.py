# SPDX-License-Identifier: Apache-2.0
"""What the kernel lets an ordinary user do in their own user namespace (user_namespaces(7)).

A trial decides; the kernel's switches are read only for the reason when it fails.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

from tare.errors import NodeError
from tare.host import process
from tare.host.distribution import to_install
from tare.host.scratch import scratch_folder

OVERLAYFS, FUSE_OVERLAYFS = "overlayfs", "fuse-overlayfs"
_TRY_LIMIT_S = 5.0
_INSIDE = ("unshare", "--user", "--map-root-user", "--mount", "--", "mount", "-t")
_SWITCHES = (
    (
        "proc/sys/kernel/unprivileged_userns_clone",
        "0",
        "this kernel lets nobody but root make user namespaces",
        "ask the administrator for: sysctl kernel.unprivileged_userns_clone=1",
    ),
    (
        "proc/sys/user/max_user_namespaces",
        "0",
        "user namespaces are switched off here",
        "ask the administrator for: sysctl user.max_user_namespaces=10000",
    ),
    (
        "proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "AppArmor takes all rights from programs in an ordinary user's namespace",
        "ask the administrator for an AppArmor profile with `userns,` for unshare, bwrap and Tare's Python",
    ),
)
"""Below the root directory: file, the value that forbids it, what that means, the way out."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why it does not work, and what to do about it."""

    reason: str
    remedy: str


def find_obstacle(root: Path = Path("/")) -> Obstacle | None:
    """What keeps this user from having nodes; ``None``: nothing. Leaves no trace."""
    if _works("tmpfs", "size=64k", Path("/proc")):
        return None if layer_maker() else _no_layer(root)
    for name, forbidding, reason, remedy in _SWITCHES:
        if _text(root / name) == forbidding:
            return Obstacle(f"{reason} ({Path(name).name} is {forbidding})", remedy)
    if shutil.which("unshare") is None:
        return Obstacle("the program unshare is not on this host", to_install("util-linux"))
    return Obstacle(
        "this kernel refuses mounts in a user namespace of an ordinary user",
        "a container's or a site's own rule may forbid it: ask the administrator",
    )


def layer_maker() -> str | None:
    """What makes a writable layer over the image: the kernel since Linux 5.11, else a program; ``None``: nothing."""
    with scratch_folder("layer") as folder:
        lower = [folder / name for name in ("one", "two")]
        for path in lower:
            path.mkdir()
        if _works("overlay", f"lowerdir={lower[0]}:{lower[1]}", lower[0]):
            return OVERLAYFS
    return FUSE_OVERLAYFS if shutil.which(FUSE_OVERLAYFS, path=process.tool_environment()["PATH"]) else None


def _no_layer(root: Path) -> Obstacle:
    release = _text(root / "proc/sys/kernel/osrelease")
    return Obstacle(
        f"this kernel ({release}) has no overlayfs for ordinary users, and {FUSE_OVERLAYFS} is missing",
        f"{to_install(FUSE_OVERLAYFS)}, or a kernel from Linux 5.11",
    )


def _works(kind: str, options: str, point: Path) -> bool:
    """Whether a file system of this kind can be mounted there, in a namespace that ends with the attempt."""
    argv = [*_INSIDE, kind, "-o", options, "tare", str(point)]
    try:
        return process.run(argv, timeout_s=_TRY_LIMIT_S).code == 0
    except NodeError:
        return False


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
