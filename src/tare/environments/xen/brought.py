# SPDX-License-Identifier: Apache-2.0
"""Nodes in domains that the user has configured for xl(1)."""

from collections.abc import Mapping
from pathlib import Path

from tare.environments.managed import INSIDE_OPTIONS, Machine, Managed, inside_complaints
from tare.environments.xen import xl
from tare.environments.xen.domain import BroughtXenDomain
from tare.errors import NodeError
from tare.host.privileges import ordinary_user
from tare.nodes.provider import NodeSpec, Probe
from tare.records import OptionValue


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
        remedy = "apt-get install xen-system-amd64 and boot it" if missing else "boot this host under Xen"
        return Probe(usable=False, reason=str(error), remedy=remedy)
    version = said.get("xen_version", "")
    return Probe(usable=True, version=f"Xen {version}")
