# SPDX-License-Identifier: Apache-2.0
"""A verdict in words."""

import math

from tare.blocks import fewest_blocks
from tare.records import Estimate, Overhead, Word

_DASH = "\N{EN DASH}"
_MINUS = "\N{MINUS SIGN}"
_PLUS_MINUS = "\N{PLUS-MINUS SIGN}"
_MOST_DECIMALS = 3
_TIMES_FROM = 9.0
"""An overhead of 900 % is ten times native's time: beyond it per cent are hard to read."""


def sentence(
    overhead: Overhead, word: Word, margin: float, more_blocks: int | None, *, below_noise_floor: bool
) -> str:
    """Such as "docker: slower by 5.2-8.1 % (n = 10)"; slower means more time per unit of work."""
    claim = _claim(overhead, word, margin, more_blocks)
    remarkable = below_noise_floor and word in (Word.SLOWER, Word.FASTER)
    remark = _noise_remark(overhead.noise_floor) if remarkable else ""
    return f"{overhead.summary.environment}: {claim}{remark}"


def _claim(overhead: Overhead, word: Word, margin: float, more_blocks: int | None) -> str:
    typical = overhead.typical
    if typical.low is None or typical.high is None:
        return _too_few(typical)
    if word is Word.WITHIN:
        return f"within {_PLUS_MINUS}{100 * margin:g} % of native (n = {typical.n})"
    if word is Word.UNDECIDED:
        found = signed_range(typical.low, typical.high)
        return f"not enough data: {found} (n = {typical.n}; {advice(more_blocks)})"
    if typical.low >= _TIMES_FROM:
        return f"{word.value}: {1 + typical.low:.0f}{_DASH}{1 + typical.high:.0f} times native's time (n = {typical.n})"
    near, far = sorted((abs(typical.low), abs(typical.high)))
    return f"{word.value} by {_range(near, far)} (n = {typical.n})"


def _too_few(typical: Estimate) -> str:
    needed = fewest_blocks(1 - typical.level)
    if typical.n >= needed:
        return f"not enough data: the looks so far may use up too little of the error (n = {typical.n})"
    return f"not enough data: a {100 * typical.level:g} % interval needs at least {needed} blocks (n = {typical.n})"


def advice(more_blocks: int | None) -> str:
    """Say how many further blocks would decide."""
    if more_blocks is None:
        return "no feasible number of blocks would decide"
    return f"about {more_blocks} more block{'s' if more_blocks > 1 else ''}"


def _noise_remark(noise_floor: Estimate) -> str:
    extent = max(abs(noise_floor.low or 0.0), abs(noise_floor.high or 0.0))
    return f", but native against native differs by up to {_PLUS_MINUS}{_percent(extent, extent)} %"


def _range(near: float, far: float) -> str:
    low, high = _percent(near, far - near), _percent(far, far - near)
    return f"{low} %" if low == high else f"{low}{_DASH}{high} %"


def signed_range(low: float, high: float) -> str:
    return f"{_signed(low, high - low)} to {_signed(high, high - low)} %"


def _signed(value: float, width: float) -> str:
    sign = "" if value == 0 else "+" if value > 0 else _MINUS
    return sign + _percent(abs(value), width)


def _percent(value: float, width: float) -> str:
    """``value`` (not negative) in percent, with the digits that an interval of that width can carry.

    A bound that is not 0 gets the digits to show it, because on which side of 0 it lies is the verdict.
    """
    decimals = 1 - math.floor(math.log10(100 * width)) if width > 0 else 2
    decimals = min(max(decimals, 0), _MOST_DECIMALS)
    while value > 0 and decimals < _MOST_DECIMALS and float(f"{100 * value:.{decimals}f}") == 0:
        decimals += 1
    return f"{100 * value:.{decimals}f}"
