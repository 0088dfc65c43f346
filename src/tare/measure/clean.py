# SPDX-License-Identifier: Apache-2.0
"""Removing what a killed run left: only what Tare wrote down before making it."""

import os

from tare.host.cgroups import remove_parent_if_empty
from tare.measure.leftovers import Cleaned, remove_leftovers
from tare.measure.lock import open_tools_lock, wait_for_tools


def clean_up() -> Cleaned:
    """Take leftovers away, after the tools of the killed run have ended; what stays is among what is returned.

    The host lock must be held. ``HostError`` when the state folder is not to be used.
    """
    descriptor = open_tools_lock()
    try:
        wait_for_tools(descriptor)
        cleaned = remove_leftovers()
    finally:
        os.close(descriptor)
    remove_parent_if_empty()
    return cleaned
