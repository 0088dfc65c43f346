# SPDX-License-Identifier: Apache-2.0
"""A folder for what cannot be removed: it is out of the way there, and ``tare clean`` tries again."""

import secrets
from contextlib import suppress
from pathlib import Path

from tare.host.paths import quarantine_directory
from tare.host.removal import remove_tree
from tare.host.trust import made


def remove(path: Path) -> None:
    """Remove what is no longer needed, or move it out of the way; ``OSError`` when neither can be done."""
    try:
        remove_tree(path)
    except OSError:
        put_away(path)


def put_away(path: Path) -> Path:
    """Move it to the quarantine, under its name or a similar one; return where. ``OSError`` when it cannot be moved."""
    place = made(quarantine_directory(), 0o700) / path.name.lstrip(".")
    if place.exists():
        place = place.with_name(f"{place.name}-{secrets.token_hex(4)}")
    path.rename(place)
    return place


def quarantined() -> list[Path]:
    """The entries of the quarantine, by name."""
    with suppress(OSError):
        return sorted(quarantine_directory().iterdir())
    return []
