# SPDX-License-Identifier: Apache-2.0
"""One-way times as samples: two figures, and two curves over the message size."""

import statistics
from collections.abc import Iterator, Sequence

from tare.records import Direction, Sample
from tare.workloads.netpipe.output import Point

SMALL_BYTE = 64
"""Below this size netpipe(1) calls the one-way time the latency."""


def samples_of(points: Sequence[Point]) -> list[Sample]:
    """Give all samples of one run; ``points`` is not empty, and its sizes rise."""
    small = [point.time_s for point in points if point.size_byte < SMALL_BYTE] or [points[0].time_s]
    return [
        _time("small_latency_s", statistics.median(small)),
        _rate("large_bandwidth_byte_per_s", points[-1]),
        *_curves(points),
    ]


def _curves(points: Sequence[Point]) -> Iterator[Sample]:
    for point in points:
        yield _time("latency_s", point.time_s, x=float(point.size_byte))
    for point in points:
        yield _rate("bandwidth_byte_per_s", point, x=float(point.size_byte))


def _time(name: str, time_s: float, x: float | None = None) -> Sample:
    return Sample(
        name=name, value=time_s, unit="s", direction=Direction.LESS, x=x, x_unit=None if x is None else "B"
    )


def _rate(name: str, point: Point, x: float | None = None) -> Sample:
    rate = point.size_byte / point.time_s
    return Sample(
        name=name, value=rate, unit="B/s", direction=Direction.MORE, x=x, x_unit=None if x is None else "B"
    )
