# SPDX-License-Identifier: Apache-2.0
"""What each technology is like for those who choose one: one row each (docs/advise.md).

Root, kernel and devices are as Tare runs it, because its predictions are of that; a test holds them against the
providers. The rest is the technologies' own documentation: live migration is what `virsh migrate`, `xl migrate`,
`vzmigrate`, QEMU's `migrate`, vMotion and VirtualBox's teleporting do. Checkpoints of containers by CRIU stop them, and
are experimental in Docker.
"""

from collections.abc import Mapping
from dataclasses import replace

from tare.engines.oci_runtime import PLAIN_RUNTIMES
from tare.records import Environment
from tare.records.advice import Isolation, Suitability

_HPC_IMAGES = ("oci", "squashfs", "directory")
_SINGULARITY_IMAGES = ("sif", *_HPC_IMAGES)


def _row(
    *,
    root: bool | None,
    daemon: bool | None,
    isolation: Isolation | None,
    images: tuple[str, ...] = (),
    own_kernel: bool | None = False,
    live_migration: bool | None = False,
    gpu: bool | None = True,
) -> Suitability:
    return Suitability(
        root=root,
        daemon=daemon,
        own_kernel=own_kernel,
        isolation=isolation,
        live_migration=live_migration,
        images=images,
        gpu=gpu,
    )


def _machine(*, daemon: bool) -> Suitability:
    return _row(
        root=True,
        daemon=daemon,
        isolation=Isolation.MACHINE,
        images=("disk",),
        own_kernel=True,
        live_migration=True,
        gpu=False,
    )


_DEPENDS = _row(root=None, daemon=None, isolation=None, own_kernel=None, live_migration=None, gpu=None)

SUITABILITY: Mapping[str, Suitability] = {
    "native": _row(root=False, daemon=False, isolation=Isolation.NONE, images=("directory",)),
    "chroot": _row(root=False, daemon=False, isolation=Isolation.FILES, images=("directory",)),
    "host": _row(root=False, daemon=False, isolation=Isolation.NONE),
    "docker": _row(root=True, daemon=True, isolation=Isolation.NAMESPACES, images=("oci",)),
    "podman": _row(root=False, daemon=False, isolation=Isolation.NAMESPACES, images=("oci", "directory")),
    "lxc": _row(root=True, daemon=False, isolation=Isolation.NAMESPACES, images=("directory",)),
    "systemd-nspawn": _row(
        root=True, daemon=False, isolation=Isolation.NAMESPACES, images=("directory", "disk")
    ),
    "bubblewrap": _row(root=False, daemon=False, isolation=Isolation.NAMESPACES, images=("directory",)),
    "charliecloud": _row(root=False, daemon=False, isolation=Isolation.FILES, images=_HPC_IMAGES),
    "enroot": _row(root=False, daemon=False, isolation=Isolation.FILES, images=_HPC_IMAGES),
    "apptainer": _row(root=False, daemon=False, isolation=Isolation.NAMESPACES, images=_SINGULARITY_IMAGES),
    "singularity": _row(
        root=True, daemon=False, isolation=Isolation.NAMESPACES, images=_SINGULARITY_IMAGES, gpu=False
    ),
    "sarus": _row(root=True, daemon=False, isolation=Isolation.FILES, images=("oci", "squashfs")),
    "udocker": _row(root=False, daemon=False, isolation=Isolation.FILES, images=("oci",)),
    "openvz": _row(
        root=True,
        daemon=None,
        isolation=Isolation.NAMESPACES,
        images=("directory",),
        live_migration=True,
        gpu=False,
    ),
    "vserver": _row(
        root=True, daemon=False, isolation=Isolation.NAMESPACES, images=("directory",), gpu=False
    ),
    "custom": _DEPENDS,
    "ssh": _DEPENDS,
    "crun": _row(root=True, daemon=False, isolation=Isolation.NAMESPACES, images=("oci", "directory")),
    "gvisor": _row(
        root=True,
        daemon=False,
        isolation=Isolation.SANDBOX,
        images=("oci", "directory"),
        own_kernel=True,
        gpu=False,
    ),
    "qemu": _machine(daemon=False),
    "libvirt": _machine(daemon=True),
    "xen": _machine(daemon=True),
    "vmware": _machine(daemon=True),
    "virtualbox": _machine(daemon=False),
    "fake": _row(root=False, daemon=False, isolation=Isolation.NONE),
}
"""Technology \N{RIGHTWARDS ARROW} what it is like."""
_OWN_KERNELS: Mapping[str, Isolation] = {"runsc": Isolation.SANDBOX, "kata": Isolation.MACHINE}
"""How the names of Docker's runtimes begin that have a kernel of their own, by their makers' instructions."""


def suitability_of(environment: Environment) -> Suitability:
    """Of a technology with its options: ssh has what is below it; of a Docker runtime of another name nobody knows."""
    below = environment.options.get("below")
    if environment.technology == "ssh" and below in SUITABILITY:
        return SUITABILITY[str(below)]
    runtime = str(environment.options.get("runtime", "runc"))
    if environment.technology == "docker" and runtime not in PLAIN_RUNTIMES:
        own = (isolation for name, isolation in _OWN_KERNELS.items() if runtime.startswith(name))
        isolation = next(own, None)
        return replace(
            SUITABILITY["docker"],
            isolation=isolation,
            own_kernel=None if isolation is None else True,
            gpu=None if isolation is None else False,
        )
    return SUITABILITY[environment.technology]
