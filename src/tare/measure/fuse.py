# SPDX-License-Identifier: Apache-2.0
"""Nodes that reached their process limit: nothing more starts in them, so that their processes can be ended.

Killing one process after the other fails against processes that fork in the meantime.
"""

from collections.abc import Sequence

from tare.nodes.group import LocalGroup
from tare.nodes.provider import NodeGroup


class Fuse:
    """The fuse of nodes with a group on this host; guests and other hosts have their own."""

    def __init__(self, groups: Sequence[NodeGroup]) -> None:
        self._groups = [node_group.group for node_group in groups if isinstance(node_group, LocalGroup)]
        self._refused = self._count()

    def has_blown(self) -> bool:
        """Whether a limit has refused a process since the last reset."""
        return self._count() > self._refused

    def blow(self) -> None:
        """Let no process start in the nodes until ``mend``."""
        for group in self._groups:
            group.forbid_forks()

    def mend(self) -> None:
        """Restore each node's limit; earlier refusals no longer count."""
        for group in self._groups:
            group.allow_forks()
        self._refused = self._count()

    def _count(self) -> int:
        return sum(group.refused_processes() or 0 for group in self._groups)
