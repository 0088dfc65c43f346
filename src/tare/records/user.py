# SPDX-License-Identifier: Apache-2.0
"""Whom a measured command runs as."""

import re
from dataclasses import dataclass
from typing import Self

ORDINARY, ROOT = "ordinary", "root"
"""Words of the campaign's key ``user``, beside ``UID:GID``."""
_LARGEST_ID = (1 << 32) - 2
"""The largest but one of 32 bits: the largest means "leave as it is" (setresuid(2))."""


@dataclass(frozen=True, slots=True)
class User:
    """By numbers, so that no node needs a name for it; never root."""

    uid: int
    gid: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Undo ``str``; ``ValueError`` for what is no ``UID:GID``, or is root's."""
        found = re.fullmatch(r"([0-9]{1,10}):([0-9]{1,10})", text)
        if found is None or not all(0 < int(number) <= _LARGEST_ID for number in found.groups()):
            raise ValueError(f"must be {ORDINARY}, {ROOT} or UID:GID, both numbers above 0, but is {text!r}")
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.uid}:{self.gid}"


def check_user(text: str) -> str:
    """The text itself; ``ValueError`` when it says nobody."""
    if text not in {ORDINARY, ROOT}:
        User.parse(text)
    return text
