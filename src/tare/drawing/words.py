# SPDX-License-Identifier: Apache-2.0
"""Numbers and foreign text for readers: true minus signs, en-dash ranges, always with units."""

import math
import re
from collections.abc import Iterable
from datetime import UTC, datetime

from tare.records import Estimate, Word
from tare.units import (
    DASH,
    MINUS,
    TIMES_FROM,
    percent_decimals,
    percent_ends,
    signed,
    times_decimals,
    times_ends,
)

NO_VALUE = "\N{EM DASH}"
MARK = {
    Word.SLOWER: "\N{BLACK UP-POINTING TRIANGLE}",
    Word.FASTER: "\N{BLACK DOWN-POINTING TRIANGLE}",
    Word.WITHIN: "\N{BLACK CIRCLE}",
    Word.BOUNDED: "\N{CIRCLE WITH LEFT HALF BLACK}",
    Word.UNDECIDED: "\N{WHITE CIRCLE}",
}
"""A shape for each verdict, so that colour is never needed to distinguish them."""
STYLE = {
    Word.SLOWER: "red",
    Word.FASTER: "green",
    Word.WITHIN: "green",
    Word.BOUNDED: "none",
    Word.UNDECIDED: "yellow",
}
"""Styles in a terminal; a bound may be of a cost, so that green would praise it."""

_PREFIXED_UNITS = ("s", "B", "B/s", "flop/s", "update/s", "updates/s", "op/s", "ops/s", "bit/s", "Hz")
_LARGE = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_SMALL = ((1.0, ""), (1e-3, "m"), (1e-6, "\N{MICRO SIGN}"), (1e-9, "n"))
_WORDS = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"), (1e3, "thousand"))
_WORDS_FROM = 9999.5
"""From here on four digits would need an exponent."""
_MOST_DECIMALS = 9


def _decimals(estimate: Estimate) -> int:
    """As many decimals as the interval's width supports."""
    if estimate.low is None or estimate.high is None:
        return 1
    return percent_decimals(estimate.high - estimate.low)


def _is_in_times(estimate: Estimate) -> bool:
    """Whether the whole interval is so high that per cent are hard to read."""
    return (estimate.point if estimate.low is None else estimate.low) >= TIMES_FROM


def point_percent(estimate: Estimate) -> str:
    """``"+5.2 %"``, no more digits than the interval's width supports; as a multiple from ten times on."""
    if not math.isfinite(estimate.point):
        return NO_VALUE
    if _is_in_times(estimate):
        width = 0.0 if estimate.low is None or estimate.high is None else estimate.high - estimate.low
        return f"\N{MULTIPLICATION SIGN}{1 + estimate.point:.{times_decimals(width)}f}"
    return f"{signed(f'{100 * estimate.point:.{_decimals(estimate)}f}')} %"


def interval_percent(estimate: Estimate) -> str:
    """A range joined by a dash above zero and by "to" elsewhere, as multiples from ten times on; ``"none (n = 4)"``."""
    if estimate.low is None or estimate.high is None:
        return f"none (n = {estimate.n})"
    if _is_in_times(estimate):
        return f"\N{MULTIPLICATION SIGN}{DASH.join(times_ends(estimate.low, estimate.high))}"
    low, high = percent_ends(estimate.low, estimate.high)
    if estimate.low >= 0:
        return f"{low}{DASH}{high} %"
    return f"{signed(low)} to {signed(high)} %"


def least_level(estimates: Iterable[Estimate]) -> str:
    """``"95 %"``, rounded down: exact intervals of a small n reach slightly more than the requested level."""
    level = min((estimate.level for estimate in estimates), default=math.nan)
    return f"{math.floor(100 * level + 1e-9)} %" if math.isfinite(level) else NO_VALUE


def share_percent(share: float) -> str:
    return f"{share * 100:.0f} %" if math.isfinite(share) else NO_VALUE


def prefixed(value: float, unit: str) -> tuple[float, str]:
    """Factor that makes ``value`` easy to read, and the unit with it: ``(1e9, "Gflop/s")``, ``(1e6, "million/s")``."""
    if unit not in _PREFIXED_UNITS and abs(value) >= _WORDS_FROM:
        factor, word = next(step for step in _WORDS if abs(value) >= step[0])
        return factor, f"{word}{unit[1:]}" if unit.startswith("1/") else f"{word} {unit}".rstrip()
    if unit not in _PREFIXED_UNITS or value == 0:
        return 1.0, unit
    steps = _SMALL if unit == "s" else _LARGE
    factor, prefix = next((step for step in steps if abs(value) >= step[0]), steps[-1])
    return factor, f"{prefix}{unit}"


def quantity(value: float, unit: str) -> str:
    """Four significant digits with the unit, which takes an SI prefix where that is customary."""
    if not math.isfinite(value):
        return NO_VALUE
    factor, unit = prefixed(value, unit)
    return f"{_four_digits(value / factor)} {unit}".rstrip()


def quantity_interval(estimate: Estimate, unit: str) -> str:
    """A range in one unit, with three digits or what tells its ends apart; ``"none (n = 4)"`` when there is none."""
    if estimate.low is None or estimate.high is None:
        return f"none (n = {estimate.n})"
    factor, prefixed_unit = prefixed(estimate.high, unit)
    low, high = estimate.low / factor, estimate.high / factor
    usual = 2 - math.floor(math.log10(high)) if high > 0 else 0
    apart = min(-math.floor(math.log10(high - low)), _MOST_DECIMALS) if high > low else usual
    if apart > usual or usual < 0:
        decimals = max(apart, usual, 0)
        return f"{low:.{decimals}f}{DASH}{high:.{decimals}f} {prefixed_unit}".rstrip()
    return f"{low:.3g}{DASH}{high:.3g} {prefixed_unit}".rstrip()


def index_interval(estimate: Estimate) -> str:
    """A range of pure numbers near 1; ``"none (n = 4)"`` when there is none."""
    if estimate.low is None or estimate.high is None:
        return f"none (n = {estimate.n})"
    return f"{index(estimate.low)}{DASH}{index(estimate.high)}"


def index(value: float) -> str:
    return f"{value:.4f}"


def _four_digits(value: float) -> str:
    return (
        f"{value:.4g}".replace("-", MINUS) if abs(value) < _WORDS_FROM else f"{value:.0f}".replace("-", MINUS)
    )


def unbreakable(text: str) -> str:
    """Keep ranges, a number with its per cent sign, and ``n = 10`` on one line each."""
    text = re.sub(rf"(?<=\d){DASH}(?=\d)", DASH + "\N{WORD JOINER}", text)
    text = re.sub(r"(?<=\d) (?=%)", "\N{NO-BREAK SPACE}", text)
    return re.sub(r"\bn = (?=\d)", "n\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}", text)


def moment(started_utc: str) -> str:
    """``"2025-03-07 14:00 UTC"`` from an ISO 8601 time; other text as it is."""
    try:
        return f"{datetime.fromisoformat(started_utc).astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return started_utc


def counted(number: int, singular: str, plural: str = "") -> str:
    """``"1 trial"``, ``"3 trials"``."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"
