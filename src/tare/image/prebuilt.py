# SPDX-License-Identifier: Apache-2.0
"""The programs that a wheel brings: one archive for each processor, and beside it of what and where they were made.

The programs of one processor have much in common, so that a compressed archive of all is a tenth of their size.
"""

import hashlib
import io
import json
import os
import tarfile
from pathlib import Path
from typing import Any

from tare.errors import ImageError
from tare.image.debian import cache_directory
from tare.image.packages import Origin
from tare.image.store import remove_tree
from tare.records import SCHEMA

FOLDER = Path(__file__).parent / "programs"
"""Only in what a wheel installed; a checkout has sources."""
_ABOUT, _ARCHIVE = ".json", ".tar.xz"


def put(programs: Path, architecture: str, key: str, origin: Origin, folder: Path) -> None:
    """Write the archive of ``programs`` into a wheel's ``folder``, without times and owners, and their origin."""
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"{architecture}{_ARCHIVE}"
    with tarfile.open(archive, "w:xz", format=tarfile.USTAR_FORMAT) as made:
        for program in sorted(programs.iterdir()):
            entry = tarfile.TarInfo(program.name)
            entry.size, entry.mode = program.stat().st_size, 0o755
            with program.open("rb") as content:
                made.addfile(entry, content)
    about = {"schema": SCHEMA, "architecture": architecture, "key": key, "origin": origin}
    (folder / f"{architecture}{_ABOUT}").write_text(
        json.dumps(about | {"sha256": _sha256(archive.read_bytes())}, indent=1, sort_keys=True) + "\n"
    )


def prebuilt_programs() -> Path:
    """A folder of them, unpacked anew; ``ImageError`` when there are none for this processor, or not the wheel's.

    Call it within ``building()``.
    """
    about, file = _about(), _file(_ARCHIVE)
    content = file.read_bytes()
    if about["sha256"] != _sha256(content):
        raise ImageError(
            f"The programs in {file} are not the programs that Tare was installed with. Install it again."
        )
    target = cache_directory() / "prebuilt"
    remove_tree(target)
    target.mkdir(parents=True)
    _unpack(content, target)
    return target


def prebuilt_key() -> str:
    """The key of their sources and builder; ``ImageError`` where there are none."""
    return str(_about()["key"])


def prebuilt_origin() -> Origin | None:
    """The packages of that builder."""
    origin: Origin | None = _about()["origin"]
    return origin


def _unpack(content: bytes, target: Path) -> None:
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:xz") as archive:
            for entry in archive:
                program = archive.extractfile(entry)
                if program:
                    (target / entry.name).write_bytes(program.read())
                    (target / entry.name).chmod(entry.mode)
    except tarfile.CompressionError:
        raise ImageError(
            "This Python lacks the module lzma, with which Tare's own programs are unpacked. Use a Python that has it: "
            "every distribution's python3 does."
        ) from None


def _about() -> dict[str, Any]:
    try:
        about: dict[str, Any] = json.loads(_file(_ABOUT).read_bytes())
    except (OSError, ValueError):
        raise ImageError(_why_none()) from None
    return about


def _why_none() -> str:
    there = ", ".join(sorted(file.stem for file in FOLDER.glob(f"*{_ABOUT}")))
    if there:
        return (
            f"Tare was installed with its own programs for {there}, and this host is {os.uname().machine}. Run Tare "
            "from its repository, which compiles them."
        )
    return (
        f"Tare has neither the sources of its own programs here nor programs in {FOLDER}. Run it from its repository, "
        "or install a wheel that `make wheel` made."
    )


def _file(suffix: str) -> Path:
    return FOLDER / f"{os.uname().machine}{suffix}"


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
