# SPDX-License-Identifier: Apache-2.0
"""What an operating system does for a program: processes, switches, messages, calls, signals, pages, files, timers.

In: names of operations. Out: a piece of ``slices`` for each; context switches and files are points of a curve.
McVoy and Staelin, "lmbench: portable tools for performance analysis", USENIX 1996; docs/os.md.
"""

import itertools
from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from tare.records import Coordinate, Range
from tare.units import KIBIBYTE, parse_byte
from tare.workloads.kind import Options, Piece
from tare.workloads.slices import Slices, SlicesOptions

RINGS = (2, 8, 16)
WORKING_SETS = ("0 B", "16 KiB", "64 KiB")
FILE_SIZES_BYTE = (0, 10 * KIBIBYTE)
"""Two of the four sizes that lmbench creates and deletes."""

_SWITCH = "context-switch"
_FILES = ("file-create", "file-delete")
_USUAL = ("system-calls", "process-start")
_MOST_RING = 96
_MOST_SET_BYTE = 64 * KIBIBYTE
_WORD_BYTE = 4

_OPERATIONS = (
    Piece(name="system-calls", metric="system calls", start_count=600_000, alone=True),
    Piece(name="process-start", metric="process start", start_count=100),
    Piece(name="fork-exit", metric="fork and exit", start_count=600),
    Piece(name="fork-exec", metric="fork and exec", start_count=120),
    Piece(name="fork-shell", metric="fork and shell", start_count=60),
    Piece(name=_SWITCH, metric="context switch", start_count=30_000),
    Piece(name="pipe", metric="pipe round trip", start_count=14_000),
    Piece(name="unix-socket", metric="Unix socket round trip", start_count=7000),
    Piece(name="tcp", metric="TCP round trip", start_count=4500),
    Piece(name="futex", metric="futex round trip", start_count=17_000),
    Piece(name="thread", metric="thread start", start_count=3500),
    Piece(name="filtered-calls", metric="filtered system calls", start_count=250_000, alone=True),
    Piece(name="open-close", metric="open and close", start_count=30_000, alone=True),
    Piece(name="signal-install", metric="signal installation", start_count=360_000, alone=True),
    Piece(name="signal-deliver", metric="signal delivery", start_count=32_000, alone=True),
    Piece(name="page-fault", metric="page fault", start_count=25_000, alone=True),
    Piece(name="huge-page-fault", metric="huge page fault", start_count=800, alone=True),
    Piece(name="mmap", metric="mmap and munmap", start_count=20_000, alone=True),
    Piece(name="file-create", metric="file creation", start_count=3000, alone=True),
    Piece(name="file-delete", metric="file deletion", start_count=5000, alone=True),
    Piece(name="sleep", metric="sleep of 1 us", start_count=1200),
    Piece(name="clock", metric="clock reading", start_count=3_000_000, alone=True),
)


def _names_of_all(value: object) -> object:
    return [piece.name for piece in _OPERATIONS] if value == "all" else value


def _texts(value: object) -> object:
    """Whole numbers as texts: a kept campaign has lists of texts alone."""
    if not isinstance(value, list):
        return value
    return [str(each) if isinstance(each, int) and not isinstance(each, bool) else each for each in value]


class OsOptions(SlicesOptions):
    """The operations, and the points of context switches."""

    known = _OPERATIONS

    pieces: Annotated[list[str] | None, BeforeValidator(_names_of_all)] = Field(default=None, min_length=1)
    """Names of operations, or ``"all"``; ``None``: system calls and process start."""
    ring: Annotated[list[Annotated[str, Field(pattern="^[0-9]{1,2}$")]] | None, BeforeValidator(_texts)] = (
        Field(default=None, min_length=1)
    )
    """Numbers: processes of ``context-switch``; 1: the token passes without a switch. ``None``: ``RINGS``."""
    working_set: list[str] | None = Field(default=None, min_length=1)
    """What each of them sums at every hop; ``None``: ``WORKING_SETS``."""

    @model_validator(mode="after")
    def _check_points(self) -> Self:
        if (self.ring or self.working_set) and _SWITCH not in (self.pieces or ()):
            raise ValueError(f'ring and working_set belong to {_SWITCH}; add pieces = ["{_SWITCH}"]')
        for name, values in (("ring", self._rings), ("working_set", self._sets_byte)):
            if len(set(values)) < len(values):
                raise ValueError(f"one of {name} stands there twice; keep each once")
        for ring in self._rings:
            if not 1 <= ring <= _MOST_RING:
                raise ValueError(f"a ring of {ring} processes is not from 1 to {_MOST_RING}")
        for size_byte in self._sets_byte:
            if size_byte > _MOST_SET_BYTE or size_byte % _WORD_BYTE:
                raise ValueError(f"a working set of {size_byte} B is no multiple of 4 B up to 64 KiB")
        return self

    @property
    def _rings(self) -> list[int]:
        return [int(ring) for ring in self.ring or RINGS]

    @property
    def _sets_byte(self) -> list[int]:
        return [parse_byte(size) for size in self.working_set or WORKING_SETS]

    @property
    def chosen(self) -> tuple[Piece, ...]:
        names = self.pieces or _USUAL
        return tuple(point for piece in self.known if piece.name in names for point in self._points(piece))

    def _points(self, piece: Piece) -> Iterator[Piece]:
        if piece.name == _SWITCH:
            for ring, size_byte in itertools.product(sorted(self._rings), sorted(self._sets_byte)):
                yield _at(piece, Coordinate("ring", ring, None), Coordinate("working_set", size_byte, "B"))
        elif piece.name in _FILES:
            for size_byte in FILE_SIZES_BYTE:
                yield _at(piece, Coordinate("size", size_byte, "B"))
        else:
            yield piece


def _at(piece: Piece, *place: Coordinate) -> Piece:
    """The piece at one place, with fewer units in a slice where each takes longer."""
    size_byte = round(place[-1].value)
    return Piece(
        name=":".join([piece.name, *(str(round(each.value)) for each in place)]),
        metric=piece.metric,
        start_count=piece.start_count * _MOST_SET_BYTE // (_MOST_SET_BYTE + size_byte),
        alone=piece.alone,
        coordinates=place,
    )


class Os(Slices):
    """The operations of one program, and what each of its curves comes to as a single figure."""

    def ranges(self, options: Options) -> tuple[Range, ...]:
        curves = {piece.metric: piece.coordinates for piece in self.pieces(options) if piece.coordinates}
        return tuple(
            Range(
                name=f"{metric}, all points",
                metric=metric,
                bounds={each.name: (None, None) for each in place},
            )
            for metric, place in curves.items()
        )


OS = Os("os", "slices", OsOptions)
