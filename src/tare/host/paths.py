# SPDX-License-Identifier: Apache-2.0
"""Where Tare keeps what outlives a run: images, and what is running now."""

import os
from pathlib import Path


def state_directory() -> Path:
    """``$TARE_STATE``, else ``/var/lib/tare`` for root, else below ``$XDG_STATE_HOME``; without links on the way."""
    if chosen := os.environ.get("TARE_STATE"):
        found = Path(chosen)
    elif os.geteuid() == 0:
        found = Path("/var/lib/tare")
    else:
        found = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "tare"
    return found.resolve()


def images_directory() -> Path:
    return state_directory() / "images"


def nodes_directory() -> Path:
    return state_directory() / "nodes"
