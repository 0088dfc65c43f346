# SPDX-License-Identifier: Apache-2.0
"""Code shared by environments whose nodes are machines that a hypervisor's tool starts and stops.

A technology provides a ``Machine``: what its tool does with one machine, all through argv. ``Managed`` does the rest
for machines that the user provides: it switches one on, waits until ssh(1) is answered, has the ``ssh`` environment
copy the image there and start the node inside, and switches it off again (docs/libvirt.md, docs/ssh.md). ``Either`` is
for technologies whose nodes may also be machines of Tare's own, as in ``guests``.
"""

from tare.environments.managed.either import Either
from tare.environments.managed.machine import Machine
from tare.environments.managed.options import INSIDE_OPTIONS, inside_complaints
from tare.environments.managed.provider import Managed
from tare.environments.managed.waiting import wait_for

__all__ = ["INSIDE_OPTIONS", "Either", "Machine", "Managed", "inside_complaints", "wait_for"]
