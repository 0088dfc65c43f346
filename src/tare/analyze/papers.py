# SPDX-License-Identifier: Apache-2.0
"""The papers' own treatments, for replication only: nothing else in Tare reads their results.

Like the papers, they average rates directly and compare unpaired arms; docs/method.md says what that costs.
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence

from tare.records import ArmFigure, BlockValue, Direction, Overhead, Replication, Treatment
from tare.statistics.student import mean_estimate

_BEST_OF = 5
_FEWEST_TRIMMED = 3


def replications(overheads: Sequence[Overhead], treatment: Treatment) -> tuple[Replication, ...]:
    """Treat the runs as a paper did; only the first native slot of each block counts, for arms of equal size.

    A summary with too few runs for the treatment is left out.
    """
    replicated = (_replication(overhead, treatment) for overhead in overheads)
    return tuple(each for each in replicated if each)


def _replication(overhead: Overhead, treatment: Treatment) -> Replication | None:
    summary = overhead.summary
    figure = _FIGURES[treatment]
    native = figure(_natives(summary.blocks), summary.direction)
    here = figure([block.environment for block in summary.blocks], summary.direction)
    if native is None or here is None:
        return None
    ratio = here.value / native.value
    return Replication(
        treatment=treatment,
        cell=summary.cell,
        environment=summary.environment,
        metric=summary.metric,
        unit=summary.unit,
        primary=summary.primary,
        native=native,
        here=here,
        percent_of_native=100 * ratio,
        overhead=(ratio if summary.direction is Direction.LESS else 1 / ratio) - 1,
        ours=overhead.typical,
    )


def _natives(blocks: Sequence[BlockValue]) -> list[float]:
    return [block.native[0] for block in blocks]


def _trimmed(values: Sequence[float], _: Direction) -> ArmFigure | None:
    """B16: mean and standard deviation without the highest and the lowest value."""
    if len(values) < _FEWEST_TRIMMED:
        return None
    return _figure(sorted(values)[1:-1], len(values))


def _trimmed_with_variation(values: Sequence[float], direction: Direction) -> ArmFigure | None:
    """B17: as B16, with the coefficient of variation."""
    arm_figure = _trimmed(values, direction)
    if arm_figure is None or arm_figure.deviation is None:
        return arm_figure
    return ArmFigure(
        value=arm_figure.value,
        low=None,
        high=None,
        deviation=arm_figure.deviation,
        variation=arm_figure.deviation / arm_figure.value,
        runs=arm_figure.runs,
        used=arm_figure.used,
    )


def _mean_with_interval(values: Sequence[float], _: Direction) -> ArmFigure | None:
    """R15: the mean of all runs with a 95 % confidence interval, assumed to be Student's."""
    estimate = mean_estimate(values)
    return ArmFigure(
        value=estimate.point,
        low=estimate.low,
        high=estimate.high,
        deviation=_deviation(values),
        variation=None,
        runs=len(values),
        used=len(values),
    )


def _best(values: Sequence[float], direction: Direction) -> ArmFigure | None:
    """L12: of up to five runs the shortest time or the highest rate, and the standard deviation of all of them."""
    taken = values[:_BEST_OF]
    return ArmFigure(
        value=min(taken) if direction is Direction.LESS else max(taken),
        low=None,
        high=None,
        deviation=_deviation(taken),
        variation=None,
        runs=len(values),
        used=len(taken),
    )


def _figure(kept: Sequence[float], runs: int) -> ArmFigure:
    return ArmFigure(
        value=math.fsum(kept) / len(kept),
        low=None,
        high=None,
        deviation=_deviation(kept),
        variation=None,
        runs=runs,
        used=len(kept),
    )


def _deviation(values: Sequence[float]) -> float | None:
    return statistics.stdev(values) if len(values) > 1 else None


_FIGURES: Mapping[Treatment, Callable[[Sequence[float], Direction], ArmFigure | None]] = {
    Treatment.B16: _trimmed,
    Treatment.B17: _trimmed_with_variation,
    Treatment.R15: _mean_with_interval,
    Treatment.L12: _best,
}
