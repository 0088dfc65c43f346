# SPDX-License-Identifier: Apache-2.0
"""Compiles native/ in the builder, so that the programs fit the image's own libraries."""

from collections.abc import Sequence
from pathlib import Path

from tare.image import recipe
from tare.image.debian import BUILD, PROGRAMS, SOURCES, builder, cache_directory
from tare.image.store import remove_tree
from tare.image.tool import Progress, require_tools, run_tool

COMPILE_LIMIT_S = 900
STEPS = (
    ("cmake", "-S", SOURCES, "-B", BUILD, "-GNinja", "-DCMAKE_BUILD_TYPE=Release", "-DTARE_TESTS=OFF"),
    ("cmake", "--build", BUILD),
    ("cmake", "--install", BUILD, "--prefix", PROGRAMS, "--strip"),
)


def native_programs(source: Path, progress: Progress) -> Path:
    """The folder of Tare's own programs, compiled anew when ``source`` changed; call it within ``building()``."""
    work, key = cache_directory() / "native", recipe.native_key(source)
    stamp, programs = work / "key", work / "programs"
    if not stamp.is_file() or stamp.read_text() != key:
        root = builder(progress)
        require_tools({"bwrap": "bubblewrap"})
        progress("compiling Tare's own programs")
        stamp.unlink(missing_ok=True)
        remove_tree(programs)
        for folder in (work / "build", programs):
            folder.mkdir(parents=True, exist_ok=True)
        for step in STEPS:
            run_tool(_in_builder(root, source, work, step), limit_s=COMPILE_LIMIT_S)
        stamp.write_text(key)
    return programs / "bin"


def _in_builder(root: Path, source: Path, work: Path, step: Sequence[str]) -> list[str]:
    return [
        *("bwrap", "--ro-bind", str(root), "/", "--dev", "/dev", "--proc", "/proc"),
        *("--tmpfs", "/tmp"),  # noqa: S108 - the builder's own
        *("--ro-bind", str(source), SOURCES, "--bind", str(work / "build"), BUILD),
        *("--bind", str(work / "programs"), PROGRAMS, "--unshare-all", "--die-with-parent", "--clearenv"),
        *("--setenv", "PATH", "/usr/sbin:/usr/bin", "--setenv", "LC_ALL", "C", "--"),
        *step,
    ]
