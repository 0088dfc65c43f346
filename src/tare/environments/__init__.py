# SPDX-License-Identifier: Apache-2.0
"""Where a trial runs: one file for each technology, and this one list of them."""

from collections.abc import Mapping

from tare.environments.bubblewrap import Bubblewrap
from tare.environments.charliecloud import Charliecloud
from tare.environments.custom import Custom
from tare.environments.docker import Docker
from tare.environments.fake import Fake
from tare.environments.gvisor import Gvisor
from tare.environments.libvirt import Libvirt
from tare.environments.lxc import Lxc
from tare.environments.native import Chroot, Native
from tare.environments.nspawn import Nspawn
from tare.environments.openvz import Openvz
from tare.environments.podman import Podman
from tare.environments.provider import Provider
from tare.environments.qemu import Qemu
from tare.environments.singularity import Singularity
from tare.environments.ssh import Ssh
from tare.environments.virtualbox import Virtualbox
from tare.environments.vmware import Vmware
from tare.environments.vserver import Vserver
from tare.environments.xen import Xen

PROVIDERS: Mapping[str, Provider] = {
    provider.technology: provider
    for provider in (
        Native(),
        Chroot(),
        Docker(),
        Podman(),
        Lxc(),
        Nspawn(),
        Bubblewrap(),
        Charliecloud(),
        Singularity(),
        Openvz(),
        Vserver(),
        Custom(),
        Ssh(),
        Gvisor(),
        Qemu(),
        Libvirt(),
        Xen(),
        Vmware(),
        Virtualbox(),
        Fake(),
    )
}
"""Technology → its provider: every environment that Tare knows."""
