# SPDX-License-Identifier: Apache-2.0
"""The options of the ``virtualbox`` environment; the values come from VBoxManage's manual."""

from collections.abc import Mapping

from tare.environments.managed import INSIDE_OPTIONS, inside_complaints
from tare.environments.managed.copied import COPY_OPTIONS, copy_complaints
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


def complaints(options: Mapping[str, OptionValue]) -> dict[str, str]:
    """Option → what is wrong with it."""
    problems = {**copy_complaints(options), **inside_complaints(options)}
    for name, allowed in _CHOICES.items():
        if (value := options.get(name, allowed[0])) not in allowed:
            problems[name] = f"must be one of {', '.join(allowed)}, but is {value!r}"
    return problems
