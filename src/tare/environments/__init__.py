# SPDX-License-Identifier: Apache-2.0
"""Where a trial runs: one file for each technology, and this one list of them."""

from collections.abc import Mapping

from tare.environments.bubblewrap import Bubblewrap
from tare.environments.docker import Docker
from tare.environments.fake import Fake
from tare.environments.lxc import Lxc
from tare.environments.native import Chroot, Native
from tare.environments.nspawn import Nspawn
from tare.environments.provider import Provider

PROVIDERS: Mapping[str, Provider] = {
    provider.technology: provider
    for provider in (
        Native(),
        Chroot(),
        Docker(),
        Lxc(),
        Nspawn(),
        Bubblewrap(),
        Fake(),
    )
}
"""Technology → its provider: every environment that Tare knows."""
