# SPDX-License-Identifier: Apache-2.0
"""Where Tare keeps what outlives a run: images, and what is running now."""

import os
from pathlib import Path


def state_directory() -> Path:
    """``$TARE_STATE``, else ``/var/lib/tare`` for root, else below ``$XDG_STATE_HOME``."""
    if chosen := os.environ.get("TARE_STATE"):
        return Path(chosen)
    if os.geteuid() == 0:
        return Path("/var/lib/tare")
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "tare"


def images_directory() -> Path:
    return state_directory() / "images"


def nodes_directory() -> Path:
    return state_directory() / "nodes"
