# SPDX-License-Identifier: Apache-2.0
"""Nodes in domains that the user has configured for xl(1)."""

import re
from collections.abc import Mapping
from pathlib import Path

from tare.environments.managed.machine import Machine
from tare.environments.managed.options import (
    INSIDE_OPTIONS,
    inside_complaints,
    is_pinned,
    machine_memory_byte,
    one_of,
)
from tare.environments.managed.provider import Managed
from tare.environments.xen import configuration, xl
from tare.errors import NodeError
from tare.host.cgroups import Settings
from tare.host.distribution import to_install
from tare.host.privileges import ordinary_user
from tare.nodes.provider import NodeSpec, Probe
from tare.records import OptionValue

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


class BroughtXenDomains(Managed):
    technology = "xen"
    option_names: Mapping[str, str] = {
        "domain": "xl's configuration file of the user's own domain that is to be the node; or a list, node by node",
        **INSIDE_OPTIONS,
    }

    def check_options(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        complaints = inside_complaints({"host": "unsaid", **options})
        if "host" not in options:
            complaints["host"] = (
                "is missing; write how ssh reaches the domain, as xl does not know its address"
            )
        names = options.get("domain")
        for name in names if isinstance(names, list) else [names]:
            if not isinstance(name, str) or not name.startswith("/"):
                complaints["domain"] = f"must be the whole path of xl's configuration file, but is {name!r}"
        if names == []:
            complaints["domain"] = "is an empty list"
        return complaints

    def machine(self, spec: NodeSpec) -> Machine:
        return BroughtXenDomain(spec)

    def probe(self) -> Probe:
        probe = probe_xen()
        names = (self._options or {}).get("domain", [])
        for name in names if isinstance(names, list) else [str(names)]:
            if probe.usable and not Path(name).is_file():
                reason = f"there is no configuration file {name}"
                return Probe(usable=False, reason=reason, remedy="write one, as xl.cfg(5) says")
        return probe


def probe_xen() -> Probe:
    """Whether this is the first domain of a Xen host, with xl."""
    if ordinary_user():
        return Probe(usable=False, reason="xl needs root", remedy="run as root")
    try:
        said = xl.parse_info(xl.ask("info", limit_s=5.0))
    except NodeError as error:
        missing = "is not on this host" in str(error)
        remedy = f"{to_install('xen-system-amd64')} and boot it" if missing else "boot this host under Xen"
        return Probe(usable=False, reason=str(error), remedy=remedy)
    version = said.get("xen_version", "")
    return Probe(usable=True, version=f"Xen {version}")
