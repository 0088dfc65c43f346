# SPDX-License-Identifier: Apache-2.0
"""NetPIPE's output file: from lines of bytes, rate and seconds to one-way times and samples."""

import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tare.errors import WrongOutput
from tare.records import Coordinate, Direction, Sample
from tare.workloads import excerpt

STOP_S = 1.0
"""NetPIPE stops increasing the size once a message takes this long."""
BIT_PER_MEGABIT = 2**20
"""NetPIPE's Mbps means this many bits per second."""

SMALL_BYTE = 64
"""Below this size netpipe(1) calls the one-way time the latency."""
_LINE = re.compile(r" *(\d{1,10}) (\d{1,12}\.\d{6}) +(\d{1,12}\.\d{8})", re.ASCII)
_RATE_ERROR, _TIME_ERROR_S = 0.5e-6, 0.5e-8
"""Half of the last printed digit."""


@dataclass(frozen=True, slots=True)
class Point:
    """One message size and the time that one message takes one way."""

    size_byte: int
    time_s: float


def parse_points(text: str, sizes: Sequence[int]) -> list[Point]:
    """Parse the file of a run that should have measured ``sizes``, in their order.

    Raises ``WrongOutput`` if a size is missing or differs, a line is cut or garbled, a time or rate is not above 0, or
    the two do not match.
    """
    points: list[Point] = []
    for line, asked in zip(_lines(text), sizes, strict=False):
        point = _point(line, text)
        if point.size_byte != asked:
            raise WrongOutput(
                f"np.out has {point.size_byte} bytes where {asked} were to be measured",
                excerpt.around(text, text.find(line)),
            )
        points.append(point)
    if len(points) < len(sizes):
        raise WrongOutput(_why_cut(points, sizes), excerpt.tail(text))
    if text.count("\n") > len(sizes):
        raise WrongOutput(f"np.out goes on after its last size, {sizes[-1]} bytes", excerpt.tail(text))
    return points


def _lines(text: str) -> Iterator[str]:
    whole, _, rest = text.rpartition("\n")
    if rest:
        raise WrongOutput("np.out ends within a line: the run was cut short", excerpt.tail(text))
    yield from whole.split("\n") if whole else ()


def _point(line: str, text: str) -> Point:
    match = _LINE.fullmatch(line)
    if not match:
        said = excerpt.printable(line[:80])
        raise WrongOutput(
            f"np.out holds the line {said!r}, not bytes, Mbps and seconds",
            excerpt.around(text, text.find(line)),
        )
    size_byte, rate, time_s = int(match[1]), float(match[2]), float(match[3])
    if not (size_byte and rate and time_s):
        raise WrongOutput(f"np.out has a zero: {line.strip()}", excerpt.around(text, text.find(line)))
    exact_s = size_byte * 8 / (rate * BIT_PER_MEGABIT)
    rate_error_s = exact_s * _RATE_ERROR / rate
    if abs(exact_s - time_s) > 1.01 * (rate_error_s + _TIME_ERROR_S):
        raise WrongOutput(f"np.out contradicts itself: {line.strip()}", excerpt.around(text, text.find(line)))
    # For a short time the rate has more digits than the column of seconds, which ends at 10 ns.
    return Point(size_byte, exact_s if rate_error_s < _TIME_ERROR_S else time_s)


def _why_cut(points: Sequence[Point], sizes: Sequence[int]) -> str:
    if not points:
        return "np.out is empty: NetPIPE measured nothing"
    last = points[-1]
    reached = f"np.out ends at {last.size_byte} bytes, after {len(points)} of {len(sizes)} sizes"
    if last.time_s >= STOP_S:
        return f"{reached}: NetPIPE stops when a message takes a second; give a smaller largest"
    return f"{reached}: the run was cut short"


def samples_of(points: Sequence[Point]) -> list[Sample]:
    """Give all samples of one run; ``points`` is not empty, and its sizes ascend."""
    small = [point.time_s for point in points if point.size_byte < SMALL_BYTE] or [points[0].time_s]
    return [
        _time("small_latency_s", statistics.median(small)),
        _rate("large_bandwidth_byte_per_s", points[-1]),
        *_curves(points),
    ]


def _curves(points: Sequence[Point]) -> Iterator[Sample]:
    for point in points:
        yield _time("latency_s", point.time_s, _at(point))
    for point in points:
        yield _rate("bandwidth_byte_per_s", point, _at(point))


def _at(point: Point) -> tuple[Coordinate, ...]:
    return (Coordinate("size", float(point.size_byte), "B"),)


def _time(name: str, time_s: float, at: tuple[Coordinate, ...] = ()) -> Sample:
    return Sample(name=name, value=time_s, unit="s", direction=Direction.LESS, coordinates=at)


def _rate(name: str, point: Point, at: tuple[Coordinate, ...] = ()) -> Sample:
    rate = point.size_byte / point.time_s
    return Sample(name=name, value=rate, unit="B/s", direction=Direction.MORE, coordinates=at)
