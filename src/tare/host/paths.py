# SPDX-License-Identifier: Apache-2.0
"""Where Tare keeps what outlives a run: images, and what is running now."""

import os
from pathlib import Path

from tare.errors import HostError

_SYSTEM = Path("/var/lib/tare")


def state_directory() -> Path:
    """``$TARE_STATE``, else ``/var/lib/tare`` for root, else below ``$XDG_STATE_HOME``; without links on the way.

    ``HostError`` for an ordinary user without a home directory.
    """
    if chosen := os.environ.get("TARE_STATE"):
        found = Path(chosen)
    elif os.geteuid() == 0:
        found = _SYSTEM
    else:
        found = _own_state() / "tare"
    return found.resolve()


def _own_state() -> Path:
    if chosen := os.environ.get("XDG_STATE_HOME"):
        return Path(chosen)
    try:
        return Path.home() / ".local" / "state"
    except RuntimeError as error:
        raise HostError(
            "this user has no home directory: set HOME, or TARE_STATE to a folder of yours"
        ) from error


def images_directory() -> Path:
    return state_directory() / "images"


def images_directories() -> list[Path]:
    """Where images are looked for, the first first: an ordinary user may run those that root has made."""
    return [folder / "images" for folder in _states()]


def kernels_directory() -> Path:
    return state_directory() / "kernels"


def kernels_directories() -> list[Path]:
    """Where kernels for guests are looked for, as images are."""
    return [folder / "kernels" for folder in _states()]


def _states() -> list[Path]:
    system = [] if os.geteuid() == 0 else [_SYSTEM]
    return list(dict.fromkeys([state_directory(), *system]))


def calibrations_directory() -> Path:
    """Where ``tare calibrate`` keeps what it found, a file for each time."""
    return state_directory() / "calibrations"


def nodes_directory() -> Path:
    return state_directory() / "nodes"
