# SPDX-License-Identifier: Apache-2.0
"""A machine that is only a file: on while that is there. Its system is this host's, reached over the loopback."""

from collections.abc import Mapping
from pathlib import Path

from tare.environments.managed.machine import Machine
from tare.environments.managed.options import INSIDE_OPTIONS, machine_memory_byte
from tare.environments.managed.provider import Managed
from tare.host.cgroups import Settings
from tare.nodes.provider import NodeSpec, Probe


class SleepingMachine(Machine):
    """Writes what is done with it below ``spec.directory.parent``, where another machine of the same name finds it."""

    held: Settings | None = None
    obedient = True
    """Whether it ends when it is asked to."""

    @property
    def name(self) -> str:
        return "sleeper"

    @property
    def _on(self) -> Path:
        return self.spec.directory.parent / "sleeper.on"

    @property
    def _log(self) -> Path:
        return self.spec.directory.parent / "sleeper.log"

    @property
    def history(self) -> list[str]:
        """What was done so far."""
        return self._log.read_text().split() if self._log.exists() else []

    def _note(self, word: str) -> None:
        with self._log.open("a") as log:
            log.write(f"{word}\n")

    def is_on(self) -> bool:
        return self._on.exists()

    def make(self) -> None:
        self._note("make")

    def switch_on(self) -> None:
        self._note("on")
        self._on.touch()

    def ask_to_end(self) -> None:
        self._note("ask")
        if self.obedient:
            self._on.unlink()

    def switch_off(self) -> None:
        self._note("off")
        self._on.unlink(missing_ok=True)

    def unmake(self) -> None:
        self._note("unmake")

    def address(self) -> str | None:
        return "127.0.0.1" if self.is_on() else None

    def holds(self) -> Settings:
        if self.held is not None:
            return self.held
        spec = self.spec
        memory_byte = machine_memory_byte(spec.options, spec.memory_byte)
        return Settings(processors=spec.processors, memory_byte=memory_byte, cpu_quota=spec.cpu_quota)

    def facts(self) -> Mapping[str, str]:
        return {"sleeper": "soundly"}


class Sleepers(Managed):
    technology = "sleeper"
    option_names = INSIDE_OPTIONS

    def machine(self, spec: NodeSpec) -> Machine:
        return SleepingMachine(spec)

    def probe(self) -> Probe:
        return Probe(usable=True)
