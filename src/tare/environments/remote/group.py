# SPDX-License-Identifier: Apache-2.0
"""The control group of a node on the other host, as that host accounts for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from tare.environments.remote.channel import Channel
from tare.host.cgroups import Settings


@dataclass(frozen=True, slots=True)
class FarGroup:
    """A ``NodeGroup`` (``tare.environments.provider``) that is asked over the connection, or a ``NodeError``."""

    channel: Channel

    @classmethod
    def of(cls, channel: Channel) -> Self | None:
        """``None`` when nothing holds the node there either."""
        group = cls(channel)
        return None if group._asked()["settings"] is None else group

    def settings(self) -> Settings:
        found = self._asked()["settings"]
        processors = found["processors"]
        return Settings(
            processors=None if processors is None else tuple(processors),
            memory_byte=found["memory_byte"],
            cpu_quota=found["cpu_quota"],
        )

    def cpu_s(self) -> float | None:
        found: float | None = self._asked()["cpu_s"]
        return found

    def memory_kills(self) -> int | None:
        found: int | None = self._asked()["memory_kills"]
        return found

    def lacks(self, inner_pid: int) -> list[str] | None:
        found: list[str] | None = self.channel.ask("lacks", inner_pid=inner_pid).fields["lacks"]
        return found

    def _asked(self) -> Mapping[str, Any]:
        return self.channel.ask("group").fields
