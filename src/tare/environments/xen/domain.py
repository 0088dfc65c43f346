# SPDX-License-Identifier: Apache-2.0
"""A domain that the user describes in a file for xl(1), as a node's machine."""

import re
from pathlib import Path

from tare.environments.managed.machine import Machine
from tare.environments.managed.options import is_pinned, machine_memory_byte, one_of
from tare.environments.xen import configuration, xl
from tare.errors import NodeError
from tare.host.cgroups import Settings

_NAME = re.compile(r"""^[ \t]*name[ \t]*=[ \t]*(["'])([\w.+-]+)\1""", re.MULTILINE)


class BroughtXenDomain(Machine):
    """It starts with the node's limits replacing its file's; the file stays as it is (xl(1), create)."""

    @property
    def _file(self) -> str:
        return one_of(self.spec.options["domain"], self.spec.index)

    @property
    def name(self) -> str:
        try:
            text = Path(self._file).read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise NodeError(f"cannot read the domain's configuration {self._file}: {error}") from error
        match = _NAME.search(text)
        if match is None:
            raise NodeError(
                f"{self._file} has no line name = ...: xl knows a running domain by its name alone"
            )
        return match[2]

    def is_on(self) -> bool:
        return xl.exists(self.name)

    def make(self) -> None:
        """Nothing: xl keeps no domain that is off."""

    def switch_on(self) -> None:
        memory_byte = machine_memory_byte(self.spec.options, self.spec.memory_byte)
        limits = configuration.limits(self.spec, memory_byte, pinned=is_pinned(self.spec.options))
        xl.create(self._file, *configuration.lines(limits))

    def ask_to_end(self) -> None:
        """Shut it down by Xen's own channel, or by ACPI in a domain without its drivers."""
        xl.ask("shutdown", "-F", self.name)

    def switch_off(self) -> None:
        xl.destroy(self.name)

    def unmake(self) -> None:
        """Nothing."""

    def address(self) -> str | None:
        """Unknown to xl; the option ``host`` sets it."""
        return None

    def holds(self) -> Settings:
        return xl.holds(self.name)

    def cpu_s(self) -> float | None:
        return xl.cpu_s(self.name)

    def facts(self) -> dict[str, str]:
        facts = xl.parse_info(xl.ask("info"))
        return {
            "Xen": f"{facts.get('xen_version', 'unknown version')}, scheduler {facts.get('xen_scheduler')}"
        }
