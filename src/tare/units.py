# SPDX-License-Identifier: Apache-2.0
"""Sizes, durations and fractions as people write them."""

import math
import re
from collections.abc import Callable

KIBIBYTE = 1024
MEBIBYTE = 1024**2
GIBIBYTE = 1024**3

MINUS = "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"
TIMES_FROM = 9.0
"""An overhead of 900 % is ten times native's time: larger percentages are hard to read."""
_MOST_DECIMALS = 3
_BEYOND_DIGITS = 1e15
"""Garbage values: a float has no decimals here."""
_SIGN_DECIMALS = 6
"""Decimals up to which the end of an interval next to 0 shows its sign."""

_BYTE = {
    "": 1,
    "B": 1,
    "KiB": KIBIBYTE,
    "MiB": MEBIBYTE,
    "GiB": GIBIBYTE,
    "kB": 1000,
    "MB": 1000**2,
    "GB": 1000**3,
}
_LONGEST = 1000
"""Maximum length of a text."""
_ROUNDED_FROM = 999.5
"""From here on three digits would need an exponent."""
_SECOND = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def parse_byte(text: str) -> int:
    """``"512 MiB"`` → 536870912; ``ValueError`` names the units."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
    if not match or match[2] not in _BYTE:
        raise ValueError(
            f"{text[:_LONGEST]!r} is not a size; write a number and one of {', '.join(filter(None, _BYTE))}"
        )
    return round(float(match[1]) * _BYTE[match[2]])


def parse_duration_s(text: str) -> float:
    """``"1h30m"`` → 5400.0; ``ValueError`` names the units."""
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|s|m|h)", text.replace(" ", "")) if len(text) < _LONGEST else []
    if not parts or "".join(number + unit for number, unit in parts) != text.replace(" ", ""):
        raise ValueError(f"{text[:_LONGEST]!r} is not a duration; write such as 90s, 10m or 1h30m")
    return sum(float(number) * _SECOND[unit] for number, unit in parts)


def format_byte(size_byte: float) -> str:
    for unit, factor in (("GiB", GIBIBYTE), ("MiB", MEBIBYTE), ("KiB", KIBIBYTE)):
        if size_byte >= factor:
            amount = size_byte / factor
            return f"{amount:.3g} {unit}" if amount < _ROUNDED_FROM else f"{amount:.0f} {unit}"
    return f"{size_byte:.0f} B"


def format_duration(duration_s: float) -> str:
    """Format with at most two units: ``"9 min 30 s"``, ``"12 s"``, ``"350 ms"``."""
    if duration_s < 1:
        return f"{duration_s * 1000:.0f} ms"
    whole_s = round(duration_s)
    if whole_s < 60:  # noqa: PLR2004 - seconds in a minute
        return f"{whole_s} s"
    minutes, seconds = divmod(whole_s, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s"


def signed(text: str) -> str:
    """Put a sign in front of a decimal number, a true minus sign if it is negative; zero has none."""
    digits = text.lstrip("-")
    if not float(digits):
        return digits
    return f"{MINUS if text.startswith('-') else '+'}{digits}"


def percent_decimals(width: float) -> int:
    """Decimals that a range in per cent deserves: a step of the last digit is at most a fifth of ``width``, a fraction.

    Whole per cents from a width of 5 % on, tenths from 0.5 % on.
    """
    return _decimals(100 * width) if width > 0 else 2


def percent_digits(fraction: float, decimals: int) -> str:
    """A point in per cent; one that is not 0 gets the digits that show its sign, if few do."""
    texts = [f"{100 * fraction:.{more}f}" for more in range(decimals, max(decimals, _MOST_DECIMALS) + 1)]
    return next(filter(float, texts), texts[0].lstrip("-"))


def percent_ends(low: float, high: float) -> tuple[str, str]:
    """Both ends of an interval of fractions, in per cent, as every table and sentence prints them.

    They are rounded outward, so that what is printed contains the interval; an end that is not 0 does not become 0
    before a millionth of a per cent, because its sign may be the verdict.
    """
    decimals = percent_decimals(high - low)
    return _outward(100 * low, decimals, math.floor), _outward(100 * high, decimals, math.ceil)


def times_ends(low: float, high: float) -> tuple[str, str]:
    """Both ends of an interval of fractions as multiples: 1.1 to 1.3 more becomes 2.1 and 2.3, rounded outward."""
    decimals = times_decimals(high - low)
    return _outward(1 + low, decimals, math.floor), _outward(1 + high, decimals, math.ceil)


def times_decimals(width: float) -> int:
    """Decimals that a multiple deserves whose interval has this width; none without an interval."""
    return max(_decimals(width) - 1, 0) if width > 0 else 0


def _decimals(width: float) -> int:
    if width >= _BEYOND_DIGITS:
        return 0
    return min(max(1 - math.floor(math.log10(2 * width)), 0), _MOST_DECIMALS) if width > 0 else 2


def _outward(value: float, decimals: int, whole: Callable[[float], int]) -> str:
    if abs(value) >= _BEYOND_DIGITS:
        return f"{value:.0f}"
    exact = round(value, _SIGN_DECIMALS)
    texts = [
        f"{whole(round(exact * 10**more, _SIGN_DECIMALS)) / 10**more:.{more}f}"
        for more in range(decimals, max(decimals, _SIGN_DECIMALS) + 1)
    ]
    return next(filter(float, texts), texts[0].lstrip("-"))
