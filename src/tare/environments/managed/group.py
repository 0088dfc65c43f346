# SPDX-License-Identifier: Apache-2.0
"""Where the limits of a node in a user's machine hold: some by the hypervisor, some by the machine's own kernel."""

from dataclasses import dataclass

from tare.environments.managed.machine import Machine
from tare.environments.managed.options import is_pinned, machine_memory_byte
from tare.errors import NodeError
from tare.host.cgroups import Settings
from tare.nodes.provider import NodeGroup


@dataclass(frozen=True, slots=True)
class ManagedMachineGroup:
    """A ``NodeGroup`` (``tare.nodes.provider``).

    The hypervisor keeps the processors and the CPU time, and gives the machine its memory; how much of that the node
    may have, the control group inside says.
    """

    machine: Machine
    inside: NodeGroup

    def settings(self) -> Settings:
        """``NodeError`` if the machine has not the processors and the memory that its node was promised."""
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
        """The hypervisor's; what the machine's own kernel counts is no measure of what the host spent."""
        return self.machine.cpu_s()

    def memory_kills(self) -> int | None:
        return self.inside.memory_kills()

    def refused_processes(self) -> int | None:
        return self.inside.refused_processes()

    def lacks(self, inner_pid: int) -> list[str] | None:
        return self.inside.lacks(inner_pid)
