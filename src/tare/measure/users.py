# SPDX-License-Identifier: Apache-2.0
"""Whom a campaign's commands run as: settled when a result begins, and the same in all its arms."""

import os
import pwd
from collections.abc import Mapping
from pathlib import Path

from tare.environments.provider import Provider
from tare.errors import InputError
from tare.plan.campaign import Campaign
from tare.records import NATIVE, ORDINARY, ROOT, User

USER_LABEL = "commands ran as"
"""Of the session's host facts."""
_NOBODYS = User(65530, 65530)
"""An id that neither Debian's policy (section 9.2.2) nor systemd's table of ids (uid-gid.txt) gives to anybody: such
a command can neither signal nor trace another's process. Nobody's own id, 65534, is used by many daemons."""
_SUDO = ("SUDO_UID", "SUDO_GID")
"""Whoever asked: sudo(8)."""


def settled_user(asked: str | None, variables: Mapping[str, str] | None = None) -> str:
    """``root`` or ``UID:GID``; ``InputError`` where an ordinary user asks for somebody else."""
    if os.geteuid() != 0:
        return _own_user(asked)
    if asked in {None, ORDINARY}:
        return str(_asking_user(os.environ if variables is None else variables))
    assert asked is not None  # noqa: S101 - said above
    return asked


def _own_user(asked: str | None) -> str:
    """An ordinary user's commands are their own: nobody can be dropped to, and nobody risen to."""
    own = f"{os.geteuid()}:{os.getegid()}"
    if asked in {None, ORDINARY, own}:
        return own
    raise InputError(
        f"the commands are to run as {asked}, and tare runs as {own}, who cannot become another user; run tare as "
        f"root, or say --as {ORDINARY}"
    )


def _asking_user(variables: Mapping[str, str]) -> User:
    try:
        return User.parse(":".join(variables[name] for name in _SUDO))
    except (KeyError, ValueError):
        return _NOBODYS


def continued_user(kept: str | None, asked: str | None) -> str | None:
    """Of a result that was begun: the same one, unless another is asked for by name."""
    if asked is None or (asked == ORDINARY and kept != ROOT):
        return kept
    return settled_user(asked)


def user_of(asked: str | None) -> User | None:
    """Whom commands are dropped to; ``None``: nobody, as they are to be root or nobody else is possible."""
    settled = settled_user(asked)
    return None if os.geteuid() != 0 or settled == ROOT else User.parse(settled)


def user_words(asked: str | None) -> str:
    """As it stands beside the host's facts."""
    settled = settled_user(asked)
    return ROOT if settled == ROOT else f"user {settled.replace(':', ', group ')}"


def stranger(user: User | None) -> str | None:
    """What to say where the id that was to be nobody's is somebody's; such a command reaches their processes."""
    if user != _NOBODYS:
        return None
    if named := _name_of(user):
        reason = f"who is {named} on this host"
    elif pid := _process_of(user):
        reason = f"as whom process {pid} runs on this host"
    else:
        return None
    return f"the commands run as user {user.uid}, {reason}; say --as UID:GID for another"


def _name_of(user: User) -> str | None:
    try:
        return pwd.getpwuid(user.uid).pw_name
    except KeyError:
        return None


def _process_of(user: User) -> int | None:
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if folder.stat().st_uid == user.uid:
                return int(folder.name)
        except OSError:
            continue
    return None


def root_said(campaign: Campaign, providers: Mapping[str, Provider], kept: str | None = None) -> str | None:
    """The warning where commands are root, with the way to avoid it; ``kept``: the user of a begun result."""
    if os.geteuid() != 0:
        return None
    root = continued_user(kept, campaign.user) == ROOT
    arms = {NATIVE: NATIVE} | {one.name: one.technology for one in campaign.needed_environments}
    shared = {name: one for name, technology in arms.items() if not (one := providers[technology]).own_kernel}
    here = [name for name, provider in shared.items() if root or provider.keeps_user]
    if not here:
        return None
    way_out = (
        f'leave --as {ROOT} and user = "{ROOT}" away, and it is an ordinary user' if root else "leave it away"
    )
    return (
        f"a command that you weigh is root on this host in {', '.join(here)}: it can do anything here, on purpose or "
        f"by mistake; {way_out} (docs/security.md)"
    )
