# SPDX-License-Identifier: Apache-2.0
"""The environments in which a trial runs: one file for each technology, and the only list of them."""

from collections.abc import Mapping

from tare.nodes.provider import Provider
from tare.on_demand import OnDemand

PROVIDERS: Mapping[str, Provider] = OnDemand(
    __name__,
    {
        "native": "native:Native",
        "chroot": "native:Chroot",
        "host": "native:OnHostFiles",
        "docker": "docker:Docker",
        "podman": "podman:Podman",
        "lxc": "lxc:Lxc",
        "systemd-nspawn": "nspawn:Nspawn",
        "bubblewrap": "bubblewrap:Bubblewrap",
        "charliecloud": "charliecloud:Charliecloud",
        "enroot": "enroot:Enroot",
        "apptainer": "apptainer:Apptainer",
        "singularity": "singularity:Singularity",
        "sarus": "sarus:Sarus",
        "udocker": "udocker:Udocker",
        "openvz": "openvz:Openvz",
        "vserver": "vserver:Vserver",
        "custom": "custom:Custom",
        "ssh": "ssh:Ssh",
        "crun": "crun:Crun",
        "gvisor": "gvisor:Gvisor",
        "qemu": "qemu:Qemu",
        "libvirt": "libvirt:Libvirt",
        "xen": "xen:Xen",
        "vmware": "vmware:Vmware",
        "virtualbox": "virtualbox:Virtualbox",
        "fake": "fake:Fake",
    },
)
"""Technology → its provider: every environment that Tare knows."""

UNSUPPORTED: Mapping[str, str] = {
    "pyxis": "it starts enroot's containers under Slurm: `--env enroot` weighs what they cost",
    "shifter": "it was never tried; it makes a mount namespace by set-user-id rights: sarus comes nearest",
}
"""Technologies that people ask for and Tare does not know → why, and what comes nearest (docs/environments.md)."""
