# SPDX-License-Identifier: Apache-2.0
"""Rights that an image could give to other users of this host, who can reach every file of a store that they can read.

- A device node opens the device, whoever made it. No environment needs the image's: each mounts its own /dev. So the
    few that every root filesystem has below /dev are left out, and any other is no tool's mistake: refused.
- A set-user-id program, or one with file capabilities, runs with its owner's rights. No job needs that, and the bits
    would be the only thing that the environments treat differently. They are dropped where others can reach the store.
- Root may run a program that another user can change. An image with such files is kept for root alone.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tare.image.limits import shown

_STANDARD_DEVICES = {
    "dev/null": (1, 3),
    "dev/zero": (1, 5),
    "dev/full": (1, 7),
    "dev/random": (1, 8),
    "dev/urandom": (1, 9),
    "dev/tty": (5, 0),
    "dev/console": (5, 1),
    "dev/ptmx": (5, 2),
}
"""Character devices that debootstrap makes → major and minor number (Linux, admin-guide/devices.txt)."""
_CAPABILITY = "security.capability"
_ACCESS_LIST = "system.posix_acl_access"
_SET_ID = stat.S_ISUID | stat.S_ISGID
_FIRST_LOGIN_ID = 1000
"""Lower ids are root's and a host's services' (login.defs(5), UID_MIN)."""


@dataclass(slots=True)
class RightsFindings:
    """Paths within an image."""

    privileged: list[str] = field(default_factory=list)
    """Programs that run with their owner's rights, or with capabilities."""
    changeable: list[str] = field(default_factory=list)
    """Files that a user who is neither root nor a service of the host can change."""


def is_standard_device(path: str, *, character: bool, major: int, minor: int) -> bool:
    """Whether ``path``, relative to the root, is a device node that may be left out silently."""
    return character and _STANDARD_DEVICES.get(path) == (major, minor)


def refuse_device(path: str) -> str:
    """The message for any other."""
    return (
        f"The import is refused: {shown(path)} in it is a device node. Every environment mounts a /dev of its own; "
        "remove it from the source."
    )


def reachable_by_others(folder: Path) -> bool:
    """Whether another user can enter ``folder`` and all folders above it.

    Groups count as others, and so do access control lists, which show as the group's bits (acl(5)).
    """
    place = folder.resolve()
    return not any(_keeps_others_out(path.stat()) for path in (place, *place.parents) if path.exists())


def _keeps_others_out(status: os.stat_result) -> bool:
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IXGRP | stat.S_IXOTH)


def find(root: Path) -> RightsFindings:
    """Check all regular files and folders below ``root``, and ``root`` itself."""
    findings = RightsFindings()
    for path in (os.fspath(root), *_below(os.fspath(root))):
        status = os.lstat(path)
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
            continue
        name, attributes = os.path.relpath(path, root), os.listxattr(path, follow_symlinks=False)
        if stat.S_ISREG(status.st_mode) and (status.st_mode & _SET_ID or _CAPABILITY in attributes):
            findings.privileged.append(name)
        if _is_changeable(status, has_list=_ACCESS_LIST in attributes):
            findings.changeable.append(name)
    return findings


def drop(root: Path, paths: list[str]) -> None:
    """Remove set-user-id and set-group-id bits and file capabilities from the files, which stay."""
    for path in (root / name for name in paths):
        path.chmod(stat.S_IMODE(path.lstat().st_mode) & ~_SET_ID)
        if _CAPABILITY in os.listxattr(path, follow_symlinks=False):
            os.removexattr(path, _CAPABILITY, follow_symlinks=False)


def _below(top: str) -> Iterator[str]:
    waiting = [top]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                yield entry.path
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)


def _is_changeable(status: os.stat_result, *, has_list: bool) -> bool:
    """Whether others can change it; not a folder like /tmp, where all may add and nobody remove: verify notices."""
    sticky = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
    by_all = status.st_mode & stat.S_IWOTH and not sticky
    by_group = status.st_mode & stat.S_IWGRP and (has_list or status.st_gid >= _FIRST_LOGIN_ID)
    return bool(status.st_uid >= _FIRST_LOGIN_ID or by_all or by_group)
