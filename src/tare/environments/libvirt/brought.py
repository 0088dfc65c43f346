# SPDX-License-Identifier: Apache-2.0
"""Nodes in domains that the user provides, on any connection of libvirt."""

from collections.abc import Mapping

from tare.environments.libvirt import options as words
from tare.environments.libvirt.domain import BroughtLibvirtDomain
from tare.environments.libvirt.virsh import Virsh
from tare.environments.managed import INSIDE_OPTIONS, Machine, Managed, inside_complaints
from tare.errors import NodeError
from tare.nodes.provider import NodeSpec, Probe
from tare.records import OptionValue

_PROBE_LIMIT_S = 10.0


class BroughtLibvirtDomains(Managed):
    technology = "libvirt"
    option_names: Mapping[str, str] = {**words.DOMAIN_OPTIONS, **INSIDE_OPTIONS}

    def check_options(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        return {**words.domain_complaints(options), **inside_complaints(options)}

    def machine(self, spec: NodeSpec) -> Machine:
        return BroughtLibvirtDomain(spec)

    def probe(self) -> Probe:
        """Check the connection and the domains; over a network it may take longer than on this host."""
        options = self._options or {}
        virsh = words.connection(options)
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
            usable=False, reason=str(error), remedy="apt-get install libvirt-clients" if missing else remedy
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
