# SPDX-License-Identifier: Apache-2.0
"""The environment ``libvirt``: the user's domain where one is named, else one of Tare's own on QEMU."""

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
