# SPDX-License-Identifier: Apache-2.0
"""What every environment owes: probe, start, the argv prefix that enters, stop (DESIGN §3.2)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tare.records import OptionValue

WORK_DIRECTORY = "/mnt/tare"
"""Where a node sees its work directory; instance k runs in its own folder below it."""
TOOLS_DIRECTORY = "/opt/tare/bin"
"""Where every image holds Tare's own programs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """Whether an environment works here; ``remedy`` is a command or a sentence."""

    usable: bool
    reason: str = ""
    remedy: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bind:
    """A directory of the host, seen in the node at the same path."""

    path: Path
    writable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSpec:
    """A node to start. Written to disk before anything is made, so that any later process can stop it."""

    name: str
    """Unique on the host; starts with ``tare-``; also the node's host name."""
    technology: str
    options: Mapping[str, OptionValue]
    directory: Path
    """The node's own folder on the host; the work directory is ``directory / "layer" / "work"``."""
    image_root: Path
    image_digest: str
    processors: tuple[int, ...]
    memory_byte: int
    shm_byte: int
    cpu_quota: float | None
    binds: tuple[Bind, ...] = ()

    @property
    def work(self) -> Path:
        return self.directory / "layer" / "work"


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A running node."""

    spec: NodeSpec
    init_pid: int | None
    """Process id, on the host, of the node's first process; its cgroup holds the limits."""
    work_directory: str = WORK_DIRECTORY
    """Where the node sees ``spec.work``."""
    tools_directory: str = TOOLS_DIRECTORY
    """Where the node sees Tare's own programs."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables that the fake environment plants; real ones set none."""
    facts: Mapping[str, str] = field(default_factory=dict)


class Provider(Protocol):
    """One technology; the explicit list is in ``environments/__init__.py``."""

    technology: str
    option_names: Mapping[str, str]
    """Option → what it does; a campaign may set no other."""

    def probe(self) -> Probe:
        """Whether it works on this host, within 1 s and leaving nothing."""
        ...

    def prepare(self, image_root: Path, image_digest: str) -> None:  # noqa: ARG002 - for those who need it
        """Once before a campaign: for technologies that must import the image. Most need nothing."""
        return

    def start(self, spec: NodeSpec) -> Node:
        """Bring a node up, idle; raises ``NodeError``, and leaves then nothing that ``stop`` would not remove."""
        ...

    def prefix(self, node: Node) -> list[str]:
        """The argv to put before a command so that it runs in the node, with pipes passed through."""
        ...

    def stop(self, spec: NodeSpec) -> None:
        """Remove all of the node; harmless when part of it or all is gone already."""
        ...
