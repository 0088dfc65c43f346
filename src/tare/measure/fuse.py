# SPDX-License-Identifier: Apache-2.0
"""Nodes whose limit of processes was reached: nothing begins in them any more, so that what is there can be ended.

Whoever kills one process after the other loses against processes that fork in the meantime.
"""

from collections.abc import Sequence

from tare.nodes.group import LocalGroup
from tare.nodes.provider import NodeGroup


class Fuse:
    """Of the nodes that have a group on this host; guests and other hosts keep their own."""

    def __init__(self, groups: Sequence[NodeGroup]) -> None:
        self._groups = [node_group.group for node_group in groups if isinstance(node_group, LocalGroup)]
        self._refused = self._count()

    def has_blown(self) -> bool:
        """Whether a limit has refused a process since then."""
        return self._count() > self._refused

    def blow(self) -> None:
        """No process begins in the nodes until ``mend``."""
        for group in self._groups:
            group.forbid_forks()

    def mend(self) -> None:
        """Each node may have as many again as before; what was refused until now counts no more."""
        for group in self._groups:
            group.allow_forks()
        self._refused = self._count()

    def _count(self) -> int:
        return sum(group.refused_processes() or 0 for group in self._groups)
