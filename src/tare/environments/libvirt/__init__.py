# SPDX-License-Identifier: Apache-2.0
"""libvirt: Tare's own machines on QEMU, and any domain that the user provides, on any connection (docs/libvirt.md)."""

from tare.environments.libvirt.provider import Libvirt

__all__ = ["Libvirt"]
