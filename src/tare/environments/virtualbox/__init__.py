# SPDX-License-Identifier: Apache-2.0
"""Nodes in machines of VirtualBox, by VBoxManage and ssh(1) (docs/virtualbox.md).

Written from VirtualBox's manual and its command line's output, and never run with it: it was not available for the
machine where this was written. The tests drive it through transcripts.
"""

import re
from collections.abc import Mapping

from tare.environments.managed.copied import COPY_OPTIONS, copy_complaints, sources
from tare.environments.managed.machine import Machine
from tare.environments.managed.options import INSIDE_OPTIONS, inside_complaints
from tare.environments.managed.provider import Managed
from tare.environments.virtualbox import vboxmanage
from tare.environments.virtualbox.machine import VirtualboxMachine
from tare.errors import NodeError
from tare.nodes.provider import NodeSpec, Probe
from tare.records import OptionValue

NETWORK_ADAPTERS = ("Am79C970A", "Am79C973", "82540EM", "82543GC", "82545EM", "virtio")
"""The last is paravirtualized; the others are real devices."""
PARAVIRTUALIZATION = ("none", "default", "legacy", "minimal", "hyperv", "kvm")
"""The interfaces offered to a guest: the last two paravirtualize its clock."""
_CHOICES = {"network_adapter": NETWORK_ADAPTERS, "paravirtualization": PARAVIRTUALIZATION}
_OWN: Mapping[str, str] = {
    "network_adapter": "type of the first network adapter, such as 82540EM or virtio; else the machine's own",
    "paravirtualization": "interface offered to the guest: none, default, legacy, minimal, hyperv, kvm; else its own",
}
OPTION_NAMES: Mapping[str, str] = {**_OWN, **COPY_OPTIONS, **INSIDE_OPTIONS}
"""Option → what it does."""
_PROBE_LIMIT_S = 10.0
_VERSION = re.compile(r"(\d{1,6})\.\d+\.\d+\w*")
_LEAST = 6
"""The first version that reports the effective paravirtualization and accepts all of these settings."""


def complaints(options: Mapping[str, OptionValue]) -> dict[str, str]:
    """Option → what is wrong with it."""
    problems = {**copy_complaints(options), **inside_complaints(options)}
    for name, allowed in _CHOICES.items():
        if (value := options.get(name, allowed[0])) not in allowed:
            problems[name] = f"must be one of {', '.join(allowed)}, but is {value!r}"
    return problems


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
