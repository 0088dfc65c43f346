# SPDX-License-Identifier: Apache-2.0
"""Nodes in domains that the user provides, on any connection of libvirt, each with its description unchanged."""

import urllib.parse
from collections.abc import Mapping
from pathlib import Path

from tare.environments.libvirt import monitor, once
from tare.environments.libvirt.virsh import Virsh, parse_memory_byte, parse_quota
from tare.environments.managed.machine import Machine
from tare.environments.managed.options import (
    INSIDE_OPTIONS,
    inside_complaints,
    is_pinned,
    machine_memory_byte,
    one_of,
)
from tare.environments.managed.provider import Managed
from tare.errors import NodeError
from tare.host.cgroups import Settings
from tare.host.distribution import to_install
from tare.host.privileges import ordinary_user
from tare.nodes.provider import NodeSpec, Probe
from tare.records import OptionValue

_ONE_TIME = frozenset({"qemu", "xen", "lxc", "test"})
"""Drivers that start a domain from a description for a single start (virsh(1), create)."""
_CONTAINERS = frozenset({"lxc", "openvz"})
_START_LIMIT_S = 180.0
CONNECTION = {"connection": "libvirt's URI, such as qemu:///system, xen:///system or esx://user@host"}
DOMAIN_OPTIONS: Mapping[str, str] = {
    **CONNECTION,
    "domain": "the user's own domain that is to be the node; or a list, node by node",
    "snapshot": "of that domain, to which it is reverted before every start",
}
_PROBE_LIMIT_S = 10.0


class BroughtLibvirtDomain(Machine):
    """A domain driven by virsh(1). It starts with other limits where the driver can, else it must already have them."""

    def __init__(self, spec: NodeSpec) -> None:
        super().__init__(spec)
        self._virsh: Virsh = connection(spec.options)
        self._snapshot = spec.options.get("snapshot")
        self.outlives_node = self._snapshot is None
        self.own_kernel = self._virsh.driver not in _CONTAINERS

    @property
    def name(self) -> str:
        return domain(self.spec.options, self.spec.index)

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


def connection(options: Mapping[str, OptionValue]) -> Virsh:
    """The connection in the options, else the system's QEMU for root and the session's for others."""
    usual = "qemu:///session" if ordinary_user() else "qemu:///system"
    return Virsh(str(options.get("connection", usual)))


def domain(options: Mapping[str, OptionValue], index: int) -> str:
    """The name of the domain of a trial's node number ``index``."""
    return one_of(options["domain"], index)


def connection_complaints(options: Mapping[str, OptionValue]) -> dict[str, str]:
    value = options.get("connection", "qemu:///system")
    try:
        parts = urllib.parse.urlsplit(value) if isinstance(value, str) else None
        named = parts is not None and parts.scheme
        secret = parts is not None and parts.password is not None
    except ValueError:
        named, secret = False, False
    if secret:
        return {
            "connection": "holds a password, which every user could read: write it into libvirt's auth.conf"
        }
    return {} if named else {"connection": f"{value!r} is no URI; write one such as qemu:///system"}


def domain_complaints(options: Mapping[str, OptionValue]) -> dict[str, str]:
    """Option → what is wrong with it, among ``DOMAIN_OPTIONS``."""
    complaints = connection_complaints(options)
    names = options.get("domain")
    for name in names if isinstance(names, list) else [names]:
        if not isinstance(name, str) or not name or name.startswith("-"):
            complaints["domain"] = f"must be a domain's name, but is {name!r}"
    if names == []:
        complaints["domain"] = "is an empty list"
    snapshot = options.get("snapshot", "clean")
    if not isinstance(snapshot, str) or not snapshot or snapshot.startswith("-"):
        complaints["snapshot"] = f"must be a snapshot's name, but is {snapshot!r}"
    return complaints


class BroughtLibvirtDomains(Managed):
    technology = "libvirt"
    option_names: Mapping[str, str] = {**DOMAIN_OPTIONS, **INSIDE_OPTIONS}

    def check_options(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        return {**domain_complaints(options), **inside_complaints(options)}

    def machine(self, spec: NodeSpec) -> Machine:
        return BroughtLibvirtDomain(spec)

    def probe(self) -> Probe:
        """Check the connection and the domains; over a network it may take longer than on this host."""
        options = self._options or {}
        virsh = connection(options)
        probe = probe_connection(virsh)
        names = options.get("domain", [])
        for name in names if isinstance(names, list) else [str(names)]:
            if probe.usable:
                probe = _probe_domain(virsh, name, probe)
        return probe


def probe_connection(virsh: Virsh) -> Probe:
    """Check that libvirt is here and reaches its hypervisor."""
    remedy = f"see what this says, and start what it misses: virsh --connect={virsh.uri} version"
    try:
        said = virsh.ask("version", limit_s=_PROBE_LIMIT_S)
    except NodeError as error:
        missing = "is not on this host" in str(error)
        return Probe(
            usable=False, reason=str(error), remedy=to_install("libvirt-clients") if missing else remedy
        )
    lines = dict(line.partition(": ")[::2] for line in said.splitlines() if ": " in line)
    used, runs = lines.get("Using library"), lines.get("Running hypervisor")
    version = ", ".join(filter(None, (used, runs)))
    return Probe(usable=True, version=version)


def _probe_domain(virsh: Virsh, name: str, connected: Probe) -> Probe:
    try:
        done = virsh.run("domstate", name, limit_s=_PROBE_LIMIT_S)
    except NodeError as error:
        return Probe(usable=False, reason=str(error), remedy="try it by hand: virsh domstate")
    if done.code == 0:
        return connected
    return Probe(
        usable=False,
        reason=f"{virsh.uri} has no domain {name}: {done.last_words}",
        remedy="see which there are: virsh list --all",
    )
