# SPDX-License-Identifier: Apache-2.0
"""What cannot be removed is moved to where it is in nobody's way; ``tare clean`` tries it again."""

import secrets
from contextlib import suppress
from pathlib import Path

from tare.host.paths import quarantine_directory
from tare.host.removal import remove_tree
from tare.host.trust import made


def remove(path: Path) -> None:
    """Remove what is of use no more, or have it out of the way; ``OSError`` when neither can be done."""
    try:
        remove_tree(path)
    except OSError:
        put_away(path)


def put_away(path: Path) -> Path:
    """Move it to the quarantine, under its name or one like it; returns where. ``OSError`` when it cannot be moved."""
    place = made(quarantine_directory(), 0o700) / path.name.lstrip(".")
    if place.exists():
        place = place.with_name(f"{place.name}-{secrets.token_hex(4)}")
    path.rename(place)
    return place


def quarantined() -> list[Path]:
    """What lies there, by name."""
    with suppress(OSError):
        return sorted(quarantine_directory().iterdir())
    return []
