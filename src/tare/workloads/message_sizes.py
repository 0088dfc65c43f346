# SPDX-License-Identifier: Apache-2.0
"""Message sizes and how often each is sent, fixed before the start, so that all arms do the same work; and the times.

The ranges are those of Yaba Tchoffo and others (2015): "Exchange" to 16 KiB and from 32 KiB on, "Bcast" to 1 MiB and
from 2 MiB on.
"""

from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from tare.errors import WrongOutput
from tare.records import Coordinate, Direction, Range, Sample
from tare.units import KIBIBYTE, MEBIBYTE, parse_byte
from tare.untrusted import figure, start_of
from tare.workloads.kind import Options

BARRIER = "barrier"
FLOAT_BYTE = 4
"""Of one operand of a reduction."""
MEAN_TIME = "call_mean_s"
SMALL_MESSAGES, LARGE_MESSAGES = "small_messages_s", "large_messages_s"
"""Ranges of the mean time."""
_LARGEST_BYTE = 4 * MEBIBYTE
_SMALL_BYTE = 16 * KIBIBYTE
_SMALL_BROADCAST_BYTE = MEBIBYTE
_MOST_BYTE = 1 << 30
_MICROSECOND_S = 1e-6
_ROUNDED_UP = 1 + 1e-9
"""The mean of equal times may differ from them by a rounding."""
_AT_ZERO = frozenset({"pingpong", "sendrecv", "exchange", BARRIER})
"""Benchmarks that communicate without a byte as well."""


Bytes = Annotated[int, BeforeValidator(lambda size: parse_byte(size) if isinstance(size, str) else size)]
"""A number of bytes, or a text such as "64 KiB"."""


def _power(size_byte: int) -> int:
    if size_byte & (size_byte - 1):
        raise ValueError(f"{size_byte} is neither 0 nor a power of two")
    return size_byte


class MessageSizes(Options):
    """0 and the powers of two between two sizes, and the calls of one size."""

    smallest: Annotated[Bytes, Field(ge=0, le=_SMALL_BYTE), AfterValidator(_power)] = 0
    """Bytes."""
    largest: Annotated[Bytes, Field(ge=FLOAT_BYTE, le=_MOST_BYTE), AfterValidator(_power)] = _LARGEST_BYTE
    """Bytes."""
    repetitions: Annotated[int, Field(ge=10, le=1_000_000)] = 1000
    """Timed calls of each size; below 10 a coarse clock may not advance."""

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.smallest > self.largest:
            raise ValueError(f"smallest is {self.smallest} bytes, more than largest, {self.largest}")
        return self

    def sizes(self, unit_byte: int = 1) -> tuple[int, ...]:
        """All sizes in bytes, ascending; those above 0 are multiples of ``unit_byte``, a power of two."""
        powers = (1 << exponent for exponent in range(self.largest.bit_length()))
        above = tuple(size for size in powers if max(self.smallest, unit_byte) <= size)
        return ((0,) if self.smallest == 0 else ()) + above


class FallingCounts(MessageSizes):
    """The same, with fewer calls of large messages, by the rule of the Intel MPI Benchmarks."""

    volume_mib: Annotated[int, Field(ge=1, le=1 << 20)] = 40
    """A size has no more calls than send this many MiB of messages, and at least one."""

    def counts(self, benchmark: str) -> tuple[tuple[int, int], ...]:
        """Each size in bytes, ascending, with its number of timed calls. A barrier's size is 0."""
        if benchmark == BARRIER:
            return ((0, self.repetitions),)
        unit_byte = FLOAT_BYTE if "reduce" in benchmark else 1
        return tuple((size, self._count_of(size)) for size in self.sizes(unit_byte))

    def counts_fact(self, benchmark: str) -> str:
        """Say how often each size is sent."""
        counts = self.counts(benchmark)
        largest, least = counts[-1]
        if least == self.repetitions:
            return f"{least} of each"
        full = [size for size, count in counts if count == self.repetitions]
        before = f"{self.repetitions} up to {full[-1]} B, then " if full else ""
        return f"{before}{self.volume_mib} MiB of messages, down to {least} of {largest} B"

    def _count_of(self, size_byte: int) -> int:
        if size_byte == 0:
            return self.repetitions
        return max(1, min(self.repetitions, self.volume_mib * MEBIBYTE // size_byte))


def usual_ranges(options: MessageSizes, benchmark: str) -> tuple[Range, ...]:
    """Small and large messages; the second only if any is sent.

    Size 0 counts only where something passes even then: of a collective call without a byte, MPI returns at once.
    """
    small = _SMALL_BROADCAST_BYTE if benchmark == "bcast" else _SMALL_BYTE
    least = None if benchmark in _AT_ZERO else 1.0
    ranges = [Range(name=SMALL_MESSAGES, metric=MEAN_TIME, bounds={"size": (least, float(small))})]
    if options.largest > small and benchmark != BARRIER:
        bounds = {"size": (float(2 * small), None)}
        ranges.append(Range(name=LARGE_MESSAGES, metric=MEAN_TIME, bounds=bounds))
    return tuple(ranges)


def time_samples(least_s: float, mean_s: float, most_s: float, *places: Coordinate) -> list[Sample]:
    """Give a call's mean time in the fastest rank, over all ranks, and in the slowest; ``WrongOutput`` for others."""
    if not 0 < least_s <= mean_s * _ROUNDED_UP or not mean_s <= most_s * _ROUNDED_UP:
        raise WrongOutput(
            f"times of {least_s:g}, {mean_s:g} and {most_s:g} s are not the least, mean and most of ranks",
            " ".join(f"{each.name} {each.value:g}" for each in places),
        )
    return [
        Sample(name=name, value=value, unit="s", direction=Direction.LESS, coordinates=places)
        for name, value in ((MEAN_TIME, mean_s), ("call_min_s", least_s), ("call_max_s", most_s))
    ]


def size_at(size_byte: int) -> Coordinate:
    return Coordinate("size", float(size_byte), "B")


def ranks_at(ranks: int) -> Coordinate:
    return Coordinate("ranks", float(ranks), None)


def from_microseconds(text: str) -> float:
    """Seconds of a printed time, 0 where it has too few digits; ``ValueError`` for anything else."""
    time_s = figure(text) * _MICROSECOND_S
    if time_s < 0:
        raise ValueError(f"{start_of(text)} is no time")
    return time_s
