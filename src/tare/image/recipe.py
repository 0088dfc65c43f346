# SPDX-License-Identifier: Apache-2.0
"""What goes into the image, and the keys that say whether a thing made before is still the thing wanted."""

import hashlib
import json
import os
from pathlib import Path

import tare
from tare.errors import ImageError
from tare.units import GIBIBYTE

SUITE = "bookworm"
PACKAGES = (
    "hpcc",
    "iproute2",
    "iputils-ping",
    "libopenblas0-serial",
    "mount",
    "netbase",
    "netpipe-openmpi",
    "netpipe-tcp",
    "openmpi-bin",
    "python3",
    "util-linux",
)
BUILDER_PACKAGES = ("cmake", "g++", "libopenmpi-dev", "ninja-build")
"""Added to PACKAGES in the second root filesystem, in which native/ is compiled against the same libraries."""
SOURCE_DATE_EPOCH = "1704067200"
"""The clock that the packages' scripts are shown, so that two builds write the same bytes."""
LAYOUT_VERSION = 3
"""Raise it when ``layout.py`` or ``rights.py`` makes another tree from the same packages."""
NEEDED_BYTE = 3 * GIBIBYTE


def base_key() -> str:
    return _key(SUITE, PACKAGES, SOURCE_DATE_EPOCH, LAYOUT_VERSION, os.uname().machine)


def builder_key() -> str:
    return _key(base_key(), BUILDER_PACKAGES)


def native_key(source: Path) -> str:
    """Of the builder and of every file in ``source``."""
    files = sorted(path for path in source.rglob("*") if path.is_file())
    contents = [
        (str(path.relative_to(source)), hashlib.sha256(path.read_bytes()).hexdigest()) for path in files
    ]
    return _key(builder_key(), contents)


def native_source() -> Path:
    """The C++ sources of this checkout; ``ImageError`` when Tare was installed without them."""
    source = Path(tare.__file__).resolve().parents[2] / "native"
    if not (source / "CMakeLists.txt").is_file():
        raise ImageError(
            f"The sources of Tare's own programs are not in {source}. Run Tare from its repository."
        )
    return source


def _key(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
