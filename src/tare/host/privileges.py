# SPDX-License-Identifier: Apache-2.0
"""With what rights this session measures: figures of different ones do not belong into one result."""

import os

from tare.host.delegation import find_delegation

LABEL = "privileges"
"""Of the session's host facts."""


def privileges() -> str:
    """``"root"``, or an ordinary user's with what holds their nodes."""
    if os.geteuid() == 0:
        return "root"
    found = find_delegation()
    if found is None:
        return "an ordinary user's, without control groups"
    return f"an ordinary user's, with delegated control groups ({' '.join(sorted(found.controllers))})"
