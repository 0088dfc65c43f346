# SPDX-License-Identifier: Apache-2.0
"""What holds an ordinary user's node, and which of its limits hold the processes that enter the node."""

import os
from dataclasses import dataclass
from pathlib import Path

from tare.errors import NodeError
from tare.host.cgroups import Settings
from tare.host.kernel_files import inner_numbers
from tare.nodes.provider import Node
from tare.nodes.unprivileged.limits import Means, recall
from tare.nodes.unprivileged.members import beside

_DATA_LIMIT = "Max data size"


@dataclass(frozen=True, slots=True)
class UserGroup:
    """A ``NodeGroup`` (``tare.nodes.provider``): a delegated control group, or none and weaker means."""

    node: Node
    means: Means

    @classmethod
    def of(cls, node: Node) -> "UserGroup":
        return cls(node, recall(node.spec))

    def settings(self) -> Settings:
        """The limits of the control group; none without one."""
        group = self.means.as_group()
        return (
            Settings(processors=None, memory_byte=None, cpu_quota=None) if group is None else group.settings()
        )

    def cpu_s(self) -> float | None:
        group = self.means.as_group()
        return None if group is None else group.cpu_s()

    def memory_kills(self) -> int | None:
        group = self.means.as_group()
        return None if group is None else group.memory_kills()

    def refused_processes(self) -> int | None:
        group = self.means.as_group()
        return None if group is None else group.refused_processes()

    def lacks(self, inner_pid: int) -> list[str] | None:
        """The controllers that do not hold it; ``None``: no process with this number is in the node."""
        pid, group = self._pid(inner_pid), self.means.as_group()
        return None if pid is None else [] if group is None else group.lacks(pid)

    def data_limit_byte(self, inner_pid: int) -> int | None:
        """The process's RLIMIT_DATA (getrlimit(2)); ``None``: it has none. ``NodeError`` when it is gone."""
        pid = self._pid(inner_pid)
        try:
            lines = Path(f"/proc/{pid}/limits").read_text().splitlines()
        except OSError as error:
            raise NodeError(f"the process that entered {self.node.spec.name} is gone") from error
        hard = next(line for line in lines if line.startswith(_DATA_LIMIT)).split()[-2]
        return int(hard) if hard.isdigit() else None

    def affinity(self, inner_pid: int) -> tuple[int, ...]:
        """The processors on which it may run, according to the host (sched_getaffinity(2))."""
        try:
            return tuple(sorted(os.sched_getaffinity(self._pid(inner_pid) or -1)))
        except OSError as error:
            raise NodeError(f"the process that entered {self.node.spec.name} is gone") from error

    def _pid(self, inner_pid: int) -> int | None:
        """The host's process id of the node's process with this number inside."""
        assert self.node.init_pid is not None  # noqa: S101 - every ordinary user's node has a first process
        pids = [pid for pid in beside(self.node.init_pid) if inner_numbers(pid)[-1:] == [inner_pid]]
        return pids[0] if pids else None
