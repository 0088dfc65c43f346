# SPDX-License-Identifier: Apache-2.0
"""Whether an environment's overhead depends on a factor: contrasts between levels, within blocks and against native.

In each block and at each level the environment's log-ratio to both natives is taken, and from it the first level's: a
dependence of native itself on the factor cancels. The test is of the largest of these contrasts in standard errors
(``statistics.simultaneous.exchange_p``), and all tests of a campaign are one family, as its verdicts are.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from tare.records import (
    Cell,
    Dependence,
    DependenceWord,
    Direction,
    Estimate,
    FactorCells,
    Family,
    LevelOverhead,
    Summary,
    Verdict,
)
from tare.statistics.estimate import as_fraction
from tare.statistics.multiplicity import ERROR, adjusted, holds
from tare.statistics.simultaneous import Band, band, exchange_p
from tare.units import TIMES_FROM, percent_ends

Floats = NDArray[np.float64]
_Metric = tuple[str, str, str, Direction]
"""Environment, metric, unit and direction."""
_COUNTED = frozenset({"hosts", "instances", "nodes", "processors"})
"""Factors of which there are fewer, not less."""


@dataclass(frozen=True, slots=True)
class _LevelRatios:
    """Log-ratios of blocks (rows) at levels (columns), averaged over other factors."""

    ratios: Floats
    controls: Floats

    @property
    def contrasts(self) -> tuple[Floats, Floats]:
        """Each level but the first, minus the first."""
        return self.ratios[:, 1:] - self.ratios[:, :1], self.controls[:, 1:] - self.controls[:, :1]


def dependences(
    verdicts: Sequence[Verdict], series: Sequence[FactorCells], additions: int = 0
) -> tuple[Dependence, ...]:
    """One for each factor, environment and metric that has verdicts at two levels or more.

    The primary ones are one family by Holm's procedure, all others another by Benjamini and Hochberg's. After each of
    the ``additions`` of blocks to a finished result, half of the previous error is left, as for verdicts.
    """
    looks = 2**additions
    by_cell: dict[Cell, dict[_Metric, Verdict]] = {}
    for verdict in verdicts:
        summary = verdict.overhead.summary
        metric = (summary.environment, summary.metric, summary.unit, summary.direction)
        by_cell.setdefault(summary.cell, {})[metric] = verdict
    single = [each for cells in series for each in _of_series(cells, by_cell, looks)]
    return tuple(map(_claimed, _in_families(single)))


def _of_series(
    cells: FactorCells, by_cell: Mapping[Cell, Mapping[_Metric, Verdict]], looks: int
) -> Iterator[Dependence]:
    """The metrics in the order of the first cell; levels without a verdict are left out."""
    metrics = dict.fromkeys(
        metric for group in cells.cells for cell in group for metric in by_cell.get(cell, {})
    )
    for metric in metrics:
        if cells.environments and metric[0] not in cells.environments:
            continue
        present = [all(metric in by_cell.get(cell, {}) for cell in group) for group in cells.cells]
        own = replace(
            cells,
            levels=tuple(level for level, is_there in zip(cells.levels, present, strict=True) if is_there),
            cells=tuple(group for group, is_there in zip(cells.cells, present, strict=True) if is_there),
        )
        if len(own.levels) > 1:
            yield _dependence(
                own, metric, [[by_cell[cell][metric] for cell in group] for group in own.cells], looks
            )


def _dependence(
    cells: FactorCells, metric: _Metric, groups: Sequence[Sequence[Verdict]], looks: int
) -> Dependence:
    environment, name, unit, direction = metric
    table = _table([[verdict.overhead.summary for verdict in group] for group in groups])
    every = [verdict for group in groups for verdict in group]
    p = exchange_p(*table.contrasts)
    return Dependence(
        cells=cells,
        environment=environment,
        metric=name,
        unit=unit,
        direction=direction,
        primary=every[0].overhead.summary.primary,
        levels=_levels(cells, table, ERROR / looks),
        n=len(table.ratios),
        word=DependenceWord.UNKNOWN,
        claim="",
        p=None if p is None else min(1.0, looks * p),
        withheld=next((verdict.set_aside for verdict in every if verdict.set_aside), None),
    )


def _table(groups: Sequence[Sequence[Summary]]) -> _LevelRatios:
    numbers = [{block.block for block in own.blocks} for group in groups for own in group]
    common = sorted(set.intersection(*numbers))

    def columns(values: str) -> Floats:
        return np.column_stack([_means(group, values, common) for group in groups])

    return _LevelRatios(columns("log_ratios"), columns("control_log_ratios"))


def _means(group: Sequence[Summary], values: str, blocks: Sequence[int]) -> Floats:
    """Over the cells of a level, for each block."""
    rows = [
        dict(zip((block.block for block in own.blocks), getattr(own, values), strict=True)) for own in group
    ]
    return np.array([fmean(row[block] for row in rows) for block in blocks], dtype=np.float64)


def _levels(cells: FactorCells, table: _LevelRatios, error: float) -> tuple[LevelOverhead, ...]:
    differences, apart = table.contrasts
    overheads = _estimates(table.ratios, band(table.ratios, table.controls, error), 1 - error)
    beyond = _estimates(differences, band(differences, apart, error), 1 - error)
    if not len(table.ratios):
        return ()
    return tuple(
        LevelOverhead(level=level, overhead=overhead, beyond_first=more)
        for level, overhead, more in zip(cells.levels, overheads, (None, *beyond), strict=True)
    )


def _estimates(values: Floats, around: Band | None, level: float) -> list[Estimate]:
    """The robust means as fractions, with their parts of the band; too few blocks have plain means."""
    n = len(values)
    if around is None:
        points = values.mean(axis=0).tolist() if n else []
        return [as_fraction(Estimate(point=point, low=None, high=None, level=level, n=n)) for point in points]
    ends = zip(around.centre.tolist(), around.low.tolist(), around.high.tolist(), strict=True)
    return [
        as_fraction(Estimate(point=point, low=low, high=high, level=level, n=n)) for point, low, high in ends
    ]


def _in_families(dependences: Sequence[Dependence]) -> list[Dependence]:
    """A dependence that cannot be tested, or is withheld, still counts as one that could be claimed."""
    judged = list(dependences)
    for family in Family:
        places = [place for place, each in enumerate(judged) if each.family is family]
        p_values = [1.0 if (p := judged[place].p) is None else p for place in places]
        for place, p in zip(
            places, adjusted(p_values, exploratory=family is Family.EXPLORATORY), strict=True
        ):
            judged[place] = replace(judged[place], adjusted_p=None if judged[place].p is None else p)
    return judged


def _claimed(dependence: Dependence) -> Dependence:
    key = dependence.cells.key
    if dependence.withheld:
        return replace(dependence, claim=f"too busy to tell whether it depends on {key}")
    if dependence.adjusted_p is None:
        blocks = "1 block" if dependence.n == 1 else f"{dependence.n} blocks"
        return replace(dependence, claim=f"{blocks} are too few to tell whether it depends on {key}")
    together = f"(all levels together, n = {dependence.n})"
    clear = [
        level for level in dependence.levels if level.beyond_first and _excludes_none(level.beyond_first)
    ]
    if holds(dependence.adjusted_p) and clear:
        return replace(
            dependence, word=DependenceWord.DEPENDS, claim=f"{_difference_said(dependence, clear)} {together}"
        )
    return replace(
        dependence,
        word=DependenceWord.NOT_SHOWN,
        claim=f"does not show a dependence on {key}; {_widest_said(dependence)} {together}",
    )


def _excludes_none(beyond: Estimate) -> bool:
    return beyond.low is not None and beyond.high is not None and (beyond.low > 0 or beyond.high < 0)


def _difference_said(dependence: Dependence, clear: Sequence[LevelOverhead]) -> str:
    """For example "costs more with less memory: 2 to 5 % more at 256 MiB than at 1 GiB"."""
    first = dependence.levels[0].level
    farthest = max(clear, key=lambda each: abs(_log(each.beyond_first)))
    beyond = farthest.beyond_first
    low, high = (_logarithm(beyond.low), _logarithm(beyond.high)) if beyond else (0.0, 0.0)
    more, less = (farthest.level, first) if low > 0 else (first, farthest.level)
    ends = sorted(abs(math.expm1(end)) for end in ((low, high) if low > 0 else (-high, -low)))
    direction = _direction_said(dependence, more.number, less.number)
    return f"{direction}: {_span_said(*ends)} at {more.text} than at {less.text}"


def _span_said(low: float, high: float) -> str:
    if low >= TIMES_FROM:
        return f"{1 + low:.0f} to {1 + high:.0f} times as much"
    near, far = percent_ends(low, high)
    return f"{near if near == far else f'{near} to {far}'} % more"


def _direction_said(dependence: Dependence, more: float | None, less: float | None) -> str:
    """With the direction only where the overhead rises, or falls, from each level to the next."""
    key = dependence.cells.key
    numbered = [
        (each.level.number, each.overhead.point)
        for each in dependence.levels
        if each.level.number is not None
    ]
    points = [point for _, point in sorted(numbered)]
    steps = {after > before for before, after in pairwise(points)}
    if more is None or less is None or len(steps) != 1:
        return f"depends on {key}"
    fewer = "fewer" if key in _COUNTED else "less"
    return f"costs more with {'more' if more > less else fewer} {key}"


def _widest_said(dependence: Dependence) -> str:
    ends = [
        abs(end)
        for level in dependence.levels
        if level.beyond_first
        for end in (level.beyond_first.low, level.beyond_first.high)
        if end is not None
    ]
    widest = max(ends, default=math.inf)
    return (
        f"differences within \N{PLUS-MINUS SIGN}{percent_ends(0.0, widest)[1]} %"
        if ends
        else "differences not known"
    )


def _log(estimate: Estimate | None) -> float:
    return 0.0 if estimate is None else _logarithm(estimate.point)


def _logarithm(fraction: float | None) -> float:
    return 0.0 if fraction is None else math.log1p(max(fraction, -1 + 1e-12))
