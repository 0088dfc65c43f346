# SPDX-License-Identifier: Apache-2.0
"""Memory: bandwidth and latency over size and stride, random updates, in huge pages or not, on a NUMA node.

In: operations and sizes. Out: a piece of ``slices`` for each, as a point of a curve, and ranges of sizes as figures.
McCalpin, "Memory bandwidth and machine balance in current high performance computers" (1995); Luszczek and others,
"Introduction to the HPC Challenge benchmark suite" (2005); docs/memory.md.
"""

import itertools
import re
from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from tare.errors import InputError
from tare.records import Coordinate, Range
from tare.units import GIBIBYTE, KIBIBYTE, MEBIBYTE, format_byte, parse_byte
from tare.workloads.kind import Job, Options, Output, Piece, Shape, own
from tare.workloads.slices import Slices, SlicesOptions

Operation = Literal["copy", "scale", "add", "triad", "chase", "updates"]

HUGE_PAGES = "memory in huge pages"
"""Label of the fact: ``all``, ``part`` or ``none`` of the pieces' memory."""
SIZES = ("16 KiB", "32 KiB", "128 KiB", "512 KiB", "4 MiB", "16 MiB", "128 MiB")
RANGES = (
    ("of up to 32 KiB", None, 32 * KIBIBYTE),
    ("of 64 to 512 KiB", 64 * KIBIBYTE, 512 * KIBIBYTE),
    ("of 2 to 16 MiB", 2 * MEBIBYTE, 16 * MEBIBYTE),
    ("of 128 MiB and more", 128 * MEBIBYTE, None),
)
"""Within the first, second and third cache of most processors, and beyond the caches. Between them a cache ends, of one
processor here and of another there."""

_METRICS = {"chase": "pointer chase", "updates": "random updates"}
_SMALLEST_BYTE, _LARGEST_BYTE = KIBIBYTE, 1024 * GIBIBYTE
_STOP_BYTE, _ORDER_BYTE = 16, 8
"""For a place of the pointer chase: itself, and while they are put in order."""
_CACHES_BYTE = (32 * KIBIBYTE, MEBIBYTE, 32 * MEBIBYTE)
_START_COUNTS = {
    "chase": (40_000_003, 10_000_003, 2_000_003, 300_007),
    "updates": (60_000, 50_000, 12_000, 5_000),
}
_STREAM_COUNTS = (2500, 2000, 1200, 500)
"""Units in a slice, where all fits into one of ``_CACHES_BYTE`` or into none."""
_USUAL_BYTE = {"bandwidth": 96 * MEBIBYTE, "random": 128 * MEBIBYTE}
_PROGRAM_BYTE = 4 * MEBIBYTE
_MOST, _LEAST = 0.95, 0.05
_EVIDENCE = re.compile(
    r"^slices: memory ([0-9]{1,18}) huge ([0-9]{1,18}|-) nodes ([0-9]{1,4}:[0-9]{1,18}(?:,[0-9]{1,4}:[0-9]{1,18})*|-)$",
    re.MULTILINE | re.ASCII,
)


class MemoryOptions(SlicesOptions):
    """Without ``operations`` the usual two pieces; with them, one piece for each of its sizes."""

    known = (
        Piece(
            name="bandwidth",
            metric="memory bandwidth",
            moved_byte=3 * MEBIBYTE,
            start_count=200,
            alone=True,
        ),
        Piece(name="random", metric="random access", start_count=3000, alone=True),
    )

    operations: list[Operation] | None = Field(default=None, min_length=1)
    sizes: list[str] | None = Field(default=None, min_length=1)
    """Bytes that an operation works on, all its arrays together; ``None``: ``SIZES``."""
    strides: list[str] | None = Field(default=None, min_length=1)
    """Bytes between the places of ``chase``; ``None``: a cache line of 64."""
    huge_pages: bool | None = None
    """Ask for transparent huge pages, or for none; ``None``: leave it to the kernel."""
    numa_node: Annotated[int, Field(ge=0, lt=1024)] | None = None
    """Where all memory must lie."""
    processor_node: Annotated[int, Field(ge=0, lt=1024)] | None = None
    """NUMA node on whose processors the program runs; ``None``: on all that it was given."""

    @model_validator(mode="after")
    def _check_operations(self) -> Self:
        wanted = self.operations or []
        if not wanted and (self.sizes or self.strides):
            raise ValueError(
                'sizes and strides belong to operations; add such as operations = ["triad", "chase"]'
            )
        if self.strides and "chase" not in wanted:
            raise ValueError("strides belong to the operation chase; add it, or leave them out")
        for name, values in (
            ("operations", wanted),
            ("sizes", self._sizes_byte),
            ("strides", self._strides_byte),
        ):
            if len(set(values)) < len(values):
                raise ValueError(f"one of the {name} stands there twice; keep each once")
        for size_byte in self._sizes_byte if wanted else ():
            self._check_size(size_byte)
        return self

    def _check_size(self, size_byte: int) -> None:
        if not _SMALLEST_BYTE <= size_byte <= _LARGEST_BYTE:
            raise ValueError(f"a size of {format_byte(size_byte)} is not from 1 KiB to 1024 GiB")
        if "updates" in (self.operations or ()) and size_byte.bit_count() != 1:
            raise ValueError(
                f"updates needs a power of two, and {size_byte} B is none; RandomAccess has such tables"
            )
        for stride_byte in self._strides_byte if "chase" in (self.operations or ()) else ():
            if stride_byte % _STOP_BYTE or not _STOP_BYTE <= stride_byte <= size_byte // 2:
                raise ValueError(
                    f"a stride of {stride_byte} B does not fit: it is a multiple of {_STOP_BYTE} B, and at most half of"
                    f" every size, such as {format_byte(size_byte)}"
                )

    @property
    def _sizes_byte(self) -> list[int]:
        return [parse_byte(size) for size in self.sizes or SIZES]

    @property
    def _strides_byte(self) -> list[int]:
        return [parse_byte(stride) for stride in self.strides or ["64 B"]]

    @property
    def chosen(self) -> tuple[Piece, ...]:
        usual = () if self.operations and not self.pieces else super().chosen
        return (*usual, *self._sized())

    def _sized(self) -> Iterator[Piece]:
        for operation, size_byte in itertools.product(self.operations or (), sorted(self._sizes_byte)):
            if operation != "chase":
                yield _piece(operation, size_byte)
                continue
            for stride_byte in sorted(self._strides_byte):
                yield _piece(operation, size_byte, stride_byte)

    @property
    def needed_byte(self) -> int:
        """Memory of all its pieces, which are there at the same time, and of the order in which a chase is made."""
        orders = (
            _size_byte(piece) // int(piece.coordinates[1].value)
            for piece in self.chosen
            if piece.coordinates[1:]
        )
        return sum(map(_size_byte, self.chosen)) + _ORDER_BYTE * max(orders, default=0)


