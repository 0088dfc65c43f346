# SPDX-License-Identifier: Apache-2.0
"""What to type on this host to install a package, which the rest of Tare calls by its Debian name.

Names and commands are the distributions' own; os-release(5) says which distribution, or which one it is like, is here.
"""

import platform
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Distribution:
    """A family of distributions with one package tool."""

    command: str
    """What installs the packages whose names follow."""
    names: Mapping[str, str]
    """Debian's name → this one's, where it differs; empty where there is no such package."""


_DEBIAN = Distribution("apt-get install", {})
_FEDORA = Distribution(
    "dnf install",
    {
        "charliecloud-runtime": "charliecloud",
        "docker.io": "moby-engine",
        "g++": "gcc-c++",
        "iproute2": "iproute",
        "iputils-ping": "iputils",
        "libgcc-s1": "libgcc",
        "libopenmpi-dev": "openmpi-devel",
        "libstdc++6": "libstdc++",
        "libvirt-clients": "libvirt-client",
        "openssh-client": "openssh-clients",
        "qemu-utils": "qemu-img",
        "uidmap": "shadow-utils",
        "xen-system-amd64": "xen",
        "xz-utils": "xz",
    },
)
_SUSE = Distribution(
    "zypper install",
    {
        "charliecloud-runtime": "charliecloud",
        "docker.io": "docker",
        "g++": "gcc-c++",
        "iputils-ping": "iputils",
        "libgcc-s1": "libgcc_s1",
        "libopenmpi-dev": "openmpi4-devel",
        "libvirt-clients": "libvirt-client",
        "ninja-build": "ninja",
        "openssh-client": "openssh-clients",
        "qemu-system-x86": "qemu-x86",
        "qemu-utils": "qemu-tools",
        "squashfs-tools": "squashfs",
        "uidmap": "shadow",
        "xen-system-amd64": "xen",
        "xz-utils": "xz",
    },
)
_ARCH = Distribution(
    "pacman -S",
    {
        "charliecloud-runtime": "",
        "docker.io": "docker",
        "g++": "gcc",
        "iputils-ping": "iputils",
        "libgcc-s1": "gcc-libs",
        "libopenmpi-dev": "openmpi",
        "libstdc++6": "gcc-libs",
        "libvirt-clients": "libvirt",
        "libvirt-daemon": "libvirt",
        "libvirt-daemon-driver-qemu": "libvirt",
        "ninja-build": "ninja",
        "openssh-client": "openssh",
        "qemu-utils": "qemu-img",
        "systemd-container": "systemd",
        "uidmap": "shadow",
        "xen-system-amd64": "",
        "xz-utils": "xz",
    },
)
_ALPINE = Distribution(
    "apk add",
    {
        "charliecloud-runtime": "",
        "docker.io": "docker",
        "iputils-ping": "iputils",
        "libgcc-s1": "libgcc",
        "libopenmpi-dev": "openmpi-dev",
        "libstdc++6": "libstdc++",
        "libvirt-clients": "libvirt-client",
        "libvirt-daemon-driver-qemu": "libvirt-qemu",
        "qemu-system-x86": "qemu-system-x86_64",
        "qemu-utils": "qemu-img",
        "systemd-container": "",
        "uidmap": "shadow-subids",
        "xen-system-amd64": "xen",
        "xz-utils": "xz",
    },
)
_BY_ID = {
    "debian": _DEBIAN,
    "ubuntu": _DEBIAN,
    "fedora": _FEDORA,
    "rhel": _FEDORA,
    "centos": _FEDORA,
    "suse": _SUSE,
    "opensuse": _SUSE,
    "arch": _ARCH,
    "alpine": _ALPINE,
}
"""Word of ID or ID_LIKE → family."""


def to_install(*packages: str) -> str:
    """The command that installs Debian's ``packages`` here; elsewhere than Debian with this distribution's names.

    On a distribution that is not known, or has no such package, it says whose names they are.
    """
    family = _family()
    if family is None:
        return f"install {' '.join(packages)} (Debian's names)"
    names = dict.fromkeys(family.names.get(package, package) for package in packages)
    lacking = [package for package in packages if family.names.get(package) == ""]
    command = f"{family.command} {' '.join(name for name in names if name)}" if any(names) else ""
    own = f"install {' '.join(lacking)} (Debian's names, of which this distribution has no package)"
    return " and ".join(filter(None, [command, own if lacking else ""]))


def distribution() -> str:
    """The name that this host gives its distribution; ``"Linux"`` where it gives none."""
    return _release().get("PRETTY_NAME", "Linux")


def _family() -> Distribution | None:
    release = _release()
    words = [release.get("ID", ""), *release.get("ID_LIKE", "").split()]
    return next((_BY_ID[word] for word in words if word in _BY_ID), None)


def _release() -> Mapping[str, str]:
    try:
        return platform.freedesktop_os_release()
    except OSError:
        return {}
