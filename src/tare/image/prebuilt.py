# SPDX-License-Identifier: Apache-2.0
"""Tare's own programs in a wheel: compiled by ``make wheel`` as an image build compiles them, bit for bit.

``programs/`` holds them in bin/, and about.json: the processor, the sources and the builder, and each program's
SHA-256.
"""

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

from tare.errors import ImageError
from tare.image.apt_lists import Origin
from tare.records import SCHEMA

FOLDER = Path(__file__).parent / "programs"
"""Only in what a wheel installed; a checkout has sources."""
_BIN, _ABOUT = "bin", "about.json"


def put(programs: Path, key: str, origin: Origin, folder: Path) -> None:
    """Fill ``folder`` with compiled programs, the key of their sources, and the packages of their builder."""
    shutil.copytree(programs, folder / _BIN)
    about = {"schema": SCHEMA, "architecture": os.uname().machine, "key": key, "origin": origin}
    (folder / _ABOUT).write_text(
        json.dumps(about | {"sha256": _sums(folder)}, indent=1, sort_keys=True) + "\n"
    )


def prebuilt_programs() -> Path:
    """Their folder; ``ImageError`` when they are for another processor, or differ from the wheel's."""
    about = _about()
    if about["architecture"] != os.uname().machine:
        raise ImageError(
            f"Tare was installed with programs for {about['architecture']}, and this host is {os.uname().machine}. "
            "Install its wheel for this processor, or run Tare from its repository."
        )
    if about["sha256"] != _sums(FOLDER):
        raise ImageError(
            f"The programs in {FOLDER} are not the programs that Tare was installed with. Install it again."
        )
    return FOLDER / _BIN


def prebuilt_key() -> str:
    """The key of their sources and builder; ``ImageError`` where there are none."""
    return str(_about()["key"])


def prebuilt_origin() -> Origin | None:
    """The packages of that builder."""
    origin: Origin | None = _about()["origin"]
    return origin


def _about() -> dict[str, Any]:
    try:
        about: dict[str, Any] = json.loads((FOLDER / _ABOUT).read_bytes())
    except (OSError, ValueError):
        raise ImageError(
            f"Tare has neither the sources of its own programs here nor programs in {FOLDER}. Run it from its "
            "repository, or install a wheel that `make wheel` made."
        ) from None
    return about


def _sums(folder: Path) -> dict[str, str]:
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted((folder / _BIN).iterdir())
    }
