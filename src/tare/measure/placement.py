# SPDX-License-Identifier: Apache-2.0
"""The processors and memory of each node and each instance: equal shares, disjoint, in order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from tare.records import NATIVE, Layout, Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePlace:
    """One node's share of the host."""

    index: int
    dealt: tuple[int, ...]
    """A processor for each that the layout asks for; of a host with too few each is listed several times."""
    memory_byte: int
    instances: tuple[int, ...]
    """The instances that run in it; a cooperative one also runs in other nodes."""
    host: str | None = None
    """Name of its host; ``None``: the campaign names none."""

    @property
    def processors(self) -> tuple[int, ...]:
        """Each once."""
        return tuple(sorted(set(self.dealt)))

    def instance_processors(self, instance: int) -> tuple[int, ...]:
        """Equal parts of what was dealt, so that as many share a processor in one large node as in several small ones.

        All processors for each where the instances do not divide what was dealt.
        """
        share, rest = divmod(len(self.dealt), len(self.instances))
        if rest or not share:
            return self.processors
        first = self.instances.index(instance) * share
        return tuple(sorted(set(self.dealt[first : first + share])))


def effective_layout(trial: Trial) -> Layout:
    """The layout as run: native is one node on each host, with all its processors (docs/campaign.md)."""
    layout = trial.layout
    if trial.environment.technology != NATIVE:
        return layout
    return layout.as_native


def place(
    layout: Layout,
    memory_byte: int,
    *available: Sequence[int],
    hosts: Sequence[str | None] = (None,),
) -> tuple[NodePlace, ...]:
    """Use the last of each host's available processors: the first one usually serves the host's interrupts.

    If there are fewer than the layout requires, they are dealt out in turn, so that nodes share them evenly.
    """
    share = layout.processors
    left = [iter(_dealt(layout.nodes_per_host * share, own)) for own in available]
    return tuple(
        NodePlace(
            index=index,
            dealt=tuple(islice(left[host], share)),
            memory_byte=memory_byte // layout.nodes,
            instances=layout.instances_in(index),
            host=hosts[host],
        )
        for index, host in enumerate(map(layout.host_of, range(layout.nodes)))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where everything of a trial goes."""

    measured: tuple[NodePlace, ...]
    neighbours: tuple[NodePlace, ...]
    requested: int
    """Processors that all nodes together ask for."""
    available: int

    @property
    def oversubscribed(self) -> bool:
        return self.requested > self.available


def sharing_said(requested: int, available: int) -> str:
    """Such as ``"35 processors asked for and 2 there: 17 or 18 share one"``."""
    least, rest = divmod(requested, available)
    share = f"{least} or {least + 1}" if rest else str(least)
    return f"{requested} processors asked for and {available} there: {share} share one"


def places_over(trial: Trial, available: Mapping[str, Sequence[int]]) -> Places:
    """As ``places_of``, on each of the trial's hosts by the ``available`` processors of its own."""
    return _places(trial, [available[name] for name in trial.hosts], trial.hosts)


def places_of(trial: Trial, available: Sequence[int]) -> Places:
    """Places of the measured nodes and the neighbours; a neighbour gets as much as one of the layout's nodes."""
    return _places(trial, [available], (None,))


def _places(trial: Trial, available: Sequence[Sequence[int]], hosts: Sequence[str | None]) -> Places:
    """The measured nodes are last of what is dealt on each host: they stay where they are alone."""
    beside, memory_byte = neighbours_layout(trial), trial.limits.memory_byte
    taken = beside.as_native.processors if beside else 0
    wanted = trial.layout.as_native.processors + taken
    used = [_dealt(wanted, own) for own in available]
    others, own = [dealt[:taken] for dealt in used], [dealt[taken:] for dealt in used]
    return Places(
        measured=place(effective_layout(trial), memory_byte, *own, hosts=hosts),
        neighbours=place(beside, beside.nodes * memory_byte // trial.layout.nodes, *others, hosts=hosts)
        if beside
        else (),
        requested=wanted,
        available=min(map(len, available)),
    )


def neighbours_layout(trial: Trial) -> Layout | None:
    """The neighbours of a trial, as many on each of its hosts, each with an instance; ``None`` if it has none."""
    if trial.neighbour is None:
        return None
    hosts = trial.layout.hosts
    count = trial.neighbour.count * hosts
    return Layout(nodes=count, processors=trial.layout.processors, instances=count, hosts=hosts)


def _dealt(wanted: int, available: Sequence[int]) -> list[int]:
    if wanted <= len(available):
        return list(available[len(available) - wanted :])
    return [available[number % len(available)] for number in range(wanted)]
