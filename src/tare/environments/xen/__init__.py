# SPDX-License-Identifier: Apache-2.0
"""Xen by xl(1): machines of Tare's own as PV, PVH or HVM domains, and domains from the user's configuration files.

Written from xl(1), xl.cfg(5), xl-disk-configuration(5) and the tool's sources, and never run on Xen: the tests drive it
through transcripts based on these (docs/xen.md).
"""

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
