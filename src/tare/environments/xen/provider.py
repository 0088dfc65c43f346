# SPDX-License-Identifier: Apache-2.0
"""The environment ``xen``: the user's domain where its configuration is named, else one of Tare's own."""

from collections.abc import Mapping

from tare.environments.managed import Either
from tare.environments.xen.brought import BroughtXenDomains
from tare.environments.xen.own import OwnXenDomains


class Xen(Either):
    technology = "xen"
    bounds_processes = False
    own = OwnXenDomains()
    brought = BroughtXenDomains()
    option_names: Mapping[str, str] = {**brought.option_names, **own.option_names}
    networks = own.networks | brought.networks
