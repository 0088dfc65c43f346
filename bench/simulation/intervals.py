# SPDX-License-Identifier: Apache-2.0
"""Tare's own intervals for many campaigns at once; tests/analyze proves each equal to what Tare computes for one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.simulation.scenarios import Floats
from tare.analyze.boundary import ERROR, boundary, constant_spending, spending
from tare.analyze.signed_rank import LEVEL, critical_value, lower_tail, walsh_averages
from tare.records import Design

LOOKS = (10, 16, 24, 32)
"""Tare's default."""
Bools = NDArray[np.bool_]
Bounds = tuple[Floats, Floats]
"""Low and high of each campaign, as logarithms."""
_AT_ONCE = 4_000_000
"""Walsh averages in memory."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What each campaign's last look saw."""

    look: NDArray[np.intp]
    """Its place among the looks."""
    low: Floats
    high: Floats
    blocks: NDArray[np.intp]


def chunks(values: Floats) -> Iterator[Floats]:
    """So many campaigns that their Walsh averages fit into memory."""
    n = values.shape[-1]
    count = max(1, _AT_ONCE // (n * (n + 1) // 2))
    yield from (values[begin : begin + count] for begin in range(0, len(values), count))


def signed_rank(log_ratios: Floats, level: float = LEVEL) -> Bounds:
    """``hodges_lehmann``'s interval of each row."""
    critical = critical_value(log_ratios.shape[-1], level)
    if critical is None:
        raise ValueError(f"{log_ratios.shape[-1]} values have no interval at {level}")
    return at(log_ratios, critical)


def at(log_ratios: Floats, critical: int) -> Bounds:
    """``interval_at`` of each row."""
    low, high = [], []
    for rows in chunks(log_ratios):
        averages = walsh_averages(rows)
        low.append(averages[:, critical])
        high.append(averages[:, -1 - critical])
    return np.concatenate(low), np.concatenate(high)


def points(log_ratios: Floats) -> Floats:
    """``hodges_lehmann``'s point of each row."""
    return np.concatenate([np.median(walsh_averages(rows), axis=-1) for rows in chunks(log_ratios)])


def difference_p(log_ratios: Floats) -> Floats:
    """``evidence.difference_p`` of each row, the number of blocks being fixed."""
    tail = lower_tail(log_ratios.shape[-1])
    found = []
    for rows in chunks(log_ratios):
        averages = walsh_averages(rows)
        least = np.minimum(np.sum(averages <= 0, axis=-1), np.sum(averages >= 0, axis=-1))
        found.append(np.minimum(1.0, 2 * tail[least]))
    return np.concatenate(found)


def repeated(log_ratios: Floats, looks: Sequence[int] = LOOKS, error: float = ERROR) -> list[Bounds]:
    """The repeated intervals of ``analyze.looks`` at every look."""
    return _at_looks(log_ratios, looks, tuple(spending(n, looks[-1]) for n in looks), error)


def deciding(log_ratios: Floats, looks: Sequence[int] = LOOKS) -> list[Bounds]:
    """The intervals that ``analyze.decisions`` decides by at every look."""
    return _at_looks(log_ratios, looks, constant_spending(tuple(looks)), ERROR)


def stopped(log_ratios: Floats, design: Design) -> Seen:
    """Where each campaign stops by ``analyze.looks``: precise enough, within the margin, or out of blocks."""
    bounds = repeated(log_ratios, design.looks)
    look = np.full(len(log_ratios), len(design.looks) - 1)
    for place in reversed(range(len(design.looks) - 1)):
        low, high = map(np.expm1, bounds[place])
        point = np.expm1(points(log_ratios[:, : design.looks[place]]))
        enough = np.maximum(design.precise_absolute, design.precise_relative * np.abs(point))
        equivalent = (-design.margin < low) & (high < design.margin)
        look[equivalent | ((high - low) / 2 <= enough)] = place
    rows = np.arange(len(log_ratios))
    low, high = (np.stack(side)[look, rows] for side in zip(*bounds, strict=True))
    return Seen(look=look, low=low, high=high, blocks=np.asarray(design.looks)[look])


def covers(bounds: Bounds, truth: float | Floats) -> Bools:
    return (bounds[0] <= truth) & (truth <= bounds[1])


def excludes_0(bounds: Bounds) -> Bools:
    return ~covers(bounds, 0.0)


def inside(bounds: Bounds, margin: float) -> Bools:
    """Whether an equivalence test passes: the interval lies wholly within ±``margin``."""
    return np.asarray((np.log1p(-margin) < bounds[0]) & (bounds[1] < np.log1p(margin)))


def pseudo_median(log_ratios: Floats, generator: np.random.Generator) -> float:
    """What the signed ranks estimate, from very many blocks: the median of the mean of two of them."""
    flat = log_ratios.ravel()
    return float(np.median((flat + generator.permutation(flat)) / 2))


def _at_looks(
    log_ratios: Floats, looks: Sequence[int], spent: tuple[float, ...], error: float
) -> list[Bounds]:
    stages = boundary(tuple(looks), spent, error)
    infinite = np.full(len(log_ratios), np.inf)
    return [
        (-infinite, infinite) if stage.critical is None else at(log_ratios[:, : stage.n], stage.critical)
        for stage in stages
    ]
