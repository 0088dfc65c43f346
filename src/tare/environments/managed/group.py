# SPDX-License-Identifier: Apache-2.0
"""Where a node's limits hold in a user's machine: some in the hypervisor, some in the machine's own kernel."""

from dataclasses import dataclass

from tare.environments.managed.machine import Machine
from tare.environments.managed.options import is_pinned, machine_memory_byte
from tare.errors import NodeError
from tare.host.cgroups import Settings
from tare.nodes.provider import NodeGroup


@dataclass(frozen=True, slots=True)
class ManagedMachineGroup:
    """A ``NodeGroup`` (``tare.nodes.provider``).

    The hypervisor enforces the processors, counts the CPU time, and gives the machine its memory; the control group
    inside says how much of that the node may have.
    """

    machine: Machine
    inside: NodeGroup

    def settings(self) -> Settings:
        """``NodeError`` if the machine lacks the processors and the memory that its node was promised."""
        spec, held, inside = self.machine.spec, self.machine.holds(), self.inside.settings()
        own = self.machine.own_processors
        if inside.processors != own:
            raise NodeError(
                f"{self.machine.name} should have the processors {own}, and has {inside.processors}"
            )
        wanted = machine_memory_byte(spec.options, spec.memory_byte)
        if held.memory_byte != wanted:
            raise NodeError(
                f"{self.machine.name} should have {wanted} byte of memory, and has {held.memory_byte}"
            )
        processors = held.processors if is_pinned(spec.options) else spec.processors
        return Settings(
            processors=processors,
            memory_byte=inside.memory_byte,
            cpu_quota=held.cpu_quota,
            processes=inside.processes,
        )

    def cpu_s(self) -> float | None:
        """The hypervisor's count; the machine's own kernel does not measure what the host spent."""
        return self.machine.cpu_s()

    def memory_kills(self) -> int | None:
        return self.inside.memory_kills()

    def refused_processes(self) -> int | None:
        return self.inside.refused_processes()

    def lacks(self, inner_pid: int) -> list[str] | None:
        return self.inside.lacks(inner_pid)
