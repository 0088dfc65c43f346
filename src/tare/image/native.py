# SPDX-License-Identifier: Apache-2.0
"""Tare's own programs: native/ compiled in the builder, to fit the image's own libraries, or a wheel's programs."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from tare.image import layout, recipe
from tare.image.debian import BUILD, ORIGIN, PROGRAMS, SOURCES, builder, cache_directory, has_builder, why_not
from tare.image.packages import Origin
from tare.image.prebuilt import prebuilt_key, prebuilt_origin, prebuilt_programs
from tare.image.recipe import OWN, Builder
from tare.image.store import remove_tree
from tare.image.tool import Progress, require_tools, run_tool

COMPILE_LIMIT_S = 900
HOST_TOOLS = {"cmake": "cmake", "ninja": "ninja-build", "g++": "g++"}
STEPS = (
    ("cmake", "-S", SOURCES, "-B", BUILD, "-GNinja", *recipe.CMAKE_OPTIONS),
    ("cmake", "--build", BUILD),
    ("cmake", "--install", BUILD, "--prefix", PROGRAMS, "--strip"),
)


def programs_key(source: Path | None) -> str:
    """The key of the programs' sources: the files of ``source``, or the files from which a wheel's were compiled."""
    return recipe.native_key(source) if source else prebuilt_key()


def native_programs(source: Path | None, progress: Progress) -> Path:
    """The folder of Tare's own programs; without ``source`` a wheel's. Call it within ``building()``."""
    return compiled(source, progress) if source else prebuilt_programs()


def compiled(source: Path, progress: Progress, wanted: Builder = OWN) -> Path:
    """The folder of the programs that ``wanted`` makes of ``source``. Call it within ``building()``.

    They are compiled again when ``source`` changed, or once there is the builder that this host's compiler replaced.
    """
    work, lacks_builder = _work(wanted), _lacks_builder()
    key = recipe.native_key(source, wanted) + (" on this host" if lacks_builder else "")
    stamp, programs = work / "key", work / "programs"
    if not stamp.is_file() or stamp.read_text() != key:
        root = None if lacks_builder else builder(progress, wanted)
        require_tools({"bwrap": "bubblewrap"} if root else HOST_TOOLS)
        progress("compiling Tare's own programs")
        stamp.unlink(missing_ok=True)
        remove_tree(programs)
        for folder in (work / "build", programs):
            folder.mkdir(parents=True, exist_ok=True)
        _take_origin(root, work)
        for step in ((*STEPS[0], *wanted.cmake), *STEPS[1:]):
            argv = _in_builder(root, source, work, step) if root else _on_host(source, work, step)
            run_tool(argv, limit_s=COMPILE_LIMIT_S, variables=_variables())
        if root is None:
            _keep_static(programs / "bin")
        stamp.write_text(key)
    return programs / "bin"


def builder_origin(source: Path | None, wanted: Builder = OWN) -> Origin | None:
    """The packages of the present programs' builder; ``None`` where this host's own compiler was used instead."""
    if source is None:
        return prebuilt_origin()
    file = _work(wanted) / ORIGIN
    document: Origin | None = json.loads(file.read_bytes()) if file.is_file() else None
    return document


def _work(wanted: Builder) -> Path:
    return cache_directory() / ("native" if wanted == OWN else f"native-{wanted.name}")


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
