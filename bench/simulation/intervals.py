# SPDX-License-Identifier: Apache-2.0
"""Tare's own intervals for many campaigns at once; tests/analyze proves each equal to what Tare computes for one.

To ask only whether an interval contains a value, ``contains`` looks at the statistic there: some thirty times quicker
than to find the interval's ends. Below an error of 1 % a campaign's interval may be narrower than the normal
distribution's (``statistics.sharper``); where that decides, Tare's own function is asked.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from bench.simulation import own
from bench.simulation.scenarios import Arms, Floats, Scenario
from tare.statistics import aligned_ranks
from tare.statistics.blocks import farthest, fewest_blocks, quantile
from tare.statistics.boundary import ERROR, boundary, constant_spending, spending
from tare.statistics.sharper import SHARPER

LOOKS = (10, 16, 24, 32)
"""Tare's default."""
PRECISION = 1e-5
"""Of a bound, as a share of the range in which it may be: some thousandths of a point of overhead."""
Bools = NDArray[np.bool_]
Bounds = tuple[Floats, Floats]
"""Low and high of each campaign, as logarithms."""
_AT_ONCE = 10_000
"""Blocks at a time: what is made of them should fit into the processor's cache."""
_MANY = 60_000
"""Blocks from which a centre is known to two hundredths of a point where runs differ by 3 %."""


@dataclass(frozen=True, slots=True)
class Decided:
    """What ``--fail-if`` answers in each campaign."""

    exceeded: Bools
    kept: Bools
    blocks: NDArray[np.intp]
    """Where it is answered; all that were planned where it is not."""


def statistic(arms: Arms, shift: float | Floats = 0.0) -> Floats:
    """Give ``aligned_ranks.statistic`` of each campaign; ``shift``: one, or one per campaign. Nothing is widened."""
    shifts = np.broadcast_to(np.asarray(shift, dtype=np.float64), (arms.campaigns,))
    values = [
        aligned_ranks.statistic(part.log_ratios, part.control_log_ratios, shifts[rows])
        for rows, part in _parts(arms)
    ]
    return np.concatenate(values)


def bounds(arms: Arms, error: float = ERROR) -> Bounds:
    """Give the ends of each campaign's interval that misses with a chance of ``error``."""
    return own.bounds(arms, error) if own.is_sharper(error) else normal_bounds(arms, error)


def normal_bounds(arms: Arms, error: float) -> Bounds:
    """Give what the normal distribution gives: the same down to an error of 5 %, and never narrower."""
    low, high = aligned_ranks.bounds(arms.log_ratios, arms.control_log_ratios, error, PRECISION)
    factor = own.widenings(arms)
    rows = np.flatnonzero(factor > 1)
    if rows.size:
        centres = points(arms.chosen(rows))
        low[rows], high[rows] = (centres + factor[rows] * (end[rows] - centres) for end in (low, high))
    return low, high


def points(arms: Arms) -> Floats:
    return aligned_ranks.points(arms.log_ratios, arms.control_log_ratios, PRECISION)


def contains(arms: Arms, value: float | Floats, error: float = ERROR) -> Bools:
    """Whether the interval that misses with a chance of ``error`` holds ``value``; so few blocks' holds everything."""
    above, below = beyond(arms, value, error)
    return ~(above | below)


def beyond(arms: Arms, value: float | Floats, error: float) -> tuple[Bools, Bools]:
    """Whether each campaign's interval lies wholly above ``value``, and whether it lies wholly below.

    As an interval of blocks that depend on each other is only wider, what is within it without that is not asked
    again.
    """
    above, below = np.zeros((2, arms.campaigns), dtype=np.bool_)
    if not has_interval(arms, error):
        return above, below
    values = np.broadcast_to(np.asarray(value, dtype=np.float64), (arms.campaigns,))
    result, least = np.array(statistic(arms, values)), weakest(error)
    far = np.flatnonzero(np.abs(result) > least)
    if far.size:
        result[far] = statistic(arms.chosen(far), pulled(arms.chosen(far), values[far]))
    limit = quantile(error) if aligned_ranks.reaches(arms.blocks, error) else np.inf
    above, below = result > limit, result < -limit
    rows = np.flatnonzero((np.abs(result) > least) & ~above & ~below)
    if rows.size:
        low, high = own.bounds(arms.chosen(rows), error)
        above[rows], below[rows] = low > values[rows], high < values[rows]
    return above, below


