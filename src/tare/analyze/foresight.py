# SPDX-License-Identifier: Apache-2.0
"""What looks can decide at a given noise: a small seeded simulation of the campaign itself.

Adding an overhead shifts a simulated interval and more noise stretches it, so one set of campaigns with a standard
deviation of 1 and no overhead serves all. Normal noise is assumed; spikes cost a few blocks more.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tare.analyze.boundary import ERROR, Stage, boundary, spending
from tare.analyze.signed_rank import walsh_averages
from tare.records import POWER, Design, ExpectedBlocks, LookForesight

EFFECTS = (0.0, 0.02, 0.05, 0.2)
"""Overheads for which the expected number of blocks is told."""
_MOST_CAMPAIGNS, _FEWEST_CAMPAIGNS = 400, 60
_MOST_AVERAGES = 8_000_000
"""Walsh averages that one look of the simulation may sort in all: about a second."""
_SEED = 20_240_601

_Bounds = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class _Seen:
    """What all simulated campaigns have at one look: shape (campaigns,) each; no bounds if there is no interval."""

    blocks: int
    points: NDArray[np.float64]
    bounds: _Bounds | None
    """Of the repeated 95 % interval."""
    narrow: _Bounds | None
    """Of the repeated 90 % interval, by which equivalence is judged."""


def look_foresights(spread: float, looks: tuple[int, ...], margin: float) -> tuple[LookForesight, ...]:
    """What each of the looks decides; ``spread``: the standard deviation of the block log-ratios."""
    found = []
    for seen in _campaigns(looks):
        inside = _inside(seen.narrow, spread, 0.0, margin, seen.points.size)
        slowest = None if seen.bounds is None else float(-np.quantile(spread * seen.bounds[0], 1 - POWER))
        found.append(
            LookForesight(
                blocks=seen.blocks,
                smallest_slowdown=None if slowest is None else math.expm1(slowest),
                within=float(inside.mean()),
            )
        )
    return tuple(found)


def expected_blocks(
    spread: float, design: Design, looks: tuple[int, ...], effects: Sequence[float] = EFFECTS
) -> tuple[ExpectedBlocks, ...]:
    """How many blocks an arm runs on average until it stops, for each overhead; conditions are not simulated."""
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
    low, high, point = (np.expm1(spread * part + shift) for part in (*look.bounds, look.points))
    enough = np.maximum(design.precise_absolute, design.precise_relative * np.abs(point))
    equivalent = _inside(look.bounds, spread, shift, design.margin, look.points.size)
    return np.asarray(((high - low) / 2 <= enough) | equivalent)


def _inside(
    bounds: _Bounds | None, spread: float, shift: float, margin: float, count: int
) -> NDArray[np.bool_]:
    if bounds is None:
        return np.zeros(count, dtype=bool)
    low, high = (spread * part + shift for part in bounds)
    return np.asarray((low > math.log1p(-margin)) & (high < math.log1p(margin)))


@lru_cache(maxsize=16)
def _campaigns(looks: tuple[int, ...]) -> tuple[_Seen, ...]:
    """Simulate campaigns with a standard deviation of 1 and no overhead."""
    most = looks[-1] * (looks[-1] + 1) // 2
    count = max(_FEWEST_CAMPAIGNS, min(_MOST_CAMPAIGNS, _MOST_AVERAGES // most))
    values = np.random.default_rng(_SEED).normal(size=(count, looks[-1]))
    spent = tuple(spending(look, looks[-1]) for look in looks)
    stages = zip(boundary(looks, spent, ERROR), boundary(looks, spent, 2 * ERROR), strict=True)
    return tuple(
        _look(values[:, :look], strict, loose) for look, (strict, loose) in zip(looks, stages, strict=True)
    )


def _look(values: NDArray[np.float64], strict: Stage, loose: Stage) -> _Seen:
    """One campaign after the other: the Walsh averages of all together may not fit into memory."""
    cuts = [stage.critical for stage in (strict, loose) if stage.critical is not None]
    rows = []
    for row in values:
        averages = walsh_averages(row)
        places = [place for cut in cuts for place in (cut, -1 - cut)]
        rows.append([float(np.median(averages)), *(float(averages[place]) for place in places)])
    table = np.asarray(rows)
    pairs = [(table[:, 1 + 2 * place], table[:, 2 + 2 * place]) for place in range(len(cuts))]
    return _Seen(
        blocks=strict.n,
        points=table[:, 0],
        bounds=None if strict.critical is None else pairs[0],
        narrow=None if loose.critical is None else pairs[-1],
    )
