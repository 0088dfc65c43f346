# SPDX-License-Identifier: Apache-2.0
"""The control group of a node on this host, and which of its limits hold the processes that enter the node."""

from dataclasses import dataclass, replace

from tare.host.cgroups import Group, Settings
from tare.host.kernel_files import inner_numbers
from tare.records import Bounds

SANDBOX_THREADS = 1024
"""A sandbox's allowance beside the node's own processes: its kernel's threads, and helpers of each process."""


def with_sandbox(bounds: Bounds) -> Bounds:
    """The limits for the group of a node with its own kernel, where the host enforces them."""
    return replace(bounds, processes=None if bounds.processes is None else bounds.processes + SANDBOX_THREADS)


@dataclass(frozen=True, slots=True)
class LocalGroup:
    """A ``NodeGroup`` (``tare.nodes.provider``) on this host."""

    group: Group

    def settings(self) -> Settings:
        return self.group.settings()

    def cpu_s(self) -> float | None:
        return self.group.cpu_s()

    def memory_kills(self) -> int | None:
        return self.group.memory_kills()

    def refused_processes(self) -> int | None:
        return self.group.refused_processes()

    def lacks(self, inner_pid: int) -> list[str] | None:
        for hierarchies in (1, None):  # nearly always in the first
            for pid in self.group.processes(hierarchies):
                if inner_numbers(pid)[-1:] == [inner_pid]:
                    return self.group.lacks(pid)
        return None


@dataclass(frozen=True, slots=True)
class SandboxGroup(LocalGroup):
    """The group of a node with its own kernel: whatever runs in the node, its kernel's process runs."""

    kernel_pid: int

    def settings(self) -> Settings:
        settings = self.group.settings()
        own = None if settings.processes is None else settings.processes - SANDBOX_THREADS
        return replace(settings, processes=own)

    def lacks(self, inner_pid: int) -> list[str] | None:  # noqa: ARG002 - the host does not know that process
        return self.group.lacks(self.kernel_pid) if self.kernel_pid in self.group.processes() else None
