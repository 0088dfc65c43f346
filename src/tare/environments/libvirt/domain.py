# SPDX-License-Identifier: Apache-2.0
"""A domain of the user's as a node's machine: started with the node's limits, its own description unchanged."""

from pathlib import Path

from tare.environments.libvirt import monitor, once, options
from tare.environments.libvirt.virsh import Virsh, parse_memory_byte, parse_quota
from tare.environments.managed.machine import Machine
from tare.environments.managed.options import is_pinned, machine_memory_byte
from tare.errors import NodeError
from tare.host.cgroups import Settings
from tare.nodes.provider import NodeSpec

_ONE_TIME = frozenset({"qemu", "xen", "lxc", "test"})
"""Drivers that start a domain from a description for a single start (virsh(1), create)."""
_CONTAINERS = frozenset({"lxc", "openvz"})
_START_LIMIT_S = 180.0


class BroughtLibvirtDomain(Machine):
    """A domain driven by virsh(1). It starts with other limits where the driver can, else it must already have them."""

    def __init__(self, spec: NodeSpec) -> None:
        super().__init__(spec)
        self._virsh: Virsh = options.connection(spec.options)
        self._snapshot = spec.options.get("snapshot")
        self.outlives_node = self._snapshot is None
        self.own_kernel = self._virsh.driver not in _CONTAINERS

    @property
    def name(self) -> str:
        return options.domain(self.spec.options, self.spec.index)

    @property
    def _description(self) -> Path:
        """The file exists only while virsh reads it: it may hold the password of a display."""
        return self.spec.directory / "domain.xml"

    def is_on(self) -> bool:
        return self._virsh.is_on(self.name)

    def make(self) -> None:
        if self._snapshot is not None:
            self._virsh.ask("snapshot-revert", self.name, str(self._snapshot), limit_s=_START_LIMIT_S)
            if self.is_on():
                raise NodeError(
                    f"the snapshot {self._snapshot} is of a domain that runs: take one while it is off"
                )
        elif "yes" in _line(self._virsh.ask("dominfo", self.name), "Managed save"):
            raise NodeError(f"{self.name} has a saved state: take it away with virsh managedsave-remove")
        if self._virsh.driver not in _ONE_TIME:
            self._check()

    def _check(self) -> None:
        """``NodeError`` with the remedy when the domain lacks limits that cannot be set for a single start."""
        spec, count = self.spec, once.processor_count(self._virsh.ask("dumpxml", "--inactive", self.name))
        kind = self._virsh.driver
        if spec.cpu_quota is not None:
            raise NodeError(f"libvirt's driver {kind} can keep no CPU quota for one start; leave it out here")
        if is_pinned(spec.options):
            words = "cannot keep a domain to a set of processors for one start: write pinned = false to do without"
            raise NodeError(f"libvirt's driver {kind} {words}")
        if count != (wanted := len(spec.processors)):
            raise NodeError(
                f"{self.name} has {count} processors and its node needs {wanted}: change the domain"
            )

    def switch_on(self) -> None:
        if self._virsh.driver not in _ONE_TIME:
            self._virsh.ask("start", self.name, limit_s=_START_LIMIT_S)
            return
        spec, wanted = self.spec, machine_memory_byte(self.spec.options, self.spec.memory_byte)
        text = self._virsh.ask("dumpxml", "--inactive", "--security-info", self.name)
        quota = None if self._virsh.driver == "xen" else spec.cpu_quota
        pinned = is_pinned(spec.options)
        self._description.touch(mode=0o600)
        try:
            self._description.write_text(once.limited(text, spec.processors, wanted, quota, pinned=pinned))
            self._virsh.ask("create", str(self._description), limit_s=_START_LIMIT_S)
        finally:
            self._description.unlink()
        if quota != spec.cpu_quota:  # Xen's driver does not take it from a description
            self._virsh.ask("schedinfo", self.name, "--live", f"cap={round((spec.cpu_quota or 0) * 100)}")

    def ask_to_end(self) -> None:
        self._virsh.ask("shutdown", self.name)

    def switch_off(self) -> None:
        if self.is_on():
            self._virsh.ask("destroy", self.name)

    def unmake(self) -> None:
        """Nothing: the description for one start ends with that start."""

    def address(self) -> str | None:
        return self._virsh.address(self.name)

    def holds(self) -> Settings:
        scheduler = self._virsh.run("schedinfo", self.name)
        return Settings(
            processors=self._virsh.processors(self.name),
            memory_byte=parse_memory_byte(self._virsh.ask("dominfo", self.name)),
            cpu_quota=parse_quota(scheduler.stdout) if scheduler.code == 0 else None,
        )

    def cpu_s(self) -> float | None:
        return self._virsh.cpu_s(self.name)

    def facts(self) -> dict[str, str]:
        """The name of its hypervisor, in its own words."""
        said = self._virsh.ask("version")
        return {
            "libvirt": f"{_line(said, 'Using library')}, {_line(said, 'Running hypervisor')}, {self._virsh.uri}"
        }

    def helpers(self) -> list[int]:
        process = monitor.process(monitor.state_folder(self._virsh), self.name)
        return [] if process is None else [process]

    def virtual_processors(self) -> list[int]:
        return [thread for pid in self.helpers() for thread in monitor.processor_threads(pid)]


def _line(text: str, label: str) -> str:
    """The value of a line ``label: value``; empty without one."""
    lines = (line.partition(":") for line in text.splitlines())
    return next((value.strip() for name, _, value in lines if name.strip() == label), "")
