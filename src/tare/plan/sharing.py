# SPDX-License-Identifier: Apache-2.0
"""Sharing experiments: the same instance alone and with company; what each of their trials may use."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tare.records import NATIVE, Environment, Layout, Level, Limits, Neighbour, Workload, levels_text

NATIVE_ENVIRONMENT = Environment(name=NATIVE, technology=NATIVE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Company:
    """A neighbour as the campaign requests it."""

    workload: Workload
    environment: Environment | None
    """``None``: the environment of the instance beside it."""
    count: int

    def beside(self, environment: Environment) -> Neighbour:
        """The neighbour of an instance in ``environment``."""
        return Neighbour(
            environment=self.environment or environment,
            workload=self.workload,
            count=self.count,
            same_environment=self.environment is None,
        )

    def __str__(self) -> str:
        return str(self.beside(NATIVE_ENVIRONMENT))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """One ``[[sharing]]`` table: an instance, and all the company with which it is compared to itself alone."""

    alone: Layout
    """Layout of one instance."""
    together: tuple[Layout, ...] = ()
    """Layouts of several such instances."""
    neighbour: Company | None = None

    def __str__(self) -> str:
        companies = [*map(str, self.together), *([f"+{self.neighbour}"] if self.neighbour else [])]
        return f"{self.alone} with {', '.join(companies)}"

    def instance_memory_byte(self, memory_byte: int) -> int:
        """Memory of an instance if everything that runs at once must fit into ``memory_byte``."""
        shares = [memory_byte // layout.instances for layout in self.together]
        if self.neighbour:
            shares.append(memory_byte * self.alone.nodes // (self.alone.nodes + self.neighbour.count))
        return min(shares)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What every workload runs in, once in each environment and block."""

    layout: Layout
    limits: Limits
    company: Company | None = None
    alone: Layout | None = None
    """The layout of the same instance alone; ``None`` outside sharing experiments."""
    levels: tuple[Level, ...] = ()
    """Of the campaign's factors."""

    def __str__(self) -> str:
        company = "" if self.company is None else f"+{self.company}"
        return f"{self.layout}{company}{levels_text(self.levels)}"

    @property
    def by_itself(self) -> str:
        """The setting of the same instance alone; the setting itself outside sharing experiments."""
        return str(self) if self.alone is None else f"{self.alone}{levels_text(self.levels)}"

    @property
    def neighbour_node(self) -> tuple[Layout, Limits]:
        """A neighbour's single node: as large as one of the measured nodes."""
        layout = Layout(nodes=1, processors=self.layout.processors, instances=1)
        return layout, replace(self.limits, memory_byte=self.limits.memory_byte // self.layout.nodes)


def alone_of(layout: Layout) -> Layout:
    """The layout of one of ``layout``'s instances alone: as many processors on as many nodes."""
    nodes = layout.nodes // layout.instances if layout.cooperative else 1
    processors = layout.processors if layout.cooperative else layout.ranks
    return Layout(nodes=nodes, processors=processors, instances=1)


def settings(layouts: Sequence[Layout], sharings: Sequence[Sharing], limits: Limits) -> tuple[Setting, ...]:
    """All layouts, then all neighbours.

    In a sharing experiment every instance has equal memory, alone or not, chosen so that the trial with the most
    company reaches the limit.
    """
    return (*_by_layout(layouts, sharings, limits), *_by_neighbour(sharings, limits))


def _by_layout(layouts: Sequence[Layout], sharings: Sequence[Sharing], limits: Limits) -> Iterator[Setting]:
    shared = {layout for sharing in sharings for layout in (sharing.alone, *sharing.together)}
    for layout in layouts:
        if layout in shared:
            alone = alone_of(layout)
            own = _scaled(limits, alone, layout.instances, sharings)
            yield Setting(layout=layout, limits=own, alone=alone)
        else:
            yield Setting(layout=layout, limits=limits.of(layout))


def _by_neighbour(sharings: Sequence[Sharing], limits: Limits) -> Iterator[Setting]:
    for sharing in sharings:
        if sharing.neighbour:
            alone = sharing.alone
            own = _scaled(limits, alone, 1, sharings)
            yield Setting(layout=alone, limits=own, company=sharing.neighbour, alone=alone)


def _scaled(limits: Limits, alone: Layout, instances: int, sharings: Sequence[Sharing]) -> Limits:
    """Scale the limits; tables with the same instance are one experiment, with the same memory in all of them."""
    if limits.node_memory_byte is not None:
        return replace(limits, memory_byte=instances * alone.nodes * limits.node_memory_byte)
    shares = [
        sharing.instance_memory_byte(limits.memory_byte) for sharing in sharings if sharing.alone == alone
    ]
    return replace(limits, memory_byte=instances * min(shares))
