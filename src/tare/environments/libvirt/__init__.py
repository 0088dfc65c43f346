# SPDX-License-Identifier: Apache-2.0
"""libvirt: Tare's own machines on QEMU, and any domain that the user provides, on any connection (docs/libvirt.md)."""

from collections.abc import Mapping

from tare.environments.libvirt.brought import BroughtLibvirtDomains
from tare.environments.libvirt.own import OwnLibvirtDomains
from tare.environments.managed import Either


class Libvirt(Either):
    technology = "libvirt"
    own = OwnLibvirtDomains()
    brought = BroughtLibvirtDomains()
    option_names: Mapping[str, str] = {**brought.option_names, **own.option_names}
    networks = own.networks | brought.networks
