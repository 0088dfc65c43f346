# SPDX-License-Identifier: Apache-2.0
"""How far another host's clock is from this host's at a moment: bounds that hold for any delays on the way.

A probe proves that the clock had shown no more than its reading when the question left, and no less when the answer
came (``clock_line``). An honest clock carries each such limit to any other moment, at a rate within ``TOLERANCE_PPM``.
One that runs at a constant rate lies on a line through all brackets, which is bounded by pairs of them as well: by the
duality of linear programs in two variables no third one can tighten a bound. Whole numbers and fractions throughout.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from tare.measure.clock_fit import TOLERANCE_PPM
from tare.measure.clock_line import MILLION, RESOLUTION_NS, ClockProbe, Drift, Point, hull, line_through

_FASTEST = Fraction(MILLION + TOLERANCE_PPM, MILLION)
_SLOWEST = Fraction(MILLION - TOLERANCE_PPM, MILLION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offset:
    """Bounds of another clock minus this host's, at a moment of this host's; nanoseconds."""

    low_ns: Fraction
    high_ns: Fraction

    @property
    def middle_ns(self) -> Fraction:
        return (self.low_ns + self.high_ns) / 2

    @property
    def bound_ns(self) -> Fraction:
        """Largest error of the middle."""
        return (self.high_ns - self.low_ns) / 2


def offset_at(probes: Sequence[ClockProbe], at_ns: int) -> Offset | None:
    """Bounds at this moment; ``None`` if no honest clock gives these readings, ``ValueError`` without probes.

    A constant rate is used where one explains all probes; else only that the clock is honest, and the bounds are wider.
    """
    if not probes:
        raise ValueError("no probes to bound a clock by")
    most = [(probe.asked_ns, probe.node_ns + RESOLUTION_NS) for probe in probes]
    least = [(probe.answered_ns, probe.node_ns) for probe in probes]
    high = [*_carried(most, at_ns, _FASTEST, _SLOWEST)]
    low = [*_carried(least, at_ns, _SLOWEST, _FASTEST)]
    if min(high) < max(low):
        return None
    below, above = hull(most, turn=1), hull(least, turn=-1)
    lowest = max([*low, *_on_lines(above, below, at_ns, max)])
    highest = min([*high, *_on_lines(below, above, at_ns, min)])
    if highest < lowest or _rates(probes) is None:
        lowest, highest = max(low), min(high)
    return Offset(low_ns=lowest - at_ns, high_ns=highest - at_ns)


def drift_of(probes: Sequence[ClockProbe]) -> Drift | None:
    """Bounds of an honest clock's constant rate; ``None`` if no constant rate explains the probes."""
    rates = _rates(probes)
    return None if rates is None else Drift(low_ppm=rates[0], high_ppm=rates[1])


def _rates(probes: Sequence[ClockProbe]) -> tuple[float, float] | None:
    drift = line_through(probes)
    if drift is None:
        return None
    low = -float(TOLERANCE_PPM) if drift.low_ppm is None else max(drift.low_ppm, -TOLERANCE_PPM)
    high = float(TOLERANCE_PPM) if drift.high_ppm is None else min(drift.high_ppm, TOLERANCE_PPM)
    return (low, high) if low <= high else None


def _carried(points: Sequence[Point], at_ns: int, later: Fraction, earlier: Fraction) -> Iterator[Fraction]:
    """Each limit, carried to the moment at the rate that keeps it a limit."""
    for moment, value in points:
        rate = later if at_ns >= moment else earlier
        yield value + rate * (at_ns - moment)


def _on_lines(
    own: Sequence[Point], other: Sequence[Point], at_ns: int, tightest: Callable[..., Fraction]
) -> Iterator[Fraction]:
    """Limits of the value at the moment of any line that stays on its side of all points: from pairs of them."""
    between = [
        _through(left, right, at_ns)
        for left, right in pairwise(own)
        if left[0] <= at_ns <= right[0] and left[0] < right[0]
    ]
    if between:
        yield tightest(between)
    for near in own:
        for far in other:
            if far[0] < near[0] <= at_ns or at_ns <= near[0] < far[0]:
                yield _through(far, near, at_ns)


def _through(first: Point, second: Point, at_ns: int) -> Fraction:
    rate = Fraction(second[1] - first[1], second[0] - first[0])
    return second[1] + rate * (at_ns - second[0])
