# SPDX-License-Identifier: Apache-2.0
"""Where a guest's limits hold: the host's control group holds the whole machine, its monitor sets its memory."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tare.errors import NodeError
from tare.host import process
from tare.host.cgroups import Settings
from tare.host.told import number
from tare.nodes.group import SandboxGroup
from tare.nodes.provider import NodeSpec

_LIMIT_S = 30.0
_GRAIN_BYTE = 8192
"""QEMU gives memory in pieces of this size."""
_OWN_PROCESSES, _OWN_BY_PROCESSOR = 256, 16
_THREADS_MAX = "/proc/sys/kernel/threads-max"


def kernel_processes(processes: int, processors: int) -> int:
    """The guest kernel's threads-max (proc(5)), root included: the node's processes, and room for the kernel's own."""
    return processes + _OWN_PROCESSES + _OWN_BY_PROCESSOR * processors


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The resources that a machine's monitor says it gives its guest."""

    memory_byte: int
    processors: tuple[int, ...] | None
    """The host's processors to which the guest's own are pinned; ``None``: all of the control group's."""


@dataclass(frozen=True, slots=True)
class OwnMachineGroup(SandboxGroup):
    """A ``NodeGroup`` (``tare.nodes.provider``) of a machine whose monitor is in a group of ours.

    ``kernel_pid`` is the monitor's process id. The group's own memory limit exceeds the guest's memory by the monitor's
    own needs.
    """

    spec: NodeSpec
    held: Held
    prefix: Sequence[str]
    gone: Callable[[], NodeError]
    """Says why the machine has ended."""

    def settings(self) -> Settings:
        settings = self.group.settings()
        return replace(
            settings,
            memory_byte=self._memory_byte(),
            processors=self.held.processors or settings.processors,
            processes=self._processes(),
        )

    def memory_kills(self) -> int | None:
        """The guest's kernel kills when its memory is used up; the host's when the monitor exceeds its limit.

        ``NodeError`` if the machine has ended for another reason.
        """
        on_host = self.group.memory_kills()
        if not on_host and not Path(f"/proc/{self.kernel_pid}/cwd").exists():  # gone, or not yet collected
            raise self.gone()
        known = [count for count in (on_host, self._kills_inside()) if count is not None]
        return sum(known) if known else None

    def _memory_byte(self) -> int:
        """The requested memory, where the machine's is that, rounded up to the pieces in which memory is given."""
        asked, given = self.spec.memory_byte, self.held.memory_byte
        return asked if 0 <= given - asked < _GRAIN_BYTE else given

    def _processes(self) -> int | None:
        """How many processes the guest's kernel leaves the node; ``None`` where no limit was requested."""
        if self.spec.bounds.processes is None:
            return None
        done = process.run([*self.prefix, "cat", _THREADS_MAX], timeout_s=_LIMIT_S)
        own = kernel_processes(0, len(self.spec.processors))
        return int(done.stdout) - own if done.stdout.strip().isdigit() else None

    def _kills_inside(self) -> int | None:
        try:
            done = process.run([*self.prefix, "cat", "/proc/vmstat"], timeout_s=_LIMIT_S)
        except NodeError:
            return None  # a later request finds the guest gone
        return parse_kills(done.stdout)


def parse_kills(vmstat: str) -> int | None:
    """How often the kernel killed for lack of memory, from /proc/vmstat (proc(5)); ``None`` if it does not count."""
    match = re.search(r"^oom_kill (\d+)$", vmstat, re.MULTILINE)
    return number(match[1], "the guest's /proc/vmstat") if match else None
