# SPDX-License-Identifier: Apache-2.0
"""The strongest true word for an overhead: nested margins, and a bound where no margin holds."""

from collections.abc import Callable
from dataclasses import dataclass

from tare.records import Estimate, Word

NESTED_MARGINS = (0.01, 0.02, 0.05, 0.10)
"""Tested besides the campaign's own margin."""
MOST_BOUND = 0.10
"""A larger bound is not worth stating: nobody would act on it."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A permitted claim: the three fields of ``Verdict`` with these names."""

    word: Word
    within: float | None = None
    at_most: float | None = None


def margins(declared: float) -> tuple[float, ...]:
    """All margins that are tested, the widest first."""
    return tuple(sorted({*NESTED_MARGINS, declared}, reverse=True))


def narrowest(declared: float, holds: Callable[[float], bool]) -> float | None:
    """Go from the widest margin to the narrowest while ``holds`` is true; give the last that held, or ``None``.

    Each is tested only if the wider one held, so their number needs no correction: a fixed sequence of tests
    (Maurer, Hothorn and Lehmacher, in: Biometrie in der chemisch-pharmazeutischen Industrie 6 (1995) 3-18).
    """
    last = None
    for margin in margins(declared):
        if not holds(margin):
            break
        last = margin
    return last


def claim(typical: Estimate, declared: float, within: float | None, *, differs: bool) -> Claim:
    """Choose the word. ``within``: the narrowest margin that holds; ``differs``: no difference was ruled out."""
    if typical.low is None or typical.high is None:
        return Claim(Word.UNDECIDED)
    if within is not None and within <= declared:
        return Claim(Word.WITHIN, within)
    if differs:
        return Claim(Word.SLOWER if typical.point > 0 else Word.FASTER, within)
    if within is not None:
        return Claim(Word.WITHIN, within)
    if 0 <= typical.high < MOST_BOUND:
        return Claim(Word.BOUNDED, at_most=typical.high)
    return Claim(Word.UNDECIDED)
