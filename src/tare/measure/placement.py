# SPDX-License-Identifier: Apache-2.0
"""The processors and memory of each node and each instance: equal shares, disjoint, in order."""

from collections.abc import Sequence
from dataclasses import dataclass

from tare.records import NATIVE, Layout, Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePlace:
    """One node's share of the host."""

    index: int
    processors: tuple[int, ...]
    memory_byte: int
    instances: tuple[int, ...]
    """The instances that run in it; a cooperative one also runs in other nodes."""

    def instance_processors(self, instance: int) -> tuple[int, ...]:
        """Equal, disjoint parts if the instances divide the processors; else all processors for each."""
        count = len(self.processors)
        share, rest = divmod(count, len(self.instances))
        if rest or not share:
            return self.processors
        first = self.instances.index(instance) * share
        return self.processors[first : first + share]


def effective_layout(trial: Trial) -> Layout:
    """The layout as run: native is one node with all processors, whatever it is compared with (docs/campaign.md)."""
    layout = trial.layout
    if trial.environment.technology != NATIVE:
        return layout
    return Layout(nodes=1, processors=layout.total_processors, instances=layout.instances)


def place(layout: Layout, memory_byte: int, available: Sequence[int]) -> tuple[NodePlace, ...]:
    """Use the last of the available processors: the first one usually serves the host's interrupts.

    If there are fewer than the layout requires, they are dealt out in turn, so that nodes share them evenly.
    """
    share, used = layout.processors, _dealt(layout.total_processors, available)
    return tuple(
        NodePlace(
            index=index,
            processors=tuple(sorted(set(used[index * share : (index + 1) * share]))),
            memory_byte=memory_byte // layout.nodes,
            instances=_instances_of(layout, index),
        )
        for index in range(layout.nodes)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where everything of a trial goes."""

    measured: tuple[NodePlace, ...]
    neighbours: tuple[NodePlace, ...]
    oversubscription: float
    """Requested processors per processor of the host; at most 1 if each has its own."""


def places_of(trial: Trial, available: Sequence[int]) -> Places:
    """Places of the measured nodes and the neighbours; a neighbour gets as much as one of the layout's nodes."""
    layout, share = effective_layout(trial), trial.layout.processors
    count = 0 if trial.neighbour is None else trial.neighbour.count
    wanted, memory_byte = layout.total_processors + count * share, trial.limits.memory_byte
    used = _dealt(wanted, available)
    others, own = used[: count * share], used[count * share :]  # the measured ones stay where they are alone
    beside = Layout(nodes=max(1, count), processors=share, instances=max(1, count))
    return Places(
        measured=place(layout, memory_byte, own),
        neighbours=place(beside, count * memory_byte // trial.layout.nodes, others) if count else (),
        oversubscription=wanted / len(available),
    )


def _dealt(wanted: int, available: Sequence[int]) -> list[int]:
    if wanted <= len(available):
        return list(available[len(available) - wanted :])
    return [available[number % len(available)] for number in range(wanted)]


def _instances_of(layout: Layout, node: int) -> tuple[int, ...]:
    """Deal out independent instances in turn; a cooperative one gets adjacent nodes, the same number each."""
    if layout.cooperative:
        return (node * layout.instances // layout.nodes,)
    return tuple(range(node, layout.instances, layout.nodes))
