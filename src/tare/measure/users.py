# SPDX-License-Identifier: Apache-2.0
"""The user of a campaign's commands: decided when a result begins, and the same in all its arms."""

import os
import pwd
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tare.errors import InputError
from tare.host.privileges import ordinary_user
from tare.nodes.provider import Provider
from tare.plan.campaign import Campaign
from tare.records import NATIVE, ORDINARY, ROOT, User

USER_LABEL = "commands ran as"
"""Label among the session's host facts."""
_NOBODYS = tuple(User(number, number) for number in range(65530, 65519, -1))
"""Ids unassigned by Debian's policy (section 9.2.2) and systemd's table of ids (uid-gid.txt): commands with them can
neither signal nor trace another user's process. The id of ``nobody``, 65534, is used by many daemons."""


def settled_user(asked: str | None) -> str:
    """``root`` or ``UID:GID``; ``InputError`` if an ordinary user requests another user.

    Under sudo too it is an id unknown to this host: otherwise a native command could reach everything that runs as the
    invoking user, including the shell that may call sudo.
    """
    if ordinary_user():
        return _own_user(asked)
    if asked in {None, ORDINARY}:
        return str(_free_user())
    assert asked is not None  # noqa: S101 - said above
    return asked


def _own_user(asked: str | None) -> str:
    """An ordinary user's commands run as that user, who can change to no other."""
    own = f"{os.geteuid()}:{os.getegid()}"
    if asked in {None, ORDINARY, own}:
        return own
    raise InputError(
        f"the commands are to run as {asked}, and tare runs as {own}, who cannot become another user; run tare as "
        f"root, or say --as {ORDINARY}"
    )


def _free_user() -> User:
    """The first id without a name or processes here, as another run may use one; the very first if none is free."""
    busy = _running_users()
    free = (user for user in _NOBODYS if user.uid not in busy and _name_of(user) is None)
    return next(free, _NOBODYS[0])


def continued_user(kept: str | None, asked: str | None) -> str | None:
    """The user of a continued result: the same, unless another is requested explicitly."""
    if asked is None or (asked == ORDINARY and kept != ROOT):
        return kept
    return settled_user(asked)


def user_of(asked: str | None) -> User | None:
    """The user that commands are dropped to; ``None``: none, for root or if no other user is possible."""
    settled = settled_user(asked)
    return None if ordinary_user() or settled == ROOT else User.parse(settled)


def user_words(asked: str | None) -> str:
    """The text beside the host's facts."""
    settled = settled_user(asked)
    return ROOT if settled == ROOT else f"user {settled.replace(':', ', group ')}"


def stranger(user: User | None) -> str | None:
    """The warning if the commands' user is known here: on native they can reach that user's processes and files."""
    if user is None:
        return None
    if named := _name_of(user):
        reason = f"who is {named} on this host"
    elif pid := _running_users().get(user.uid):
        reason = f"as whom process {pid} runs on this host"
    else:
        return None
    return (
        f"the commands run as user {user.uid}, {reason}: natively they reach that user's processes and files; "
        f"--as {ORDINARY} in a new result takes a user whom nobody is"
    )


def _name_of(user: User) -> str | None:
    try:
        return pwd.getpwuid(user.uid).pw_name
    except KeyError:
        return None


def _running_users() -> Mapping[int, int]:
    """User id → one of the user's processes."""
    running = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            running[folder.stat().st_uid] = int(folder.name)
    return running


def root_said(campaign: Campaign, providers: Mapping[str, Provider], kept: str | None = None) -> str | None:
    """The warning about commands that run as root, with a way to avoid it; ``kept``: the user of a begun result."""
    if ordinary_user():
        return None
    root = continued_user(kept, campaign.user) == ROOT
    arms = {NATIVE: NATIVE} | {
        environment.name: environment.technology for environment in campaign.needed_environments
    }
    shared = {
        name: provider
        for name, technology in arms.items()
        if not (provider := providers[technology]).own_kernel
    }
    here = [name for name, provider in shared.items() if root or provider.keeps_user]
    if not here:
        return None
    way_out = (
        f'leave out --as {ROOT} and user = "{ROOT}", and it is an ordinary user' if root else "leave it out"
    )
    return (
        f"a command that you weigh is root on this host in {', '.join(here)}: it can do anything here, on purpose or "
        f"by mistake; {way_out} (docs/security.md)"
    )
