# SPDX-License-Identifier: Apache-2.0
"""The ``virtualbox`` environment: machines by VBoxManage, nodes in them by ssh.

Written from VirtualBox's manual and its command line's output, and never run with it: it was not available for the
machine where this was written. The tests drive it through transcripts.
"""

import re
from collections.abc import Mapping

from tare.environments.managed import Machine, Managed
from tare.environments.managed.copied import sources
from tare.environments.virtualbox import vboxmanage
from tare.environments.virtualbox.machine import VirtualboxMachine
from tare.environments.virtualbox.options import OPTION_NAMES, complaints
from tare.errors import NodeError
from tare.nodes.provider import NodeSpec, Probe
from tare.records import OptionValue

_PROBE_LIMIT_S = 10.0
_VERSION = re.compile(r"(\d{1,6})\.\d+\.\d+\w*")
_LEAST = 6
"""The first version that reports the effective paravirtualization and accepts all of these settings."""


class Virtualbox(Managed):
    technology = "virtualbox"
    option_names: Mapping[str, str] = OPTION_NAMES

    def check_options(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        return complaints(options)

    def machine(self, spec: NodeSpec) -> Machine:
        return VirtualboxMachine(spec)

    def probe(self) -> Probe:
        """Check the program, its kernel module, and the machines: each user has their own."""
        try:
            probe = _probe_program()
            for name in sources(self._options or {}) if probe.usable else ():
                if vboxmanage.information(name) is None:
                    reason = f"VirtualBox has no machine {name} of this user's"
                    return Probe(
                        usable=False, reason=reason, remedy="see which there are: VBoxManage list vms"
                    )
        except NodeError as error:
            remedy = "install VirtualBox; Debian 12 has none, so from its makers"
            return Probe(usable=False, reason=str(error), remedy=remedy)
        if probe.usable and self._options is None:
            reason = "its machine is named in a campaign file, and checked with it"
            return Probe(usable=False, reason=reason, remedy="write one as docs/virtualbox.md shows")
        return probe


def _probe_program() -> Probe:
    """Check the program; before the version it warns if its kernel module is missing, which every machine needs."""
    lines = vboxmanage.ask("--version", limit_s=_PROBE_LIMIT_S).strip().splitlines() or [""]
    if warning := next((line for line in lines if line.startswith("WARNING")), None):
        return Probe(
            usable=False, reason=warning, remedy="load it: modprobe vboxdrv, or /sbin/vboxconfig first"
        )
    match = _VERSION.fullmatch(lines[-1].strip())
    if match is None or int(match[1]) < _LEAST:
        reason = f"VirtualBox is of an unknown or too old version: {lines[-1][:80] or 'it printed nothing'}"
        return Probe(usable=False, reason=reason, remedy=f"install VirtualBox {_LEAST} or later")
    return Probe(usable=True, version=f"VirtualBox {match[0]}")
