# SPDX-License-Identifier: Apache-2.0
"""The image ``host``, made of this host's own files in seconds, without a network or a distribution's tool.

Its C library is this host's, so that a program built here runs in it. A program that needs more of this host gets an
image of its own, so that an image which earlier results name does not change for a later one's sake.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from tare.errors import HostError, ImageError
from tare.host.distribution import distribution
from tare.host.paths import images_directory
from tare.host.privileges import ordinary_user
from tare.image import layout, recipe, unprivileged
from tare.image.build import facts, refuse_imported
from tare.image.config import ImageConfig
from tare.image.debian import staging
from tare.image.elf import Files, needed_libraries
from tare.image.host_files import PATH, HostTree, interpreters, is_open, is_unchanged
from tare.image.native import native_programs, programs_key
from tare.image.store import HOST_NAME, PROGRAMS, Image, building, find_image, install
from tare.image.tool import Progress, require_space
from tare.units import GIBIBYTE

KIND = "host"
"""Of the source, in a manifest."""
_MADE_OF = "made-of.json"
_NEEDED_BYTE = GIBIBYTE
_LIBRARY_VERSIONS = {
    "libc.so.6": re.compile(rb"\0(GLIBC_[0-9.]+)(?=\0)"),
    "libstdc++.so.6": re.compile(rb"\0(GLIBCXX_[0-9.]+)(?=\0)"),
}
"""Library → the names of its interface's versions, as they stand in it and in the programs that need them."""
_MOST_READ_BYTE = 64 << 20


def build_host_image(
    name: str, progress: Progress, *, program: str | None = None, is_bound: bool = False
) -> Image:
    """Make the image ``name``; with ``program``, a path on this host, also of that and of what it needs.

    A program that ``is_bound`` is not copied itself. ``HostError`` when the host lacks the space, or the program is not
    one that every user may read.
    """
    if program is not None and not is_bound and not is_open(Path(program)):
        raise HostError(
            f"{program} cannot become part of an image: it, or a folder above it, is not open to all users of this "
            "host. Open it (chmod), or show its folder to the command: --bind DIR."
        )
    refuse_imported(name)
    require_space(images_directory(), _NEEDED_BYTE)
    with building():
        programs = native_programs(recipe.native_source(), progress)
        progress(f"copying a shell, the usual tools and their libraries from this host ({distribution()})")
        with staging(images_directory()) as staged:
            tree = HostTree(_made(staged / "rootfs"))
            tree.fill()
            if program is not None:
                tree.put_program(program, _library_path(), itself=not is_bound)
            _finish(tree, programs)
            (staged / _MADE_OF).write_text(json.dumps(tree.made_of, indent=0, sort_keys=True))
            source = {"kind": KIND, "path": distribution(), **({"program": program} if program else {})}
            keys = {"native": programs_key(recipe.native_source())}
            made = facts(tree.root, source, keys) | _config(program).facts()
            return install(staged, name, made, progress)


def host_image(progress: Progress, program: str | None = None, bound: Sequence[Path] = ()) -> Image:
    """The image of this host's files as they are now, in which ``program`` finds what it needs; made if there is none.

    ``bound``: directories that nodes see at the same path.
    """
    image = _current(HOST_NAME) or build_host_image(HOST_NAME, progress)
    if program is None or not missing(image, program, bound):
        return image
    is_bound = any(Path(program).is_relative_to(folder) for folder in bound)
    name = _name_for(program, is_bound=is_bound)
    return _current(name) or build_host_image(name, progress, program=program, is_bound=is_bound)


def missing(image: Image, program: str, bound: Sequence[Path] = ()) -> list[str]:
    """What a program of this host would not find in the image: its libraries, their versions, a script's interpreter.

    Empty also for a program that is no ELF file or script. Its own path counts, unless it is in ``bound``.
    """
    files = Files(image.root, tuple(bound))
    if files.real(program) is None:
        return [program]
    below = [
        name
        for interpreter in interpreters(program)
        for name in ([interpreter] if files.real(interpreter) is None else [])
    ]
    libraries = needed_libraries(program, files)
    absent = [name for name, place in libraries.items() if place is None]
    return below + (absent or [*_missing_versions(program, libraries, files)])


def path_of(word: str) -> str | None:
    """The path on this host of a command's first word, as a shell would find it; ``None`` where there is none."""
    whole = shutil.which(word)
    return None if whole is None else os.path.abspath(whole)  # noqa: PTH100 - links stay


def has_command(image: Image, word: str) -> bool:
    """Whether the image has a program of that name where commands are looked for."""
    files = Files(image.root)
    return any(files.real(f"{folder}/{word}") is not None for folder in PATH.split(":"))


def _missing_versions(program: str, libraries: dict[str, str | None], files: Files) -> Iterator[str]:
    """A program built on a newer host than the image's asks for versions that the image's C library does not have."""
    with files.opened(program) as opened:
        asked = b"" if opened is None else opened.read(_MOST_READ_BYTE)
    for library, versions in _LIBRARY_VERSIONS.items():
        place = libraries.get(library)
        wanted = set(versions.findall(asked))
        if place is None or not wanted:
            continue
        with files.opened(place) as opened:
            offered = set() if opened is None else set(versions.findall(opened.read(_MOST_READ_BYTE)))
        if lacking := sorted(wanted - offered):
            yield f"{library} with {lacking[-1].decode()}"


def _current(name: str) -> Image | None:
    """The image if it still is what this host would give."""
    try:
        image = find_image(name)
        made_of = json.loads((image.root.parent / _MADE_OF).read_bytes())
    except (ImageError, OSError, ValueError):
        return None
    keys = {"native": programs_key(recipe.native_source())}
    same = image.manifest.get("keys") == keys and image.manifest.get("programs") == PROGRAMS
    return image if same and isinstance(made_of, dict) and is_unchanged(made_of) else None


def _finish(tree: HostTree, programs: Path) -> None:
    if ordinary_user():
        unprivileged.make_own(tree.root)
    layout.add_mount_points(tree.root)
    for name, text in layout.WRITTEN.items():
        (tree.root / name).write_text(text)
        (tree.root / name).chmod(0o644)
    layout.add_tools(tree.root, programs)


def _made(root: Path) -> Path:
    root.mkdir()
    root.chmod(0o755)
    return root


def _library_path() -> list[str]:
    return [folder for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder.startswith("/")]


def _config(program: str | None) -> ImageConfig:
    """A program outside the usual folders is found by its name all the same."""
    folder = str(PurePosixPath(program).parent) if program else ""
    if not folder or folder in PATH.split(":"):
        return ImageConfig()
    return ImageConfig(variables={"PATH": f"{folder}:{PATH}"})


def _name_for(program: str, *, is_bound: bool) -> str:
    digest = hashlib.sha256(f"{program} {is_bound}".encode()).hexdigest()[:8]
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", PurePosixPath(program).name).strip("-._")
    return f"{HOST_NAME}-{plain[:40] or 'program'}-{digest}"
