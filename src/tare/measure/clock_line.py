# SPDX-License-Identifier: Apache-2.0
"""Probes of a clock, and the rates of all lines that pass through them; whole numbers, so nothing is rounded.

A probe is a bracket: the node's clock read n at some moment between the host's stamps a and b, however long each way
took. A line through all brackets exists for the rates r that satisfy r (b_i - a_j) >= n_i - n_j for every pair, and
only the corners of two convex hulls can bound these rates.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

RESOLUTION_NS = 1000
"""How long a clock may show the same value; the coarsest source that Linux uses (the PIT) ticks every 838 ns."""
MILLION = 10**6

Point = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockProbe:
    """One question and answer; nanoseconds of each clock."""

    asked_ns: int
    node_ns: int
    answered_ns: int

    @property
    def round_trip_ns(self) -> int:
        return self.answered_ns - self.asked_ns

    @property
    def offset_ns(self) -> float:
        """Node's clock minus the host's, at the middle of the round trip."""
        return self.node_ns - (self.asked_ns + self.answered_ns) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Bounds of a clock's rate against the host's, in millionths; above 0 it runs fast. ``None``: no bound."""

    low_ppm: float | None
    high_ppm: float | None


def line_through(probes: Sequence[ClockProbe]) -> Drift | None:
    """The rates of all lines through all brackets; ``None`` if there is no such line."""
    # A line passes above the end and below the beginning of each bracket.
    below = hull([(probe.asked_ns, probe.node_ns + RESOLUTION_NS) for probe in probes], turn=1)
    above = hull([(probe.answered_ns, probe.node_ns) for probe in probes], turn=-1)
    least: list[Fraction] = []
    most: list[Fraction] = []
    for answered, end in above:
        for asked, begin in below:
            span, rise = answered - asked, end - begin  # the rate times the span is at least the rise
            if span:
                (least if span > 0 else most).append(Fraction(rise, span))
            elif rise > 0:
                return None
    if least and most and max(least) > min(most):
        return None
    forward = [rate for rate in least if rate > 0]  # not running backward is no bound
    return Drift(low_ppm=_ppm(max(forward, default=None)), high_ppm=_ppm(min(most, default=None)))


def hull(points: Sequence[Point], turn: int) -> list[Point]:
    """The lower convex hull for ``turn`` 1, the upper one for -1 (Andrew, Information Processing Letters 9, 1979)."""
    corners: list[Point] = []
    for point in sorted(points):
        while len(corners) > 1 and turn * _cross(corners[-2], corners[-1], point) <= 0:
            corners.pop()
        corners.append(point)
    return corners


def _cross(origin: Point, first: Point, second: Point) -> int:
    return (first[0] - origin[0]) * (second[1] - origin[1]) - (first[1] - origin[1]) * (second[0] - origin[0])


def _ppm(rate: Fraction | None) -> float | None:
    return None if rate is None else float((rate - 1) * MILLION)
