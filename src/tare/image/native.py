# SPDX-License-Identifier: Apache-2.0
"""Tare's own programs: native/ compiled in the builder, to fit the image's own libraries, or a wheel's programs."""

import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tare.errors import ImageError
from tare.image import layout, recipe
from tare.image.debian import BUILD, ORIGIN, PROGRAMS, SOURCES, builder, cache_directory, has_builder, why_not
from tare.image.packages import Origin
from tare.image.store import remove_tree
from tare.image.tool import Progress, require_tools, run_tool
from tare.records import SCHEMA

COMPILE_LIMIT_S = 900
HOST_TOOLS = {"cmake": "cmake", "ninja": "ninja-build", "g++": "g++"}
STEPS = (
    ("cmake", "-S", SOURCES, "-B", BUILD, "-GNinja", *recipe.CMAKE_OPTIONS),
    ("cmake", "--build", BUILD),
    ("cmake", "--install", BUILD, "--prefix", PROGRAMS, "--strip"),
)
FOLDER = Path(__file__).parent / "programs"
"""Only in what a wheel installed; a checkout has sources."""
_BIN, _ABOUT = "bin", "about.json"


def programs_key(source: Path | None) -> str:
    """The key of the programs' sources: the files of ``source``, or the files from which a wheel's were compiled."""
    return recipe.native_key(source) if source else prebuilt_key()


def native_programs(source: Path | None, progress: Progress) -> Path:
    """The folder of Tare's own programs; without ``source`` a wheel's. Call it within ``building()``."""
    return _compiled(source, progress) if source else prebuilt_programs()


def _compiled(source: Path, progress: Progress) -> Path:
    """Compile again when ``source`` changed, or once the builder is available that this host's compiler replaced."""
    work, lacks_builder = cache_directory() / "native", _lacks_builder()
    key = recipe.native_key(source) + (" on this host" if lacks_builder else "")
    stamp, programs = work / "key", work / "programs"
    if not stamp.is_file() or stamp.read_text() != key:
        root = None if lacks_builder else builder(progress)
        require_tools({"bwrap": "bubblewrap"} if root else HOST_TOOLS)
        progress("compiling Tare's own programs")
        stamp.unlink(missing_ok=True)
        remove_tree(programs)
        for folder in (work / "build", programs):
            folder.mkdir(parents=True, exist_ok=True)
        _take_origin(root, work)
        for step in STEPS:
            argv = _in_builder(root, source, work, step) if root else _on_host(source, work, step)
            run_tool(argv, limit_s=COMPILE_LIMIT_S, variables=_variables())
        if root is None:
            _keep_static(programs / "bin")
        stamp.write_text(key)
    return programs / "bin"


def builder_origin(source: Path | None) -> Origin | None:
    """The packages of the present programs' builder; ``None`` where this host's own compiler was used instead."""
    if source is None:
        return prebuilt_origin()
    file = cache_directory() / "native" / ORIGIN
    document: Origin | None = json.loads(file.read_bytes()) if file.is_file() else None
    return document


def _take_origin(root: Path | None, work: Path) -> None:
    """Start the build folder anew when the compiler changed, so that nothing another compiler made is linked."""
    kept = work / ORIGIN
    made_of = (root.parent / ORIGIN).read_bytes() if root else None
    if made_of != (kept.read_bytes() if kept.is_file() else None):
        remove_tree(work / "build")
        (work / "build").mkdir()
    kept.unlink(missing_ok=True)
    if made_of is not None:
        kept.write_bytes(made_of)


def _lacks_builder() -> bool:
    """Whether this user cannot have a builder here: this host's own compiler is used instead."""
    return why_not() is not None and not has_builder()


def _on_host(source: Path, work: Path, step: Sequence[str]) -> list[str]:
    places = {SOURCES: str(source), BUILD: str(work / "build-on-host"), PROGRAMS: str(work / "programs")}
    return [places.get(word, word) for word in step]


def _variables() -> dict[str, str]:
    """Variables without any compiler flags of the user's."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}


def _keep_static(programs: Path) -> None:
    """Keep only static programs: others, linked to this host's libraries, may fail with another root filesystem's."""
    for program in programs.iterdir():
        if program.suffix == ".so" or layout.elf_loader(program) is not None:
            program.unlink()


def _in_builder(root: Path, source: Path, work: Path, step: Sequence[str]) -> list[str]:
    return [
        *("bwrap", "--ro-bind", str(root), "/", "--dev", "/dev", "--proc", "/proc"),
        *("--tmpfs", "/tmp"),  # noqa: S108 - the builder's own
        *("--ro-bind", str(source), SOURCES, "--bind", str(work / "build"), BUILD),
        *("--bind", str(work / "programs"), PROGRAMS, "--unshare-all", "--die-with-parent", "--clearenv"),
        *("--setenv", "PATH", "/usr/bin:/bin", "--setenv", "LC_ALL", "C", "--"),
        *step,
    ]


def put(programs: Path, key: str, origin: Origin, folder: Path) -> None:
    """Fill a wheel's ``folder``: the programs in bin/, and about.json, which says of what and where they were made."""
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
