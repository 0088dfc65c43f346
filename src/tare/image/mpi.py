# SPDX-License-Identifier: Apache-2.0
"""Which MPI an image holds, read from its files alone, and why a launcher could not start a program of it.

An mpirun starts the processes of its own MPI only: those of another do not find each other, and each believes to be
the only one. Sources: the libraries' sonames. Open MPI has libmpi.so.40 in 3.1 to 5, .20 in 2; MPICH, and whoever keeps
its ABI (mpich.org/abi: Intel MPI, MVAPICH), has libmpi.so.12, which Debian calls libmpich.so.12.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath

from tare.foreign import one_line
from tare.nodes.files import opened_inside

PROBE = "opt/tare/bin/mpiprobe"
"""Tare's probe of a launch, linked to Open MPI and the C library of the image that `tare image build` makes."""
_MOST_BYTE = 64 << 20
"""Of a file that is searched."""
_MPICH_ABI = 12
_MOST_LINKS = 40
"""As the kernel follows (path_resolution(7))."""
_LIBRARY = re.compile(rb"lib(?:mpi|mpich)\.so\.(\d{1,3})\0")
_LAUNCHERS = re.compile(rb"(libopen-(?:rte|pal)|prterun|libprrte)|(hydra|HYDRA)")
_GLIBC = re.compile(rb"GLIBC_(\d{1,2})\.(\d{1,3})\0")
_LIBC_FOLDERS = ("lib/{}-linux-gnu", "usr/lib/{}-linux-gnu", "lib64", "usr/lib64", "lib", "usr/lib")


class Mpi(StrEnum):
    """A family whose launchers and libraries understand each other."""

    OPEN_MPI = "Open MPI"
    MPICH = "MPICH"


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How a program is to be started; paths are inside the image."""

    program: str
    host_file: Path | None
    """The program itself, if it is no file of the image but one of this host, shown to it."""
    variables: Mapping[str, str]
    """Those of the command; only its ``PATH`` counts."""
    by_image: bool
    """By the image's mpirun as it comes; else by it as Open MPI's, with Tare's arguments."""


def obstacle(root: Path, launch: Launch) -> str | None:
    """Why the launch cannot work in the image at ``root``, and what to do instead; ``None``: nothing is known."""
    place = _on_path(root, "mpirun", launch.variables)
    if place is None:
        return "the image has no mpirun on its PATH: install its MPI's launcher in it (Debian: openmpi-bin or mpich)"
    launcher, program = _launcher(root, place), _linked(root, launch)
    if launcher and program and launcher is not program:
        return (
            f"{one_line(launch.program)} is linked to {program}, and the image's mpirun is {launcher}'s, so each "
            f"process would believe to be the only one: put {program}'s mpirun first on the image's PATH"
        )
    return None if launch.by_image else _not_by_tare(root, launcher, place)


def _not_by_tare(root: Path, launcher: Mpi | None, place: str) -> str | None:
    instead = 'add --launcher image (a campaign: launcher = "image"), and the image\'s own mpirun starts it in one node'
    if launcher is Mpi.MPICH:
        where = one_line(place)
        return f"Tare starts MPI programs as Open MPI does, and the image's mpirun ({where}) is MPICH's: {instead}"
    least, there = _glibc(root, PROBE), _libc(root)
    if least is not None and (there is None or there < least):
        has = "has none" if there is None else f"has {_dotted(there)}"
        return f"Tare's probe of the launch needs glibc {_dotted(least)}, and the image {has}: {instead}"
    return None


def _launcher(root: Path, place: str) -> Mpi | None:
    match = _LAUNCHERS.search(_content(root, place))
    return None if match is None else Mpi.OPEN_MPI if match[1] else Mpi.MPICH


def _linked(root: Path, launch: Launch) -> Mpi | None:
    """The MPI of a program; ``None`` if it names none, as a script or an interpreter, or is not in the image."""
    match = _LIBRARY.search(_program(root, launch))
    if match is None:
        return None
    return Mpi.MPICH if int(match[1]) == _MPICH_ABI else Mpi.OPEN_MPI


def _program(root: Path, launch: Launch) -> bytes:
    if launch.host_file is not None:
        return _content(launch.host_file.parent, launch.host_file.name)
    return _content(root, _on_path(root, launch.program, launch.variables))


def _libc(root: Path) -> tuple[int, int] | None:
    folders = (folder.format(os.uname().machine) for folder in _LIBC_FOLDERS)
    versions = (_glibc(root, f"{folder}/libc.so.6") for folder in folders)
    return next(filter(None, versions), None)


def _glibc(root: Path, place: str) -> tuple[int, int] | None:
    """The newest version of the GNU C library that a program needs, or that the library itself knows."""
    versions = _GLIBC.findall(_content(root, place))
    return max(((int(major), int(minor)) for major, minor in versions), default=None)


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


def _on_path(root: Path, name: str, variables: Mapping[str, str]) -> str | None:
    """Where a node runs ``name`` from, links followed; ``None`` if it is not in the image."""
    folders = [""] if "/" in name else variables.get("PATH", "").split(":")
    places = (_resolved(root, f"{folder}/{name}") for folder in folders)
    return next((place for place in places if place is not None and (root / place).is_file()), None)


def _content(root: Path, place: str | None) -> bytes:
    """The file, links followed as in a node; empty if there is none, or this user may not read it."""
    target = None if place is None else _resolved(root, place)
    if target is None:
        return b""
    with opened_inside(root, target) as opened:
        return b"" if opened is None else opened.read(_MOST_BYTE)


def _resolved(root: Path, place: str) -> str | None:
    """The path below ``root`` without links, which lead nowhere else, as after chroot(2); ``None`` for a loop."""
    pending, links = list(PurePosixPath(place).parts), 0
    path = PurePosixPath()
    while pending:
        part = pending.pop(0)
        if part in {"/", ".."}:
            path = PurePosixPath() if part == "/" else path.parent
            continue
        path /= part
        if (root / path).is_symlink():
            links += 1
            if links > _MOST_LINKS:
                return None
            pending = [*PurePosixPath((root / path).readlink()).parts, *pending]
            path = path.parent
    return str(path)
