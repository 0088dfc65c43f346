# SPDX-License-Identifier: Apache-2.0
"""Nodes in machines of VMware's vCenter or ESXi, by govc (docs/vmware.md)."""

from tare.environments.vmware.provider import Vmware

__all__ = ["Vmware"]
