# SPDX-License-Identifier: Apache-2.0
"""Which libraries a program of the host or of an image is linked with, by its ELF file; nothing of it is run.

Found as ld.so(8) does, but for its cache, whose directories are read from ld.so.conf instead, and for builds for newer
processors in ``glibc-hwcaps``. What a program opens itself by dlopen(3) is in no file to be read.
"""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from tare.nodes.files import opened_inside

if TYPE_CHECKING:
    from elftools.elf.elffile import ELFFile

Read = TypeVar("Read")
_MOST_LINKS = 40
"""As path_resolution(7)."""
_MOST_LIBRARIES = 2000
_MOST_COMMENT_BYTE = 64 << 10
_LOADER_FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib")
_CONFIGURATIONS = ("/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc")
_TEXTS = {"DT_NEEDED": "needed", "DT_RPATH": "rpath", "DT_RUNPATH": "runpath"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """What an ELF file states about how it was built and what it is loaded with."""

    machine: str
    """Architecture and word size, which its libraries share."""
    interpreter: str | None
    """Path of its loader; ``None`` for libraries and static programs."""
    needed: tuple[str, ...]
    searched: tuple[str, ...]
    """DT_RPATH and DT_RUNPATH, as written."""
    compilers: tuple[str, ...]
    """As the compilers wrote them; empty where the section was stripped."""


@dataclass(frozen=True, slots=True)
class Files:
    """The files below ``root``, but for the host's own directories that are bound into it at the same path."""

    root: Path
    bound: tuple[Path, ...] = ()

    def real(self, path: str) -> str | None:
        """The path with all links resolved inside; ``None`` if it leads nowhere or in a circle."""
        left, done, links = list(reversed(PurePosixPath(path).parts[1:])), "", 0
        while left:
            part = left.pop()
            if part == "..":
                done = done.rpartition("/")[0]
                continue
            here = f"{done}/{part}"
            if any(folder.is_relative_to(here) for folder in self.bound):
                done = here
                continue
            try:
                if not stat.S_ISLNK(self._outside(here).lstat().st_mode):
                    done = here
                    continue
                target = os.readlink(self._outside(here))  # noqa: PTH115 - as text, with its slashes
            except OSError:
                return None
            links += 1
            if links > _MOST_LINKS:
                return None
            done = "" if target.startswith("/") else done
            left += reversed([name for name in target.split("/") if name not in {"", "."}])
        return done or "/"

    def _outside(self, path: str) -> Path:
        """Where this host has what is at ``path`` inside."""
        if any(path == str(folder) or path.startswith(f"{folder}/") for folder in self.bound):
            return Path(path)
        return self.root / path.lstrip("/")

    @contextmanager
    def opened(self, path: str) -> Iterator[BinaryIO | None]:
        """The regular file at ``path`` inside; ``None`` if there is none."""
        real = self.real(path)
        if real is None:
            yield None
            return
        outside = self._outside(real)
        with opened_inside(outside.parent, outside.name) as opened:
            yield opened

    def linked(self, path: str) -> Linked | None:
        """What the file at ``path`` states; ``None`` if it is no ELF file."""
        with self.opened(path) as opened:
            return None if opened is None else read_linked(opened)

    def names(self, folder: str) -> list[str]:
        """Names of what is in it, sorted; empty if it is no directory."""
        real = self.real(folder)
        try:
            return [] if real is None else sorted(os.listdir(self._outside(real)))  # noqa: PTH208 - names are wanted
        except OSError:
            return []


def read_linked(opened: BinaryIO) -> Linked | None:
    """``None`` for what is no ELF file, or a damaged one."""
    return read_elf(opened, _linked)


def read_elf(opened: BinaryIO, read: Callable[["ELFFile"], Read]) -> Read | None:
    """What ``read`` makes of the file; ``None`` for what is no ELF file, or a damaged one."""
    from elftools.common.exceptions import ELFError  # noqa: PLC0415 - few commands read programs
    from elftools.construct import ConstructError  # noqa: PLC0415
    from elftools.elf.elffile import ELFFile  # noqa: PLC0415

    wrong = (
        ELFError,
        ConstructError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        OverflowError,
        OSError,
    )
    try:
        return read(ELFFile(opened))
    except (*wrong, AssertionError, MemoryError, RecursionError):
        return None


def _linked(elf: "ELFFile") -> Linked:
    from elftools.elf.dynamic import DynamicSegment  # noqa: PLC0415 - see ``read_elf``
    from elftools.elf.segments import InterpSegment  # noqa: PLC0415

    interpreter, needed, searched = None, [], []
    for segment in elf.iter_segments():
        if isinstance(segment, InterpSegment):
            interpreter = segment.get_interp_name()
        elif isinstance(segment, DynamicSegment):
            for tag in segment.iter_tags():
                name = tag.entry.d_tag
                if (attribute := _TEXTS.get(name)) is None:
                    continue
                text = str(getattr(tag, attribute))
                if name == "DT_NEEDED":
                    needed.append(text)
                else:
                    searched += text.split(":")
    return Linked(
        machine=f"{elf.header.e_machine} {elf.elfclass}",
        interpreter=interpreter,
        needed=tuple(needed[:_MOST_LIBRARIES]),
        searched=tuple(folder for folder in searched if folder),
        compilers=_compilers(elf),
    )


def _compilers(elf: "ELFFile") -> tuple[str, ...]:
    section = elf.get_section_by_name(".comment")
    if section is None or section.header.sh_size > _MOST_COMMENT_BYTE:
        return ()
    texts = section.data().decode("utf-8", "replace").split("\0")
    return tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))


