# SPDX-License-Identifier: Apache-2.0
"""The axes of curves and surfaces: places, absolute values, and ratios to native, logarithmic where they reach far."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tare.drawing.axis import LINEAR_UP_TO, Axis
from tare.drawing.words import quantity
from tare.records import Dimension
from tare.report.places import place_label

_OCTAVES = (1, 2, 4, 5, 10)
_DECADE_STEPS = ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 5.0, 7.0))
_RATIO_STEPS = (0.01, 0.02, 0.05, 0.1)
_RATIOS = (1, 10, 0.1, 100, 0.01, 1000, 2, 0.5, 1.2, 0.8, 5, 0.2, 1.1, 0.9, 1.5, 20, 50, 1.05, 0.95, 3)
"""What a logarithmic axis of ratios shows where there is room, the first before the others."""
_ROOM = 0.04
_LABEL_PX = 18.0
_ENDS_SHOWN = 0.975
"""Share of the intervals' ends that a ratio axis has room for, so that a few wide ones do not flatten the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceScale:
    """How places stand on a logarithmic axis: as powers of two where they are bytes, else of ten.

    0 has no logarithm: it stands one octave, or a third of a decade, before the least place above it.
    """

    dimension: Dimension
    zero: float
    """The power at which 0 stands."""

    @classmethod
    def of(cls, places: Iterable[float], dimension: Dimension) -> "PlaceScale":
        """The scale of these places."""
        least = min((place for place in places if place > 0), default=1.0)
        step = 1.0 if dimension.unit == "B" else 1 / 3
        return cls(dimension=dimension, zero=_power(least, dimension) - step)

    @property
    def base(self) -> float:
        return 2.0 if self.dimension.unit == "B" else 10.0

    def at(self, place: float) -> float:
        """Where a place stands."""
        return _power(place, self.dimension) if place > 0 else self.zero


def _power(place: float, dimension: Dimension) -> float:
    return math.log2(place) if dimension.unit == "B" else math.log10(place)


def place_axis(scale: PlaceScale, places: Iterable[float], label_px: float, width_px: float) -> Axis:
    """The axis of places; ``label_px`` is the room that a label needs. 0 has a tick of its own."""
    known = set(places)
    powers = [scale.at(place) for place in known]
    low, high = min(powers), max(powers)
    low, high = (low - 0.5, high + 0.5) if high - low < 1 else (low, high)
    room = 0.012 * (high - low)
    per_power_px = width_px / (high - low + 2 * room)
    step = next((each for each in _OCTAVES if each * per_power_px >= label_px), _OCTAVES[-1])
    first = scale.zero + label_px / per_power_px if 0 in known else low
    ticks = [float(power) for power in range(math.ceil(first), math.floor(high) + 1) if power % step == 0]
    shown = [*([(scale.zero, 0.0)] if 0 in known else []), *((tick, scale.base**tick) for tick in ticks)]
    return Axis(
        low=low - room,
        high=high + room,
        ticks=tuple(tick for tick, _ in shown),
        labels=tuple(_short(place_label(place, scale.dimension)) for _, place in shown),
    )


def _short(label: str) -> str:
    """Without the name of what is counted: the axis has it in its caption."""
    return label.rpartition(" = ")[2]


def value_axis(values: Iterable[float], unit: str, height_px: float) -> Axis:
    """Powers of ten around positive ``values``, with as many ticks as there is room for."""
    powers = [math.log10(value) for value in values]
    low, high = min(powers), max(powers)
    room = max(_ROOM * (high - low), 0.02)
    low, high = low - room, high + room
    sets = [list(_decade_ticks(low, high, steps)) for steps in _DECADE_STEPS]
    ticks = next((ticks for ticks in sets if len(ticks) >= max(3.0, height_px / 60)), sets[-1])
    ticks = ticks[:: math.ceil(len(ticks) * _LABEL_PX / height_px) or 1]
    return Axis(
        low=low, high=high, ticks=tuple(ticks), labels=tuple(quantity(10**tick, unit) for tick in ticks)
    )


def _decade_ticks(low: float, high: float, steps: Sequence[float]) -> Iterator[float]:
    for decade in range(math.floor(low), math.ceil(high)):
        for step in steps:
            tick = decade + math.log10(step)
            if low <= tick <= high:
                yield tick


def ratio_axis(
    points: Sequence[float], ends: Sequence[float], margin: float, height_px: float, label_px: float
) -> Axis:
    """Make an axis of overheads (fractions) that is labelled with ratios to native.

    Like ``overhead_axis`` it is logarithmic on both sides of 1 when it must reach far. It has room for all
    ``points`` and for most of the intervals' ``ends``.
    """
    shown = [*points, *_most(ends), -1.5 * margin, 1.5 * margin]
    low, high = min(shown), max(shown)
    room = _ROOM * (high - low)
    if max(-low, high) <= LINEAR_UP_TO:
        axis = Axis(low=low - room, high=high + room)
        return _with_ticks(axis, list(_even_ticks(axis, height_px, label_px)))
    axis = Axis(low=max(1.15 * low, -0.999), high=1.15 * high, constant=2 * margin)
    return _with_ticks(axis, list(_clear_ticks(axis, height_px, label_px)))


def _most(ends: Sequence[float]) -> list[float]:
    ordered = sorted(ends)
    left_out = int((1 - _ENDS_SHOWN) * len(ordered))
    return ordered[left_out : len(ordered) - left_out]


def _even_ticks(axis: Axis, height_px: float, label_px: float) -> Iterator[float]:
    per_px = (axis.high - axis.low) / height_px
    step = next((each for each in _RATIO_STEPS if each >= label_px * per_px), _RATIO_STEPS[-1])
    for number in range(math.ceil(axis.low / step), math.floor(axis.high / step) + 1):
        yield number * step


def _clear_ticks(axis: Axis, height_px: float, label_px: float) -> Iterator[float]:
    """Each tick that stands clear of those before it in the list."""
    taken: list[float] = []
    for tick in (ratio - 1 for ratio in _RATIOS):
        at = axis.position(tick) * height_px
        if axis.low <= tick <= axis.high and all(abs(at - other) >= label_px for other in taken):
            taken.append(at)
            yield tick


def _with_ticks(axis: Axis, ticks: Sequence[float]) -> Axis:
    labels = tuple(f"{1 + tick:.10g}" for tick in ticks)
    return Axis(low=axis.low, high=axis.high, ticks=tuple(ticks), labels=labels, constant=axis.constant)
