# SPDX-License-Identifier: Apache-2.0
"""Xen by xl(1): machines of Tare's own as PV, PVH or HVM domains, and domains from the user's configuration files.

Written from xl(1), xl.cfg(5), xl-disk-configuration(5) and the tool's sources, and never run on Xen: the tests drive it
through transcripts based on these (docs/xen.md).
"""

from tare.environments.xen.provider import Xen

__all__ = ["Xen"]
