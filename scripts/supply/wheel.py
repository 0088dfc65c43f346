# SPDX-License-Identifier: Apache-2.0
"""`python -m scripts.supply.wheel`, in the repository: build/dist/tare-*.whl with Tare's own programs in it.

They are compiled as for an image, in the builder, and by a cross compiler of the same version for 64-bit ARM, so that
who installs the wheel needs neither builder nor compiler and gets an image of the same digest. The same sources and the
same builders give the same bytes. Python loads none of the programs, and they are data to it: hence the wheel's tag.
"""

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from scripts.supply import plain
from scripts.supply.debian_lock import cross_differences
from tare.image import layout, prebuilt, recipe
from tare.image.native import builder_origin, compiled
from tare.image.packages import Origin
from tare.image.store import building

STAGE, RESULT, NEEDED = Path("build/wheel"), Path("build/dist"), Path("build/wheel-needs")
TAKEN = ("LICENSE", "README.md", "pyproject.toml")
PROGRAMS = "src/tare/image/programs"
BUILDERS = {"x86_64": recipe.OWN, "aarch64": recipe.AARCH64}
MACHINES = {"x86_64": 62, "aarch64": 183}
"""e_machine of ELF files, elf(5)."""
LINKED = ("blas", "collective", "hpl", "libtareprof*.so", "mpiio", "mpiprobe", "npb-*", "slices-mpi")
"""Programs that run with the image's own libraries, as they ask about its BLAS or exchange messages by its MPI."""
SHOWN_DIFFERENCES = 10
MOST_BYTE = 60_000_000
"""Of what a plain installation downloads."""


def main() -> None:
    source = recipe.native_source()
    if source is None or os.uname().machine != "x86_64":
        raise SystemExit(
            "wheel: it is made in Tare's repository, on an x86-64 host with Debian's cross compiler."
        )
    made: dict[str, tuple[Path, str, Origin]] = {}
    with building():
        for architecture, builder in BUILDERS.items():
            programs = compiled(source, _say, builder)
            origin = builder_origin(source, builder)
            if origin is None:
                raise SystemExit(
                    "wheel: this host's own compiler made the programs, as this user cannot make the builder: some are "
                    "missing, and none are what an image build makes. Run as root, or with subordinate ids (subuid(5))."
                )
            static = static_programs(programs, architecture)
            _say(
                f"{architecture}: {len(static)} static programs; with the image's own libraries run {', '.join(LINKED)}"
            )
            if builder == recipe.AARCH64 and (said := cross_differences(origin)):
                _say(f"{len(said)} not as locked: {'; '.join(said[:SHOWN_DIFFERENCES])}")
            made[architecture] = programs, recipe.native_key(source, builder), origin
        stage(made)
    result = build()
    _say(sizes(result, needs()))
    print(result)


def static_programs(programs: Path, architecture: str) -> list[str]:
    """Names of the static ones; ``SystemExit`` when another than ``LINKED`` is not, or one is for another processor."""
    static = []
    for file in sorted(programs.iterdir()):
        content = file.read_bytes()[:20]
        if content[:4] != b"\x7fELF":
            continue
        if int.from_bytes(content[18:20], "little") != MACHINES[architecture]:
            raise SystemExit(f"wheel: {file} is not for {architecture}.")
        if not any(fnmatchcase(file.name, pattern) for pattern in LINKED):
            static.append(file.name)
            if loader := layout.elf_loader(file):
                raise SystemExit(f"wheel: {file} is not static: it asks for {loader}.")
    return static


def stage(made: dict[str, tuple[Path, str, Origin]]) -> None:
    """What the wheel is built from: the Python sources and the programs, and nothing else that lies around.

    ``made``: processor → the programs' folder, the key of their sources, and their builder's packages.
    """
    shutil.rmtree(STAGE, ignore_errors=True)
    shutil.copytree("src/tare", STAGE / "src/tare", ignore=shutil.ignore_patterns("__pycache__"))
    for name in TAKEN:
        shutil.copy(name, STAGE)
    for architecture, (programs, key, origin) in made.items():
        prebuilt.put(programs, architecture, key, origin, STAGE / PROGRAMS)


def build() -> Path:
    """The wheel's file; nothing is fetched, and no time is in it."""
    shutil.rmtree(RESULT, ignore_errors=True)
    options = ["--no-deps", "--no-index", "--no-build-isolation", "--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", str(RESULT), f"./{STAGE}"],
        env={**os.environ, "SOURCE_DATE_EPOCH": recipe.SOURCE_DATE_EPOCH},
        check=True,
    )
    return next(RESULT.iterdir())


def needs() -> list[Path]:
    """The wheels that a plain installation downloads beside Tare's, downloaded; empty without a network."""
    shutil.rmtree(NEEDED, ignore_errors=True)
    try:
        return plain.download(
            Path.cwd(), NEEDED, ".".join(map(str, sys.version_info[:2])), os.uname().machine
        )
    except subprocess.SubprocessError:
        return []


def sizes(wheel: Path, others: list[Path]) -> str:
    """What installing it downloads and keeps; ``SystemExit`` when that is more than ``MOST_BYTE``."""
    own, own_kept = _sizes([wheel])
    if not others:
        return f"{own} to download, {own_kept} installed; what it needs could not be downloaded, nor its size be said"
    if (size_byte := sum(file.stat().st_size for file in (wheel, *others))) > MOST_BYTE:
        raise SystemExit(
            f"wheel: a plain installation downloads {_megabyte(size_byte)}, more than {_megabyte(MOST_BYTE)}."
        )
    all_of_it, all_kept = _sizes([wheel, *others])
    return (
        f"{own} to download, {own_kept} installed; with the {len(others)} packages that it needs "
        f"{all_of_it} to download, {all_kept} installed"
    )


def _sizes(files: Iterable[Path]) -> tuple[str, str]:
    packed, unpacked = 0, 0
    for file in files:
        packed += file.stat().st_size
        with zipfile.ZipFile(file) as archive:
            unpacked += sum(entry.file_size for entry in archive.infolist())
    return _megabyte(packed), _megabyte(unpacked)


def _megabyte(size_byte: int) -> str:
    return f"{size_byte / 1e6:.1f} MB"


def _say(line: str) -> None:
    print(f"wheel: {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
