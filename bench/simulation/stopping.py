# SPDX-License-Identifier: Apache-2.0
"""Where many campaigns stop by ``analyze.looks``, and what their intervals hold there."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.simulation.intervals import (
    Bools,
    Bounds,
    bounds,
    contains,
    levels,
    normal_bounds,
    points,
    statistic,
    weakest,
)
from bench.simulation.own import is_sharper
from bench.simulation.scenarios import Arms, Floats
from tare.analyze.looks import precise_half_width
from tare.records import Design
from tare.statistics.aligned_ranks import reaches
from tare.statistics.sharper import SHARPER

_BEYOND = 1.4
"""How much wider than what is precise enough an interval is tried for before its ends are looked for."""


@dataclass(frozen=True, slots=True)
class Stopped:
    arms: Arms
    blocks: NDArray[np.intp]
    """At each campaign's last look."""
    levels: dict[int, float]
    """Blocks of a look → nominal level of error; no interval at the others."""

    def contains(self, value: float) -> Bools:
        """Whether each campaign's last interval holds ``value``."""
        values = np.ones(self.arms.campaigns, dtype=np.bool_)
        for n, level in self.levels.items():
            rows = np.flatnonzero(self.blocks == n)
            if rows.size:
                values[rows] = contains(self.arms.chosen(rows).leading(n), value, level)
        return values


def stopped(arms: Arms, design: Design) -> Stopped:
    """Stop each campaign: precise enough, within the margin, or out of blocks."""
    at = dict(levels(design.looks))
    blocks = np.full(arms.campaigns, design.looks[-1])
    still = np.arange(arms.campaigns)
    for n in design.looks[:-1]:
        if still.size and n in at:
            ends = _ends_here(arms.chosen(still).leading(n), at[n], design)
            blocks[still[ends]] = n
            still = still[~ends]
    return Stopped(arms=arms, blocks=blocks, levels=at)


def _ends_here(arms: Arms, level: float, design: Design) -> Bools:
    ends = ~_surely_wide(arms, level, design)
    own = np.flatnonzero(ends)
    if own.size:
        ends[own] = _is_narrow(arms.chosen(own), level, design)
    return ends


def _is_narrow(arms: Arms, level: float, design: Design) -> Bools:
    """Whether each interval's ends are near enough; where the normal distribution's is, a narrower one is too."""
    point = points(arms)
    if not reaches(arms.blocks, level):
        return _is_enough(point, bounds(arms, level), design)
    enough = _is_enough(point, normal_bounds(arms, level), design)
    rows = np.flatnonzero(~enough)
    if rows.size and is_sharper(level):
        enough[rows] = _is_narrower(arms.chosen(rows), point[rows], level, design)
    return enough


def _is_narrower(arms: Arms, point: Floats, level: float, design: Design) -> Bools:
    """The same with the interval that may be narrower, which takes long: asked only where the innermost is enough."""
    enough = _is_enough(point, normal_bounds(arms, 2 * SHARPER), design)
    rows = np.flatnonzero(enough)
    if rows.size:
        enough[rows] = _is_enough(point[rows], bounds(arms.chosen(rows), level), design)
    return enough


def _is_enough(point: Floats, bounds: Bounds, design: Design) -> Bools:
    low, high = bounds
    equivalent = (math.log1p(-design.margin) < low) & (high < math.log1p(design.margin))
    return np.asarray(equivalent | ((high - low) / 2 <= precise_half_width(point, design)))


def _surely_wide(arms: Arms, level: float, design: Design) -> Bools:
    """Whether the interval holds two values that are too far apart, with the point between them.

    Not to have to look for the ends of all intervals: of noisy campaigns hardly any stops early.
    """
    middle = np.median(arms.log_ratios, axis=-1)
    limit = math.log1p(design.margin)
    reach = _BEYOND * np.maximum(limit, precise_half_width(middle, design))
    low, high = middle - reach, middle + reach
    farther = np.maximum(np.abs(low), np.abs(high))
    too_wide = (high - low) / 2 > np.maximum(limit, precise_half_width(farther, design))
    above, below = statistic(arms, low), statistic(arms, high)
    farthest = weakest(level)
    held = (above > 0) & (above <= farthest) & (below < 0) & (below >= -farthest)
    return np.asarray(too_wide & held)
