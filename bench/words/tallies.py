# SPDX-License-Identifier: Apache-2.0
"""What many campaigns of one cell came to."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bench.words.records import is_false, leaves_out, width
from bench.words.rows import Row, shares
from tare.records import Verdict

FIVE = "at most 5 %"


class Tally(NamedTuple):
    false: int
    """Campaigns with a false word."""
    missed: float
    """Claims whose own interval misses, per campaign and cell: an interval holds by itself."""
    bias: float
    width: float


def tallied(claims: Sequence[Sequence[Verdict]], truth: float) -> Tally:
    every = [verdict for own in claims for verdict in own]
    return Tally(
        false=sum(any(is_false(verdict, truth) for verdict in own) for own in claims),
        missed=len(claims) * float(np.mean([leaves_out(verdict, truth) for verdict in every])),
        bias=float(np.mean([math.log1p(verdict.overhead.typical.point) for verdict in every]))
        - math.log1p(truth),
        width=float(np.nanmedian([width(verdict) for verdict in every])),
    )


def row_of(name: str, tallies: Sequence[Tally], campaigns: int, promise: str = FIVE) -> Row:
    return Row(
        cell=name,
        promise=promise,
        false=shares([tally.false for tally in tallies], campaigns),
        missed=shares([tally.missed for tally in tallies], campaigns),
        price=_price(tallies),
    )


def _price(tallies: Sequence[Tally]) -> str:
    biases = " · ".join(f"{100 * tally.bias:+.2f}" for tally in tallies)
    widths = " · ".join(f"{tally.width:.1f}" for tally in tallies)
    return f"bias {biases}; width {widths} points"
