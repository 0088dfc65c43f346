# SPDX-License-Identifier: Apache-2.0
"""Hosts, and how the nodes of a layout spread over them."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self


class Spread(StrEnum):
    """How a layout's nodes are dealt over its hosts."""

    PACKED = "packed"
    """Neighbours by number share a host."""
    SCATTERED = "scattered"
    """Neighbours by number are on different hosts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedHost:
    """A host of a campaign's list, and how it is reached; ``name`` is unique within the campaign."""

    name: str
    address: str | None = None
    """``user@host``, or a name that ssh knows; ``None``: the host on which Tare runs."""
    ssh_options: tuple[str, ...] = ()
    state: str | None = None
    """Folder there for the image and for running nodes; ``None``: the usual one."""
    python: str = "python3"
    become: tuple[str, ...] = ()
    """The prefix that makes a command there run as root."""
    slurm: int | None = None
    """Its number among the nodes of the Slurm allocation, from 0; ``None``: it is none of these."""
    scheduler: str | None = None
    """Whose job it is a node of, where ssh reaches it: ``pbs``, ``lsf`` or ``flux``; ``None``: it is none of these."""
    number: int = 0
    """Its number among the nodes of that job, from 0."""
    passes_image_on: bool = True
    """Whether it may send the image to other hosts of the list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """``NcMpKi``: N nodes of M processors each, K instances of the benchmark; as many nodes on each host."""

    nodes: int
    processors: int
    instances: int
    hosts: int = 1
    spread: Spread = Spread.PACKED

    def __post_init__(self) -> None:
        if min(self.nodes, self.processors, self.instances, self.hosts) < 1:
            raise ValueError(f"{self} is not a layout: each of its numbers is 1 or more")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse ``NcMpKi``, with ``on H`` hosts and ``scattered`` behind it; ``ValueError`` says what is wrong."""
        match = re.fullmatch(r"([1-9]\d*)c([1-9]\d*)p([1-9]\d*)i(?: on ([1-9]\d*)( scattered)?)?", text)
        if not match:
            raise ValueError(f"{text!r} is not a layout; write NcMpKi, such as 1c2p1i, or 8c2p1i on 4")
        nodes, processors, instances = (int(part) for part in match.groups()[:3])
        return cls(
            nodes=nodes,
            processors=processors,
            instances=instances,
            hosts=int(match[4] or 1),
            spread=Spread.SCATTERED if match[5] else Spread.PACKED,
        )

    @property
    def total_processors(self) -> int:
        return self.nodes * self.processors

    @property
    def cooperative(self) -> bool:
        """Whether an instance spans several nodes."""
        return self.instances < self.nodes

    @property
    def ranks(self) -> int:
        """Processes of one instance: its share of the layout's processors."""
        return max(1, self.total_processors // self.instances)

    @property
    def nodes_per_host(self) -> int:
        return self.nodes // self.hosts

    def host_of(self, node: int) -> int:
        """The number of the host that has this node."""
        return node % self.hosts if self.spread is Spread.SCATTERED else node // self.nodes_per_host

    @property
    def as_native(self) -> Self:
        """One node on each host, with all the processors that the layout has there."""
        return replace(
            self, nodes=self.hosts, processors=self.total_processors // self.hosts, spread=Spread.PACKED
        )

    def instances_in(self, node: int) -> tuple[int, ...]:
        """Numbers of a node's instances: independent ones are dealt out in turn, a cooperative one spans neighbours."""
        if self.cooperative:
            return (node * self.instances // self.nodes,)
        return tuple(range(node, self.instances, self.nodes))

    def __str__(self) -> str:
        scattered = " scattered" if self.spread is Spread.SCATTERED else ""
        on = f" on {self.hosts}{scattered}" if self.hosts > 1 or scattered else ""
        return f"{self.nodes}c{self.processors}p{self.instances}i{on}"
