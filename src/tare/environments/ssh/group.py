# SPDX-License-Identifier: Apache-2.0
"""The control group of a node on the other host, by that host's own accounting."""

from dataclasses import dataclass
from typing import NotRequired, Self, TypedDict

from tare.environments.ssh.channel import Ask
from tare.errors import NodeError
from tare.host.cgroups import Settings


class _Settings(TypedDict):
    processors: list[int] | None
    memory_byte: int | None
    cpu_quota: float | None
    processes: int | None


class _Group(TypedDict):
    settings: _Settings | None
    cpu_s: NotRequired[float | None]
    memory_kills: NotRequired[int | None]
    refused_processes: NotRequired[int | None]


class _Lacks(TypedDict):
    lacks: list[str] | None


@dataclass(frozen=True, slots=True)
class FarGroup:
    """A ``NodeGroup`` (``tare.nodes.provider``) queried over the connection; a failure is a ``NodeError``."""

    ask: Ask

    @classmethod
    def of(cls, ask: Ask) -> Self | None:
        """The group; ``None`` when nothing holds the node there either."""
        group = cls(ask)
        return None if group._asked()["settings"] is None else group

    def settings(self) -> Settings:
        limits = self._asked()["settings"]
        if limits is None:
            raise NodeError("nothing holds the node there any more")
        processors = limits["processors"]
        return Settings(
            processors=None if processors is None else tuple(processors),
            memory_byte=limits["memory_byte"],
            cpu_quota=limits["cpu_quota"],
            processes=limits["processes"],
        )

    def cpu_s(self) -> float | None:
        return self._asked().get("cpu_s")

    def memory_kills(self) -> int | None:
        return self._asked().get("memory_kills")

    def refused_processes(self) -> int | None:
        return self._asked().get("refused_processes")

    def lacks(self, inner_pid: int) -> list[str] | None:
        return self.ask("lacks", inner_pid=inner_pid).told(_Lacks)["lacks"]

    def _asked(self) -> _Group:
        return self.ask("group").told(_Group)
