# SPDX-License-Identifier: Apache-2.0
"""The control group of a node on this host, asked about what is entered into the node."""

from dataclasses import dataclass

from tare.host.cgroups import Group, Settings


@dataclass(frozen=True, slots=True)
class LocalGroup:
    """A ``NodeGroup`` (``tare.environments.provider``) that is read here."""

    group: Group

    def settings(self) -> Settings:
        return self.group.settings()

    def cpu_s(self) -> float | None:
        return self.group.cpu_s()

    def memory_kills(self) -> int | None:
        return self.group.memory_kills()

    def lacks(self, inner_pid: int) -> list[str] | None:
        from tare.environments.confined import inner_numbers  # noqa: PLC0415 - it builds on provider, which uses this

        found = [pid for pid in self.group.processes() if inner_numbers(pid)[-1:] == [inner_pid]]
        return self.group.lacks(found[0]) if found else None


@dataclass(frozen=True, slots=True)
class SandboxGroup(LocalGroup):
    """Of a node with a kernel of its own: whatever runs in it, its kernel's process runs."""

    kernel_pid: int

    def lacks(self, inner_pid: int) -> list[str] | None:  # noqa: ARG002 - the host does not know that process
        return self.group.lacks(self.kernel_pid) if self.kernel_pid in self.group.processes() else None
