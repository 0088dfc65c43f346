# SPDX-License-Identifier: Apache-2.0
"""Which processors and how much memory each node and each instance gets: equal shares, disjoint, in order."""

from collections.abc import Sequence
from dataclasses import dataclass

from tare.errors import NodeError
from tare.records import NATIVE, Layout, Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePlace:
    """One node's share of the host."""

    index: int
    processors: tuple[int, ...]
    memory_byte: int
    instances: tuple[int, ...]
    """Which of the K instances run in it."""

    def instance_processors(self, instance: int) -> tuple[int, ...]:
        """Equal, disjoint parts when the instances divide the processors; else all of them for each."""
        count = len(self.processors)
        share, rest = divmod(count, len(self.instances))
        if rest or not share:
            return self.processors
        first = self.instances.index(instance) * share
        return self.processors[first : first + share]


def effective_layout(trial: Trial) -> Layout:
    """Native is one node with all the processors, whatever the layout it is compared with (DESIGN §2)."""
    layout = trial.layout
    if trial.environment.technology != NATIVE:
        return layout
    return Layout(nodes=1, processors=layout.total_processors, instances=layout.instances)


def place(layout: Layout, memory_byte: int, available: Sequence[int]) -> tuple[NodePlace, ...]:
    """The last of the available processors: the first one usually serves the host's interrupts.

    Raises ``NodeError`` when the host has fewer processors than the layout asks for.
    """
    if layout.total_processors > len(available):
        raise NodeError(
            f"the layout {layout} needs {layout.total_processors} processors, here are {len(available)}"
        )
    share, used = layout.processors, available[len(available) - layout.total_processors :]
    return tuple(
        NodePlace(
            index=index,
            processors=tuple(used[index * share : (index + 1) * share]),
            memory_byte=memory_byte // layout.nodes,
            instances=tuple(range(index, layout.instances, layout.nodes)),
        )
        for index in range(layout.nodes)
    )
