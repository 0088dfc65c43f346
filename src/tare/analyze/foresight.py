# SPDX-License-Identifier: Apache-2.0
"""What looks can decide at a given noise, by a small seeded simulation of the campaign.

Adding an overhead shifts a simulated interval and more noise stretches it, so one set of campaigns with a standard
deviation of 1 and no overhead serves all. Normal noise is assumed; spikes cost a few blocks more.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tare.analyze.looks import precise_half_width
from tare.records import POWER, Design, ExpectedBlocks, LookForesight
from tare.statistics import aligned_ranks
from tare.statistics.aligned_ranks import Floats
from tare.statistics.boundary import ERROR, boundary, spending
from tare.statistics.sharper import bounds_of_many

EFFECTS = (0.0, 0.02, 0.05, 0.2)
"""Overheads for which the expected number of blocks is reported."""
_MOST_CAMPAIGNS, _FEWEST_CAMPAIGNS = 400, 60
_MOST_BLOCKS = 60_000
"""Total number of blocks in all simulated looks: about a second."""
_PRECISION = 1e-4
"""Of a simulated bound, as a share of its possible range."""
_SEED = 20_240_601

_Bounds = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class _Seen:
    """All simulated campaigns at one look: shape (campaigns,) each; no bounds if there is no interval."""

    blocks: int
    points: NDArray[np.float64]
    bounds: _Bounds | None
    """Of the repeated 95 % interval."""


def look_foresights(spread: float, looks: tuple[int, ...], margin: float) -> tuple[LookForesight, ...]:
    """Decisions of each look; ``spread``: the standard deviation of the block log-ratios."""
    foresights = []
    for seen in _campaigns(looks):
        inside = _inside(seen.bounds, spread, 0.0, margin, seen.points.size)
        slowest = None if seen.bounds is None else float(-np.quantile(spread * seen.bounds[0], 1 - POWER))
        foresights.append(
            LookForesight(
                blocks=seen.blocks,
                smallest_slowdown=None if slowest is None else math.expm1(slowest),
                within=float(inside.mean()),
            )
        )
    return tuple(foresights)


def expected_blocks(
    spread: float, design: Design, looks: tuple[int, ...], effects: Sequence[float] = EFFECTS
) -> tuple[ExpectedBlocks, ...]:
    """Mean number of blocks until an arm stops, for each overhead; conditions are not simulated."""
    return tuple(
        ExpectedBlocks(overhead=effect, blocks=_mean_blocks(spread, math.log1p(effect), design, looks))
        for effect in effects
    )


def _mean_blocks(spread: float, shift: float, design: Design, looks: tuple[int, ...]) -> float:
    seen = _campaigns(looks)
    left = np.ones(seen[0].points.size, dtype=bool)
    total = 0.0
    for look in seen:
        stops = look.blocks == looks[-1] or _stops(look, spread, shift, design)
        total += look.blocks * float((left & stops).mean())
        left &= ~np.asarray(stops)
    return total


def _stops(look: _Seen, spread: float, shift: float, design: Design) -> NDArray[np.bool_]:
    if look.bounds is None:
        return np.zeros(look.points.size, dtype=bool)
    low, high, point = (spread * part + shift for part in (*look.bounds, look.points))
    equivalent = _inside(look.bounds, spread, shift, design.margin, look.points.size)
    return np.asarray(((high - low) / 2 <= precise_half_width(point, design)) | equivalent)


def _inside(
    bounds: _Bounds | None, spread: float, shift: float, margin: float, count: int
) -> NDArray[np.bool_]:
    if bounds is None:
        return np.zeros(count, dtype=bool)
    low, high = (spread * part + shift for part in bounds)
    return np.asarray((low > math.log1p(-margin)) & (high < math.log1p(margin)))


@lru_cache(maxsize=16)
def _campaigns(looks: tuple[int, ...]) -> tuple[_Seen, ...]:
    """Simulate campaigns whose log-ratios have a standard deviation of 1, and no overhead."""
    count = max(_FEWEST_CAMPAIGNS, min(_MOST_CAMPAIGNS, _MOST_BLOCKS // sum(looks)))
    runs = np.random.default_rng(_SEED).normal(scale=math.sqrt(2 / 3), size=(count, looks[-1], 3))
    log_ratios, controls = aligned_ranks.log_ratios_of(runs)
    spent = tuple(spending(look, looks[-1]) for look in looks)
    levels = boundary(looks, spent, ERROR)
    return tuple(
        _look(log_ratios[:, :look], controls[:, :look], nominal)
        for look, nominal in zip(looks, levels, strict=True)
    )


def _look(log_ratios: Floats, controls: Floats, nominal: float) -> _Seen:
    points = aligned_ranks.points(log_ratios, controls, _PRECISION)
    return _Seen(log_ratios.shape[-1], points, bounds_of_many(log_ratios, controls, nominal, _PRECISION))
