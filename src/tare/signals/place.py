# SPDX-License-Identifier: Apache-2.0
"""Where the signals of one trial are read: its nodes' control groups and namespaces, and its processors."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tare.host.cgroups import Group
from tare.nodes.group import LocalGroup
from tare.nodes.provider import Node, NodeGroup
from tare.nodes.unprivileged.group import UserGroup
from tare.records import NetworkKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What a family needs to know about a trial."""

    processors: tuple[int, ...]
    """The host's processors on which the nodes may run."""
    groups: tuple[Group, ...] = ()
    """Control groups on this host, one for each node; none if the nodes have none, or only some are known."""
    group_processors: tuple[tuple[int, ...], ...] = ()
    """For each of these groups, the host's processors on which its node may run."""
    namespaces: tuple[Path, ...] = ()
    """Files of the trial's own network namespaces: its nodes' and its switch's."""
    switches: tuple[Path, ...] = ()
    """The namespaces in which the nodes' links meet."""
    network_processes: tuple[int, ...] = ()
    """One process of this host in the network of each node whose network belongs to this host's kernel."""
    own_network: bool = False
    """Whether these networks are the nodes' own, and not the host's."""
    own_kernel: bool = False
    """Whether the nodes have their own kernels, unknown to this host's kernel."""
    elsewhere: bool = False
    """Whether the nodes are on another host."""


def place_of(nodes: Sequence[Node], groups: Sequence[NodeGroup]) -> Place:
    """The place of these nodes; ``groups`` come from ``Provider.group``."""
    own = [group for group in map(control_group, groups) if group is not None]
    known = len(own) == len(nodes)
    processes = tuple(node.init_pid for node in nodes if node.init_pid is not None and not node.machine)
    return Place(
        processors=tuple(sorted({number for node in nodes for number in node.spec.processors})),
        groups=tuple(own) if known else (),
        group_processors=tuple(node.spec.processors for node in nodes) if known else (),
        namespaces=tuple(dict.fromkeys(_namespaces(nodes))),
        switches=tuple(dict.fromkeys(_switches(nodes))),
        network_processes=processes if len(processes) == len(nodes) else (),
        own_network=all(node.spec.network.kind is not NetworkKind.HOST for node in nodes),
        own_kernel=any(node.own_kernel for node in nodes),
        elsewhere=any(node.elsewhere is not None for node in nodes),
    )


def control_group(group: NodeGroup) -> Group | None:
    """The group of this host behind it; ``None`` if there is none, or it is on another host."""
    if isinstance(group, LocalGroup):
        return group.group
    return group.means.as_group() if isinstance(group, UserGroup) else None


def _namespaces(nodes: Sequence[Node]) -> Iterator[Path]:
    for node in nodes:
        network = node.spec.network
        if network.namespace is not None and network.kind is not NetworkKind.HOST and not node.machine:
            yield network.namespace
    yield from _switches(nodes)


def _switches(nodes: Sequence[Node]) -> Iterator[Path]:
    return (node.spec.network.switch for node in nodes if node.spec.network.switch is not None)
