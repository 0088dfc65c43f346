# SPDX-License-Identifier: Apache-2.0
"""Where Tare keeps what outlives a run: images, and what is running now.

Each of these raises ``HostError`` when another user can change the folder or anything on its way (``trust.trusted``).
"""

import os
from contextlib import suppress
from pathlib import Path

from tare.errors import HostError
from tare.host.privileges import ordinary_user
from tare.host.trust import trusted

_SYSTEM = Path("/var/lib/tare")


def state_directory() -> Path:
    """``$TARE_STATE``, else ``/var/lib/tare`` for root, else below ``$XDG_STATE_HOME``; without links on the way.

    ``HostError`` for an ordinary user without a home directory, too.
    """
    return trusted(_chosen())


def _chosen() -> Path:
    if chosen := os.environ.get("TARE_STATE"):
        return Path(chosen)
    return _own_state() / "tare" if ordinary_user() else _SYSTEM


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
    return trusted(_chosen() / "images")


def images_directories() -> list[Path]:
    """Where images are looked for, in order: an ordinary user may run the images that root has made."""
    return _own_and_roots("images")


def kernels_directory() -> Path:
    return trusted(_chosen() / "kernels")


def kernels_directories() -> list[Path]:
    """Where kernels for guests are looked for, as images are."""
    return _own_and_roots("kernels")


def _own_and_roots(name: str) -> list[Path]:
    """Root's is passed over where others than root can change it: ``distrusted_system`` says so."""
    folders = [trusted(_chosen() / name)]
    if ordinary_user():
        with suppress(HostError):
            folders.append(trusted(_SYSTEM / name))
    return list(dict.fromkeys(folders))


def distrusted_system() -> str | None:
    """Why an ordinary user may not run root's images, in a sentence; ``None``: no such reason."""
    if not ordinary_user():
        return None
    try:
        trusted(_SYSTEM / "images")
    except HostError as error:
        return f"Root's images are passed over: {error}."
    return None


def disks_directory() -> Path:
    """Images as disks for guests, each named after its digest; the disk of an image that is gone may go."""
    return state_directory() / "disks"


def calibrations_directory() -> Path:
    """Where ``tare calibrate`` keeps what it found, a file for each time."""
    return trusted(_chosen() / "calibrations")


def rescued_directory() -> Path:
    """Where results go whose folder was deleted or moved while they were measured."""
    return state_directory() / "rescued"


def nodes_directory() -> Path:
    """Only this user enters it: a workload may leave a program there that takes its owner's rights (set-user-id)."""
    return trusted(_chosen() / "nodes")


def quarantine_directory() -> Path:
    """What cannot be removed yet and is in nobody's way there; as closed as the nodes'."""
    return trusted(_chosen() / "quarantine")
