# SPDX-License-Identifier: Apache-2.0
"""Removing what a killed run left: only what Tare wrote down before making it."""

import os

from tare.host.cgroups import remove_parent_if_empty
from tare.measure.lock import open_tools_lock, wait_for_tools
from tare.measure.node_life import remove_leftovers


def clean_up() -> list[str]:
    """Take leftovers away, after the tools of the killed run have ended; returns the nodes' names.

    The host lock must be held. ``HostError`` names what would not go.
    """
    descriptor = open_tools_lock()
    try:
        wait_for_tools(descriptor)
        removed = remove_leftovers()
    finally:
        os.close(descriptor)
    if os.geteuid() == 0:
        remove_parent_if_empty()
    return removed
