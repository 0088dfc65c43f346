# SPDX-License-Identifier: Apache-2.0
"""The ``vmware`` environment: machines by govc, nodes in them by ssh."""

from collections.abc import Mapping
from typing import TypedDict

from tare.environments.managed import Machine, Managed
from tare.environments.managed.copied import sources
from tare.environments.vmware import described
from tare.environments.vmware.govc import Govc
from tare.environments.vmware.machine import VmwareMachine
from tare.environments.vmware.options import OPTION_NAMES, complaints
from tare.errors import NodeError
from tare.host.told import told
from tare.nodes.provider import NodeSpec, Probe
from tare.records import OptionValue

_PROBE_LIMIT_S = 10.0


class _Server(TypedDict):
    fullName: str


class _About(TypedDict):
    about: _Server


class Vmware(Managed):
    technology = "vmware"
    option_names: Mapping[str, str] = OPTION_NAMES

    def check_options(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        return complaints(options)

    def machine(self, spec: NodeSpec) -> Machine:
        return VmwareMachine(spec)

    def probe(self) -> Probe:
        """Check the log-in and the machines; over a network it may take longer than on this host."""
        if self._options is None:
            reason = "its machine is named in a campaign file, and checked with it"
            return Probe(usable=False, reason=reason, remedy="write one as docs/vmware.md shows")
        try:
            return _probed(Govc.of(self._options), self._options)
        except NodeError as error:
            missing = "is not on this host" in str(error)
            remedy = "install govc, of VMware's govmomi" if missing else "try it by hand: govc about"
            return Probe(usable=False, reason=str(error), remedy=remedy)


def _probed(govc: Govc, options: Mapping[str, OptionValue]) -> Probe:
    server = _name(govc.ask("about", "-json", limit_s=_PROBE_LIMIT_S))
    for name in sources(options):
        if described.machine(govc.ask("vm.info", "-json", name, limit_s=_PROBE_LIMIT_S)) is None:
            reason = f"{server} has no machine {name}"
            return Probe(usable=False, reason=reason, remedy="see which there are: govc find / -type m")
    return Probe(usable=True, version=f"{govc.ask('version').strip()}, {server}")


def _name(text: str) -> str:
    return told(_About, text, "govc about")["about"]["fullName"]
