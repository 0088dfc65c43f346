# SPDX-License-Identifier: Apache-2.0
"""The control group of a node on the other host, by that host's own accounting."""

from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired, TypedDict

from tare.environments.ssh.channel import Ask
from tare.errors import NodeError
from tare.host.cgroups import Settings
from tare.nodes.unprivileged.limits import Means


class _Settings(TypedDict):
    processors: list[int] | None
    memory_byte: int | None
    cpu_quota: float | None
    processes: int | None


class _Means(TypedDict):
    group: str | None
    controllers: list[str]


class _Group(TypedDict):
    settings: _Settings | None
    cpu_s: NotRequired[float | None]
    memory_kills: NotRequired[int | None]
    refused_processes: NotRequired[int | None]
    means: NotRequired[_Means]
    """Of an ordinary user's node there."""


class _Lacks(TypedDict):
    lacks: list[str] | None


class _Process(TypedDict):
    affinity: list[int]
    data_limit_byte: int | None


@dataclass(frozen=True, slots=True)
class FarGroup:
    """A ``NodeGroup`` (``tare.nodes.provider``) queried over the connection; a failure is a ``NodeError``."""

    ask: Ask

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


@dataclass(frozen=True, slots=True)
class FarUserGroup(FarGroup):
    """As ``UserGroup`` on this host: what holds an ordinary user's node there, and the limits of its processes."""

    means: Means

    def data_limit_byte(self, inner_pid: int) -> int | None:
        return self._process(inner_pid)["data_limit_byte"]

    def affinity(self, inner_pid: int) -> tuple[int, ...]:
        return tuple(self._process(inner_pid)["affinity"])

    def _process(self, inner_pid: int) -> _Process:
        return self.ask("process", inner_pid=inner_pid).told(_Process)


def far_group(ask: Ask) -> FarGroup | None:
    """What holds a node there; ``None`` when nothing does."""
    said = ask("group").told(_Group)
    if said["settings"] is None:
        return None
    if (means := said.get("means")) is None:
        return FarGroup(ask)
    group = None if means["group"] is None else Path(means["group"])
    return FarUserGroup(ask, Means(group=group, controllers=frozenset(means["controllers"])))