def weakest(error: float) -> float:
    """The statistic up to which a value is held by an interval that misses with a chance of ``error``, surely."""
    return quantile(max(error, 2 * SHARPER))


def pulled(arms: Arms, value: float | Floats) -> Floats:
    """Where ``value`` is nearer to the centre by what blocks that depend on each other widen an interval.

    Ranks and magnitudes there are taken of the widened blocks at ``value``.
    """
    shifts = np.array(np.broadcast_to(np.asarray(value, dtype=np.float64), (arms.campaigns,)))
    factor = own.widenings(arms)
    rows = np.flatnonzero(factor > 1)
    if rows.size:
        centres = points(arms.chosen(rows))
        shifts[rows] = centres + (shifts[rows] - centres) / factor[rows]
    return shifts


def equivalent(arms: Arms, margin: float, error: float = ERROR) -> Bools:
    """Whether the interval that misses with a chance of ``error`` lies within ``margin`` (``lies_within``)."""
    above = beyond(arms, float(np.log1p(-margin)), error)[0]
    rows = np.flatnonzero(above)
    if rows.size:
        above[rows] = beyond(arms.chosen(rows), float(np.log1p(margin)), error)[1]
    return above


def difference_p(arms: Arms) -> Floats:
    """Give ``evidence.difference_p`` of each campaign, the number of blocks being fixed."""
    distance = np.minimum(np.abs(statistic(arms, pulled(arms, 0.0))), farthest(arms.blocks))
    p_values = np.minimum(1.0, 2 * ndtr(-distance))
    rows = np.flatnonzero(p_values <= 2 * SHARPER)
    if rows.size:
        p_values[rows] = own.difference_p(arms.chosen(rows))
    return np.asarray(p_values)


def levels(looks: Sequence[int] = LOOKS, error: float = ERROR) -> list[tuple[int, float]]:
    """Give the blocks and the nominal level of error of each look that has an interval."""
    nominal = boundary(tuple(looks), tuple(spending(n, looks[-1]) for n in looks), error)
    return [(n, level) for n, level in zip(looks, nominal, strict=True) if level > 0]


def ever_differs(arms: Arms, looks: Sequence[int] = LOOKS, truth: float = 0.0) -> Bools:
    """Whether the repeated interval of any look leaves out ``truth``."""
    values = [~contains(arms.leading(n), truth, level) for n, level in levels(looks)]
    return np.asarray(np.any(values, axis=0))


def ever_equivalent(arms: Arms, margin: float, looks: Sequence[int] = LOOKS) -> Bools:
    """Whether any look's equivalence test passes."""
    values = [equivalent(arms.leading(n), margin, level) for n, level in levels(looks)]
    return np.asarray(np.any(values, axis=0))


def decided(arms: Arms, threshold: float, looks: Sequence[int] = LOOKS) -> Decided:
    """Answer ``overhead > threshold``, a fraction, as ``analyze.decisions`` does."""
    exceeded, kept = np.zeros((2, arms.campaigns), dtype=np.bool_)
    blocks = np.full(arms.campaigns, looks[-1])
    for n, level in zip(looks, boundary(tuple(looks), constant_spending(tuple(looks))), strict=True):
        if level > 0:
            above, below = beyond(arms.leading(n), float(np.log1p(threshold)), level)
            still = ~(exceeded | kept)
            exceeded |= still & above
            kept |= still & below
            blocks[still & (exceeded | kept)] = n
    return Decided(exceeded=exceeded, kept=kept, blocks=blocks)


def centre(scenario: Scenario, blocks: int) -> float:
    """What the aligned ranks estimate, from very many blocks of campaigns of so many ``blocks``.

    It is the planted overhead itself where all runs have the same noise, or symmetric noise.
    """
    made = scenario(np.random.default_rng(99), _MANY // blocks, blocks)
    return float(points(made.as_one())[0])


def covers(bounds: Bounds, truth: float | Floats) -> Bools:
    return (bounds[0] <= truth) & (truth <= bounds[1])


def has_interval(arms: Arms, error: float) -> bool:
    return error > 0 and arms.blocks >= fewest_blocks(error)


def _parts(arms: Arms) -> Iterator[tuple[slice, Arms]]:
    """So many campaigns that what is made of them fits into memory."""
    count = max(1, _AT_ONCE // arms.blocks)
    for begin in range(0, arms.campaigns, count):
        rows = slice(begin, begin + count)
        yield rows, arms.chosen(rows)
