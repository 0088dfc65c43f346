# SPDX-License-Identifier: Apache-2.0
"""The folders in which Tare keeps what outlives a run: images, and what is running now.

Each function raises ``HostError`` when another user can change the folder or anything above it (``trust.trusted``).
"""

import os
from contextlib import suppress
from pathlib import Path

from tare.errors import HostError
from tare.host.privileges import ordinary_user
from tare.host.trust import trusted

_SYSTEM = Path("/var/lib/tare")


def state_directory() -> Path:
    """``$TARE_STATE``, else ``/var/lib/tare`` for root, else below ``$XDG_STATE_HOME``; with all links resolved.

    ``HostError`` also for an ordinary user without a home directory.
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
    """The folders searched for images, in order: an ordinary user may run the images that root has made."""
    return _own_and_roots("images")


def kernels_directory() -> Path:
    return trusted(_chosen() / "kernels")


def kernels_directories() -> list[Path]:
    """The folders searched for guests' kernels, as for images."""
    return _own_and_roots("kernels")


def _own_and_roots(name: str) -> list[Path]:
    """This user's and root's; root's is skipped where others than root can change it: ``distrusted_system`` says so."""
    folders = [trusted(_chosen() / name)]
    if ordinary_user():
        with suppress(HostError):
            folders.append(trusted(_SYSTEM / name))
    return list(dict.fromkeys(folders))


def distrusted_system() -> str | None:
    """Why an ordinary user may not run root's images, in a sentence; ``None``: they may."""
    if not ordinary_user():
        return None
    try:
        trusted(_SYSTEM / "images")
    except HostError as error:
        return f"Root's images are passed over: {error}."
    return None


def disks_directory() -> Path:
    """Images as disks for guests, each named after its digest; the disk of a removed image may be removed too."""
    return state_directory() / "disks"


def sifs_directory() -> Path:
    """Images as SIFs for Apptainer, in the same way."""
    return state_directory() / "sifs"


def sarus_directory() -> Path:
    """Images as Sarus loads them, a folder for each, in the same way."""
    return state_directory() / "sarus"


def calibrations_directory() -> Path:
    """The results of ``tare calibrate``, one file for each run."""
    return trusted(_chosen() / "calibrations")


def rescued_directory() -> Path:
    """Results whose folder was deleted or moved while they were measured."""
    return state_directory() / "rescued"


def nodes_directory() -> Path:
    """Nodes' folders; only this user can enter: a workload may leave a set-user-id program there."""
    return trusted(_chosen() / "nodes")


def quarantine_directory() -> Path:
    """Whatever cannot be removed yet, out of the way; as closed as the nodes' folder."""
    return trusted(_chosen() / "quarantine")
