# SPDX-License-Identifier: Apache-2.0
"""What a host measures otherwise than a campaign asks."""

from dataclasses import dataclass
from enum import StrEnum


class Short(StrEnum):
    """What a host has too little of for a campaign with ``fit = true``."""

    HOSTS = "hosts"
    PROCESSORS = "processors"
    MEMORY = "memory"
    TIME = "time"
    OTHER = "other"
    """Such as a kernel, or a folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaled:
    """What a host measures otherwise than the campaign asks, or not at all, as it cannot: ``fit = true``."""

    what: str
    """In words, such as ``hpl in 1c4p1i``."""
    asked: str
    here: str | None
    """``None``: it is left out."""
    why: str
    short_of: Short
    workloads: tuple[str, ...] = ()
    """Those that it concerns; empty: all."""
    layouts: tuple[str, ...] = ()
    """As they are measured here, or as asked where they are left out; empty: all."""

    @property
    def sentence(self) -> str:
        """Such as "hpl in 1c4p1i: N 4,992 instead of 20,544: memory"."""
        return f"{self.what}: {self.brief}"

    @property
    def brief(self) -> str:
        """The same where it is clear what it is about."""
        if self.here is None:
            return f"left out{f' ({self.asked})' if self.asked else ''}: {self.why}"
        return f"{self.here}{f' instead of {self.asked}' if self.asked else ''}: {self.why}"
