# SPDX-License-Identifier: Apache-2.0
"""The range of an axis and the places of its ticks."""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tare.units import MINUS

LINEAR_UP_TO = 0.2
"""Overheads beyond this get a scale that is logarithmic on both sides, to keep small ones visible."""
_LOGARITHMIC_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
_STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10)
"""Of ticks, in powers of ten; the first three only where a longer one leaves a single tick."""
_LEAST_TICKS = 2
"""One tick gives no scale."""
_ROOM = 0.04
_CHARACTER_PX = 7.5
"""Width of a character in a label, which the page draws 13 px high."""
_GAP_PX = 12.0
_ALIKE = 1e-6
"""Values closer than this relative difference are drawn as equal: ticks between them would have long labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A range with its ticks, in the values' own unit, and their labels."""

    low: float
    """Value at the left or the bottom; above ``high`` on a reversed axis."""
    high: float
    ticks: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()
    constant: float | None = None
    """Linear up to about here on both sides of 0, logarithmic beyond; ``None`` for linear throughout."""

    def position(self, value: float) -> float:
        """Place of ``value`` on the axis: 0 at ``low``, 1 at ``high`` (Vega's symlog when logarithmic)."""
        low, high, at = (self._moved(each) for each in (self.low, self.high, value))
        return (at - low) / (high - low)

    def _moved(self, value: float) -> float:
        if self.constant is None:
            return value
        return math.copysign(math.log1p(abs(value / self.constant)), value)


def overhead_axis(values: Iterable[float], margin: float, width_px: float) -> Axis:
    """An axis of overheads (fractions) with 0 and the margin on it; labels in per cent."""
    known = [value for value in values if math.isfinite(value)]
    low, high = min((*known, -1.5 * margin)), max((*known, 1.5 * margin))
    if max(-low, high) <= LINEAR_UP_TO:
        room = _ROOM * (high - low)
        low, high = low - room, high + room
        ticks = _linear_ticks(low, high, max(3, round(width_px / 75)))
        return Axis(low=low, high=high, ticks=ticks, labels=_percent_labels(ticks))
    # a slowdown has no upper bound, but nothing is faster than -100 %
    low, high = max(1.15 * low, -1.0), 1.15 * high
    axis = Axis(low=low, high=high, constant=2 * margin)
    ticks = _thinned(axis, width_px)
    return Axis(low=low, high=high, ticks=ticks, labels=_percent_labels(ticks), constant=2 * margin)


def value_axis(values: Sequence[float]) -> Axis:
    """A linear axis close around ``values``; labels are bare numbers."""
    low, high = min(values), max(values)
    alike = high - low <= _ALIKE * abs(high)
    room = (0.05 * abs(high) or 1.0) if alike else 0.08 * (high - low)
    low, high = low - room, high + room
    ticks = _linear_ticks(low, high, 5)
    decimals = _decimals(ticks)
    labels = tuple(f"{tick:.{decimals}f}".replace("-", MINUS) for tick in ticks)
    return Axis(low=low, high=high, ticks=ticks, labels=labels)


def _linear_ticks(low: float, high: float, about: int) -> tuple[float, ...]:
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    usual = next(number for number, step in enumerate(_STEPS) if step * power >= raw * 0.999)
    steps = [step * power for step in reversed(_STEPS[: usual + 1])]
    step = next((step for step in steps if len(_multiples(low, high, step)) >= _LEAST_TICKS), steps[0])
    return tuple(
        round(number * step, 12 - math.floor(math.log10(step))) for number in _multiples(low, high, step)
    )


def _multiples(low: float, high: float, step: float) -> range:
    return range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)


def _thinned(axis: Axis, width_px: float) -> tuple[float, ...]:
    """From 0 outwards, each tick whose label does not overlap the previous one."""
    kept = [0.0]
    for sign in (-1, 1):
        last = 0.0
        for tick in (sign * size for size in _LOGARITHMIC_TICKS):
            apart_px = abs(axis.position(tick) - axis.position(last)) * width_px
            if axis.low <= tick <= axis.high and apart_px >= _between_px(last, tick):
                kept.append(tick)
                last = tick
    return tuple(sorted(kept))


def _between_px(first: float, second: float) -> float:
    """Least distance between the middles of two ticks' labels."""
    characters = len(_percent_label(first * 100, 0)) + len(_percent_label(second * 100, 0))
    return _CHARACTER_PX * characters / 2 + _GAP_PX


def _decimals(ticks: Sequence[float]) -> int:
    step = min((right - left for left, right in itertools.pairwise(ticks)), default=1.0)
    return max(0, -math.floor(math.log10(step) + 1e-9))


def _percent_labels(ticks: Sequence[float]) -> tuple[str, ...]:
    decimals = _decimals([tick * 100 for tick in ticks])
    return tuple(_percent_label(tick * 100, decimals) for tick in ticks)


def _percent_label(percent: float, decimals: int) -> str:
    if not percent:
        return "0 %"
    return f"{MINUS if percent < 0 else '+'}{abs(percent):.{decimals}f}"
