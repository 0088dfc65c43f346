# SPDX-License-Identifier: Apache-2.0
"""Nodes in machines of VirtualBox, by VBoxManage (docs/virtualbox.md)."""

from tare.environments.virtualbox.provider import Virtualbox

__all__ = ["Virtualbox"]
