# SPDX-License-Identifier: Apache-2.0
"""Which MPI an image holds, read from its files alone, and why a launcher could not start a program of it.

An mpirun starts the processes of its own MPI only: those of another do not find each other, and each believes to be
the only one. Sources: the libraries' sonames. Open MPI has libmpi.so.40 in 3 to 5, .20 in 2; MPICH, and whoever keeps
its ABI (mpich.org/abi: Intel MPI, MVAPICH), has libmpi.so.12, which Debian calls libmpich.so.12.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from tare.foreign import one_line
from tare.image.elf import Files, needed_libraries
from tare.nodes.provider import TOOLS_DIRECTORY

_PROBE = f"{TOOLS_DIRECTORY}/mpiprobe"
"""Tare's probe of a launch, linked to Open MPI and the C library of the image that `tare image build` makes."""
_LIBC = "libc.so.6"
_MOST_BYTE = 64 << 20
"""Of a file that is searched for words."""
_LIBRARY = re.compile(r"lib(?:mpi|mpich)\.so\.(\d{1,3})")
_MPICH_ABI = 12
_LAUNCHERS = re.compile(rb"(libopen-rte)|(prterun|libprrte)|([Hh]ydra|HYDRA)")
"""Words in an mpirun: of Open MPI to 4, of Open MPI from 5 on, of MPICH and its kin."""
_KNOWN_LAUNCHER = "Open MPI 4"
_GLIBC = re.compile(rb"GLIBC_(\d{1,2})\.(\d{1,3})\0")
_INSTEAD = (
    'add --launcher image (a campaign: launcher = "image"), and the image\'s own mpirun starts it in one node'
)


class Mpi(StrEnum):
    """A family whose launchers and libraries understand each other."""

    OPEN_MPI = "Open MPI"
    MPICH = "MPICH"


class _Launcher(NamedTuple):
    family: Mpi
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How a program is to be started."""

    program: str
    """A name, or an absolute path."""
    variables: Mapping[str, str]
    """Those of the command: its ``PATH`` and ``LD_LIBRARY_PATH`` count."""
    by_image: bool
    """By the image's mpirun as it comes; else by it as Open MPI's, with Tare's arguments."""


def obstacle(files: Files, launch: Launch) -> str | None:
    """Why the launch cannot work with these files, and what to do instead; ``None``: nothing is known against it."""
    place = _on_path("mpirun", files, launch)
    if place is None:
        return "the image has no mpirun on its PATH: install its MPI's launcher in it (Debian: openmpi-bin or mpich)"
    launcher, program = _launcher(place, files), _linked(files, launch)
    if launcher and program and launcher.family is not program:
        return (
            f"{one_line(launch.program)} is linked to {program}, and the image's mpirun is {launcher.name}'s, so each "
            f"process would believe to be the only one: put {program}'s mpirun first on the image's PATH"
        )
    if launch.by_image:
        return None
    if launcher and launcher.name != _KNOWN_LAUNCHER:
        return (
            f"Tare starts MPI programs as {_KNOWN_LAUNCHER} does, and the image's mpirun ({one_line(place)}) is "
            f"{launcher.name}'s: {_INSTEAD}"
        )
    lack = _lack_of_probe(files, launch)
    return None if lack is None else f"Tare's probe of the launch needs {lack}: {_INSTEAD}"


def _lack_of_probe(files: Files, launch: Launch) -> str | None:
    """What the image lacks for Tare's probe, which comes before the program."""
    libraries = needed_libraries(_PROBE, files, _folders("LD_LIBRARY_PATH", launch))
    if missing := [name for name, place in libraries.items() if place is None]:
        return f"{', '.join(missing)}, which the image lacks"
    libc = libraries.get(_LIBC)
    wanted, there = _glibc(_PROBE, files), None if libc is None else _glibc(libc, files)
    if wanted is None or there is None or there >= wanted:
        return None
    return f"glibc {_dotted(wanted)}, and the image has {_dotted(there)}"


def _launcher(place: str, files: Files) -> _Launcher | None:
    match = _LAUNCHERS.search(_content(place, files))
    if match is None:
        return None
    if match[3]:
        return _Launcher(Mpi.MPICH, Mpi.MPICH)
    return _Launcher(Mpi.OPEN_MPI, _KNOWN_LAUNCHER if match[1] else "Open MPI 5")


def _linked(files: Files, launch: Launch) -> Mpi | None:
    """The MPI of a program; ``None`` if it names none, as a script or an interpreter, or is not there."""
    place = _on_path(launch.program, files, launch)
    libraries = () if place is None else needed_libraries(place, files, _folders("LD_LIBRARY_PATH", launch))
    match = next(filter(None, map(_LIBRARY.fullmatch, libraries)), None)
    if match is None:
        return None
    return Mpi.MPICH if int(match[1]) == _MPICH_ABI else Mpi.OPEN_MPI


def _on_path(name: str, files: Files, launch: Launch) -> str | None:
    """Where the launch finds it, links followed."""
    places = [name] if "/" in name else [f"{folder}/{name}" for folder in _folders("PATH", launch)]
    return next((real for place in places if (real := files.real(place)) and _is_file(real, files)), None)


def _folders(variable: str, launch: Launch) -> list[str]:
    return [folder for folder in launch.variables.get(variable, "").split(":") if folder.startswith("/")]


def _is_file(place: str, files: Files) -> bool:
    with files.opened(place) as opened:
        return opened is not None


def _content(place: str, files: Files) -> bytes:
    with files.opened(place) as opened:
        return b"" if opened is None else opened.read(_MOST_BYTE)


def _glibc(place: str, files: Files) -> tuple[int, int] | None:
    """The newest version of the GNU C library that a program needs, or that the library itself knows."""
    versions = _GLIBC.findall(_content(place, files))
    return max(((int(major), int(minor)) for major, minor in versions), default=None)


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))
