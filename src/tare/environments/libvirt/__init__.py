# SPDX-License-Identifier: Apache-2.0
"""libvirt: machines of Tare's own on QEMU, and any domain that the user brings, on any connection (docs/libvirt.md)."""

from tare.environments.libvirt.provider import Libvirt

__all__ = ["Libvirt"]