def needed_libraries(program: str, files: Files, library_path: Sequence[str] = ()) -> dict[str, str | None]:
    """Each library that the program is loaded with, by its name: its real path inside, ``None`` where there is none.

    ``library_path``: the directories of LD_LIBRARY_PATH. The loader itself is included, by its own name.
    """
    own = files.linked(program)
    if own is None:
        return {}
    libraries: dict[str, str | None] = {}
    usual = [*_usual_folders(files), *_loaders_folder(own, files)]
    waiting = [(own, files.real(program) or program)]
    while waiting and len(libraries) < _MOST_LIBRARIES:
        linked, path = waiting.pop(0)
        folders = [*_own_folders(linked, path), *library_path, *usual]
        for name in linked.needed:
            if name in libraries:
                continue
            library = _library(name, folders, files, own.machine)
            libraries[name] = None if library is None else library[1]
            waiting += [] if library is None else [library]
    if own.interpreter is not None:
        libraries.setdefault(PurePosixPath(own.interpreter).name, files.real(own.interpreter))
    return libraries


def _loaders_folder(own: Linked, files: Files) -> list[str]:
    """Where the loader itself is: a distribution builds it to look there, whatever the files say."""
    loader = None if own.interpreter is None else files.real(own.interpreter)
    return [] if loader is None else [str(PurePosixPath(loader).parent)]


def _own_folders(linked: Linked, path: str) -> list[str]:
    origin = str(PurePosixPath(path).parent)
    return [folder.replace("${ORIGIN}", origin).replace("$ORIGIN", origin) for folder in linked.searched]


def _library(name: str, folders: Sequence[str], files: Files, machine: str) -> tuple[Linked, str] | None:
    """What the first that fits states, and its real path inside."""
    candidates = [name] if name.startswith("/") else [f"{folder}/{name}" for folder in folders]
    for candidate in candidates:
        real = files.real(candidate) if candidate.startswith("/") else None
        if real is not None and (linked := files.linked(real)) is not None and linked.machine == machine:
            return linked, real
    return None


def _usual_folders(files: Files) -> list[str]:
    """The directories in ld.so.conf and its fragments, those of musl's loader, and the loaders' own."""
    folders: dict[str, None] = {}
    for place in _CONFIGURATIONS:
        names = (
            [place]
            if place.endswith(".conf")
            else [
                f"{place}/{name}"
                for name in files.names(place)
                if (name.endswith(".conf") and place != "/etc")
                or (name.startswith("ld-musl-") and name.endswith(".path"))
            ]
        )
        for name in names:
            folders |= dict.fromkeys(_listed(name, files))
    return [*folders, *(folder for folder in _LOADER_FOLDERS if folder not in folders)]


def _listed(configuration: str, files: Files) -> list[str]:
    with files.opened(configuration) as opened:
        text = "" if opened is None else opened.read(_MOST_COMMENT_BYTE).decode(errors="replace")
    words = [word for line in text.splitlines() for word in line.partition("#")[0].replace(":", "\n").split()]
    return [word for word in words if word.startswith("/") and "*" not in word]
