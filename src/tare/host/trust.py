# SPDX-License-Identifier: Apache-2.0
"""Whether only this user can change a folder, as sshd(8) requires of a home directory (StrictModes).

Anybody who can write a folder on the path can replace the next one. So each must belong to this user or to root, and
nobody else may write it; but in a folder where only the owner of an entry may rename it (/tmp), one's own entry is
safe. Links are followed one by one: they can be replaced just as folders can.
"""

import errno
import grp
import os
import pwd
import stat
from collections.abc import Set as AbstractSet
from itertools import takewhile
from pathlib import Path

from tare.errors import HostError
from tare.host.privileges import ordinary_user

_MOST_LINKS = 40
"""The kernel's own limit (path_resolution(7))."""
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_EVERYBODY = stat.S_IRWXU | stat.S_IRWXG | stat.S_IRWXO
_ACCESS_LIST = "system.posix_acl_access"


def trusted(path: Path) -> Path:
    """The real place of ``path``, with all links followed; what does not exist yet may be made there.

    ``HostError`` names the first folder or link on the path that another user owns or can change, and the remedy.
    """
    place, pending, links = "", [*_absolute(path).parts[1:]], 0
    _judge("/", bool(pending))
    while pending:
        part = pending.pop(0)
        if part == "..":
            place = place.rpartition("/")[0]
            continue
        status = _judge(f"{place}/{part}", bool(pending))
        if status is None:
            return Path(os.path.normpath("/".join([place, part, *pending])))
        if not stat.S_ISLNK(status.st_mode):
            place = f"{place}/{part}"
            continue
        links += 1
        if links > _MOST_LINKS:
            raise HostError(f"{path} leads through more than {_MOST_LINKS} links; name the folder itself")
        target = Path(f"{place}/{part}").readlink()
        pending = [*target.parts[target.is_absolute() :], *pending]
        place = "" if target.is_absolute() else place
    return Path(place or "/")


def made(path: Path, mode: int = 0o755) -> Path:
    """The folder, made if missing and never with more rights than ``mode``; ``HostError`` as ``trusted``.

    ``OSError`` when it cannot be made.
    """
    place = trusted(path)
    missing = list(takewhile(lambda folder: not folder.exists(), (place, *place.parents)))
    for folder in reversed(missing):
        folder.mkdir(mode=mode if folder == place else 0o755, exist_ok=True)
    if missing:
        return trusted(place)  # another process may have been quicker
    status = place.stat()
    if status.st_mode & _EVERYBODY & ~mode and status.st_uid == os.geteuid():
        place.chmod(
            stat.S_IMODE(status.st_mode) & ~(_EVERYBODY & ~mode)
        )  # an earlier version let everybody read it
    return place


def distrust(
    status: os.stat_result, path: str | Path | None = None, owners: AbstractSet[int] = frozenset()
) -> str | None:
    """Who else can change an entry with this status, in words; ``None``: only this user and root.

    ``path``: its place, to look for an access list. ``owners``: users who may own it as well.
    """
    if not _is_ours(status) and status.st_uid not in owners:
        return f"belongs to user {user_name(status.st_uid)}"
    if stat.S_ISLNK(status.st_mode) or not status.st_mode & _OTHERS_WRITE:
        return None
    if status.st_mode & stat.S_IWOTH:
        return "can be written by every user"
    if _is_one_users(status) and not _has_access_list(path):
        return None
    return f"can be written by the group {_group_name(status.st_gid)}"


def asking_users() -> AbstractSet[int]:
    """The user who started this program as root by sudo(8), if any."""
    try:
        return set() if ordinary_user() else {int(os.environ["SUDO_UID"])}
    except (KeyError, ValueError):
        return set()


def user_name(uid: int) -> str:
    """A name such as "alice"; the number of a user without a name."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _absolute(path: Path) -> Path:
    """An absolute path, not normalized: after a link, ".." is not where it seems to be."""
    return path if path.is_absolute() else Path.cwd() / path


def _judge(place: str, leads_on: bool) -> os.stat_result | None:
    """The entry's status; ``None``: it does not exist. ``HostError`` when it cannot be trusted."""
    try:
        status = os.lstat(place)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HostError(
            f"cannot look at {place}: {error.strerror}; set TARE_STATE to a folder of yours"
        ) from error
    if not stat.S_ISDIR(status.st_mode) and not stat.S_ISLNK(status.st_mode):
        raise HostError(
            f"{place}: {os.strerror(errno.ENOTDIR)}; remove it, or set TARE_STATE to a folder of yours"
        )
    why = distrust(status, place)
    if why is None or (leads_on and _is_shared(status)):
        return status
    raise HostError(
        f"{place} {why}, who could change what Tare keeps there or have it remove other files: "
        f"{_remedy(place, status)}, or set TARE_STATE to a folder of yours"
    )


def _remedy(place: str, status: os.stat_result) -> str:
    if status.st_uid not in {0, os.geteuid()}:
        return "run as that user"
    return f"chmod go-w {place}"


def _is_shared(status: os.stat_result) -> bool:
    """Whether it is sticky (inode(7)), so that only an entry's owner may rename it, and root's or one's own."""
    return bool(status.st_mode & stat.S_ISVTX) and _is_ours(status)


def _is_ours(status: os.stat_result) -> bool:
    """Whether it is this user's or root's; in a user namespace the owner of "/", who can change all below, is root."""
    return status.st_uid in {0, os.geteuid()} or status.st_uid == Path("/").stat().st_uid


def _is_one_users(status: os.stat_result) -> bool:
    """Whether the group has its owner as the only member: many distributions give each user one (umask 002)."""
    try:
        members = set(grp.getgrgid(status.st_gid).gr_mem)
    except KeyError:
        return False
    primary = {user.pw_uid for user in pwd.getpwall() if user.pw_gid == status.st_gid}
    return primary <= {status.st_uid} and members <= {user_name(status.st_uid)} and bool(primary or members)


def _has_access_list(path: str | Path | None) -> bool:
    """Whether it has one: its mask then shows as the group's rights, which somebody else may have (acl(5))."""
    try:
        return path is not None and _ACCESS_LIST in os.listxattr(path, follow_symlinks=False)
    except OSError:
        return False


def _group_name(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)