def _piece(operation: str, size_byte: int, stride_byte: int | None = None) -> Piece:
    place = [Coordinate("size", size_byte, "B")]
    if stride_byte is not None:
        place.append(Coordinate("stride", stride_byte, "B"))
    fits = sum(size_byte > cache_byte for cache_byte in _CACHES_BYTE)
    return Piece(
        name=":".join([operation, *(str(int(each.value)) for each in place)]),
        metric=_METRICS.get(operation, operation),
        start_count=_START_COUNTS.get(operation, _STREAM_COUNTS)[fits],
        alone=True,
        coordinates=tuple(place),
    )


def _size_byte(piece: Piece) -> int:
    return int(piece.coordinates[0].value) if piece.coordinates else _USUAL_BYTE[piece.name]


class Memory(Slices):
    """STREAM's operations, a pointer chase and RandomAccess of one process."""

    def settings(self, options: Options) -> tuple[str, ...]:
        chosen = own(MemoryOptions, options)
        asked: list[str] = []
        if chosen.huge_pages is not None:
            asked += ["--huge-pages", "on" if chosen.huge_pages else "off"]
        if chosen.numa_node is not None:
            asked += ["--numa-node", str(chosen.numa_node)]
        if chosen.processor_node is not None:
            asked += ["--processor-node", str(chosen.processor_node)]
        return tuple(asked)

    def _job(self, options: Options, shape: Shape, turns: tuple[str, ...]) -> Job:
        needed_byte = own(MemoryOptions, options).needed_byte
        if needed_byte + _PROGRAM_BYTE > shape.memory_byte:
            raise InputError(
                f"memory's pieces need {format_byte(needed_byte)} together, and an instance has"
                f" {format_byte(shape.memory_byte)}; give fewer sizes or operations, or more memory"
            )
        return super()._job(options, shape, turns)

    def ranges(self, options: Options) -> tuple[Range, ...]:
        """For each operation the ``RANGES`` that it has a size in; where it has none, all its sizes."""
        chosen = own(MemoryOptions, options)
        sizes: dict[str, list[int]] = {}
        for piece in chosen.chosen:
            if piece.coordinates:
                sizes.setdefault(piece.metric, []).append(_size_byte(piece))
        return tuple(itertools.chain.from_iterable(itertools.starmap(_ranges, sizes.items())))

    def facts(self, options: Options, output: Output) -> dict[str, str]:
        return super().facts(options, output) | _placement(own(MemoryOptions, options), output)


def _ranges(metric: str, sizes_byte: list[int]) -> list[Range]:
    usual = [
        Range(name=f"{metric} {words}", metric=metric, bounds={"size": (least, most)})
        for words, least, most in RANGES
        if any((least or 0) <= size <= (most or size) for size in sizes_byte)
    ]
    return usual or [Range(name=f"{metric} of all sizes", metric=metric, bounds={"size": (None, None)})]


def _placement(options: MemoryOptions, output: Output) -> dict[str, str]:
    """What the kernel said of the pieces' memory at the end of the program."""
    match = _EVIDENCE.search(output.stderr)
    if not match:
        return {}
    total_byte, nodes = int(match[1]), match[3]
    asked = {None: "left to the kernel", True: "asked for", False: "asked for none"}[options.huge_pages]
    had, share = "not known", "not known"
    if match[2] != "-" and total_byte:
        huge_byte = min(int(match[2]), total_byte)
        had = f"{format_byte(huge_byte)} of {format_byte(total_byte)}"
        part = huge_byte / total_byte
        share = "all" if part >= _MOST else "none" if part <= _LEAST else "part"
    facts = {HUGE_PAGES: share, "huge pages of the pieces": f"{asked}; {had}"}
    if nodes != "-":
        facts["NUMA nodes of the pieces"] = ", ".join(
            f"{node}: {format_byte(int(size))}"
            for node, size in (each.split(":") for each in nodes.split(","))
        )
    return facts


MEMORY = Memory("memory", "slices", MemoryOptions)
