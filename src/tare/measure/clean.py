# SPDX-License-Identifier: Apache-2.0
"""Removal of what a killed run left: only things that Tare recorded before making them."""

import os

from tare.host.cgroups import remove_parent_if_empty
from tare.measure.leftovers import Cleaned, remove_leftovers
from tare.measure.lock import open_tools_lock, wait_for_tools


def clean_up() -> Cleaned:
    """Remove leftovers, after the tools of the killed run have ended; the result includes what stays.

    The host lock must be held. ``HostError`` if the state folder must not be used.
    """
    descriptor = open_tools_lock()
    try:
        wait_for_tools(descriptor)
        cleaned = remove_leftovers()
    finally:
        os.close(descriptor)
    remove_parent_if_empty()
    return cleaned
