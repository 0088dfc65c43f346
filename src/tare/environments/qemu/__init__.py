# SPDX-License-Identifier: Apache-2.0
"""Virtual machines by QEMU itself: with KVM or by software emulation, para-virtualized or fully virtualized.

``options`` are a campaign's settings; ``command`` makes the argv, purely; ``boot`` the guest's boot files;
``accelerator`` tries KVM; ``monitor`` and ``threads`` look at a running machine from the host, ``inside`` from within;
``provider`` is the environment.
"""

from tare.environments.qemu.provider import Qemu

__all__ = ["Qemu"]
