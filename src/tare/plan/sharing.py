# SPDX-License-Identifier: Apache-2.0
"""Sharing experiments: the same instance or group alone and with company; what each of their trials may use."""

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
    """On each host of the instance beside it."""

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
    """One ``[[sharing]]`` table: what runs alone, and all the company with which it is compared to itself alone."""

    alone: Layout
    """Layout of one instance, or of a group of them."""
    together: tuple[Layout, ...] = ()
    """Layouts of several such instances or groups."""
    neighbour: Company | None = None
    workloads: tuple[str, ...] = ()
    """Names of the measured workloads that it concerns; empty: all."""

    def concerns(self, workload: str) -> bool:
        """Whether this workload is measured in it."""
        return not self.workloads or workload in self.workloads

    def __str__(self) -> str:
        companies = [*map(str, self.together), *([f"+{self.neighbour}"] if self.neighbour else [])]
        return f"{self.alone} with {', '.join(companies)}"

    def instance_memory_byte(self, memory_byte: int) -> int:
        """Memory of an instance if everything that runs at once must fit into ``memory_byte``."""
        shares = [memory_byte // layout.instances for layout in self.together]
        if self.neighbour:
            nodes = self.alone.nodes + self.neighbour.count * self.alone.hosts
            shares.append(memory_byte * self.alone.nodes // nodes // self.alone.instances)
        return min(shares)

    @property
    def layouts(self) -> tuple[Layout, ...]:
        """Alone first."""
        return self.alone, *self.together

    def has_company_in(self, setting: "Setting") -> bool:
        """Whether the setting is one of this table's with company."""
        if setting.company is not None:
            return setting.layout == self.alone and setting.company == self.neighbour
        return setting.layout in self.together


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What every workload runs in, once in each environment and block."""

    layout: Layout
    limits: Limits
    company: Company | None = None
    experiment: Layout | None = None
    """The first layout of the sharing experiment to which it belongs; ``None`` outside of any."""
    levels: tuple[Level, ...] = ()
    """Of the campaign's factors."""

    def __str__(self) -> str:
        company = "" if self.company is None else f"+{self.company}"
        return f"{self.layout}{company}{levels_text(self.levels)}"

    def alone(self, sharing: Sharing) -> str:
        """The setting without the company that it has by this table."""
        return f"{sharing.alone}{levels_text(self.levels)}"

    @property
    def close_to(self) -> str:
        """The same for all settings whose trials are to be close in time, as they are compared with each other."""
        return str(self) if self.experiment is None else f"{self.experiment}{levels_text(self.levels)}"

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


def is_several(layout: Layout, alone: Layout) -> bool:
    """Whether it is several of ``alone``.

    Of its instance, of its whole group of nodes and instances, or of its instances in the same nodes.
    """
    if layout.instances <= alone.instances or layout.instances % alone.instances:
        return False
    if alone.instances == 1 and alone_of(layout) == alone:
        return True
    groups = layout.instances // alone.instances
    as_many_nodes = layout.nodes == groups * alone.nodes and layout.processors == alone.processors
    return as_many_nodes or is_fuller(layout, alone)


def is_fuller(layout: Layout, alone: Layout) -> bool:
    """Whether it is the same nodes with more instances, each of which has fewer processors."""
    same = layout.nodes == alone.nodes and layout.processors == alone.processors
    return same and layout.instances > alone.instances and not alone.cooperative


def settings(layouts: Sequence[Layout], sharings: Sequence[Sharing], limits: Limits) -> tuple[Setting, ...]:
    """All layouts, then all neighbours.

    In a sharing experiment every instance has equal memory, alone or not, chosen so that the trial with the most
    company reaches the limit.
    """
    return (*_by_layout(layouts, sharings, limits), *_by_neighbour(sharings, limits))


def _by_layout(layouts: Sequence[Layout], sharings: Sequence[Sharing], limits: Limits) -> Iterator[Setting]:
    for layout in layouts:
        if linked := _linked(layout, sharings):
            yield Setting(layout=layout, limits=_scaled(limits, layout, linked), experiment=linked[0].alone)
        else:
            yield Setting(layout=layout, limits=limits.of(layout))


def _by_neighbour(sharings: Sequence[Sharing], limits: Limits) -> Iterator[Setting]:
    for sharing in sharings:
        if sharing.neighbour:
            linked = _linked(sharing.alone, sharings)
            yield Setting(
                layout=sharing.alone,
                limits=_scaled(limits, sharing.alone, linked),
                company=sharing.neighbour,
                experiment=linked[0].alone,
            )


def _linked(layout: Layout, sharings: Sequence[Sharing]) -> Sequence[Sharing]:
    """The tables that the layout belongs to, and all that share a layout with them: one experiment."""
    known, linked = {layout}, list[Sharing]()
    while len(grown := [each for each in sharings if known.intersection(each.layouts)]) > len(linked):
        linked = grown
        known.update(*(each.layouts for each in linked))
    return linked


def _scaled(limits: Limits, layout: Layout, linked: Sequence[Sharing]) -> Limits:
    """Scale the limits: an instance has the same memory throughout an experiment."""
    if limits.node_memory_byte is not None:
        return limits.of(layout)
    memory_byte = limits.of(layout).memory_byte
    share_byte = min(sharing.instance_memory_byte(memory_byte) for sharing in linked)
    return replace(limits, memory_byte=layout.instances * share_byte)
