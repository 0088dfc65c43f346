# SPDX-License-Identifier: Apache-2.0
"""The papers' own treatments, for replication only: nothing else in Tare reads their results.

Like the papers, they average rates directly and compare unpaired arms; docs/method.md says what that costs.
"""

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from tare.analyze.contrasts import between_two
from tare.records import (
    NATIVE,
    Analysis,
    ArmFigure,
    BlockValue,
    Cell,
    Coordinate,
    CurveEstimate,
    Direction,
    Estimate,
    Outcome,
    Overhead,
    Replication,
    SharingLoss,
    Status,
    Treatment,
)
from tare.statistics.contrasts import estimate
from tare.statistics.estimate import as_fraction
from tare.statistics.student import mean_estimate
from tare.treat.pairing import Metric, blocks_left_out, by_metric, cell_of
from tare.treat.sharing import instance_logs

_BEST_OF = 5
_FEWEST_TRIMMED = 3


def replications(overheads: Sequence[Overhead], treatment: Treatment) -> tuple[Replication, ...]:
    """Treat the runs as a paper did; only the first native slot of each block counts, for arms of equal size.

    A summary with too few runs for the treatment is left out.
    """
    replicated = (_replication(overhead, treatment) for overhead in overheads)
    return tuple(each for each in replicated if each)


def all_replications(analysis: Analysis, treatment: Treatment) -> tuple[Replication, ...]:
    """The same for all that a result has: figures, instances, losses with company, and points of curves."""
    primary = {
        (verdict.overhead.summary.cell, verdict.overhead.summary.metric)
        for verdict in analysis.verdicts
        if verdict.overhead.summary.primary
    }
    return (
        *replications([verdict.overhead for verdict in analysis.verdicts], treatment),
        *_instances(analysis.outcomes, primary, treatment),
        *(each for loss in analysis.sharing for each in _losses(loss, treatment)),
        *_points(analysis.curves, treatment),
    )


def _replication(overhead: Overhead, treatment: Treatment) -> Replication | None:
    summary = overhead.summary
    made = _made(
        treatment,
        summary.cell,
        summary.environment,
        Metric(summary.metric, summary.unit, summary.direction),
        _natives(summary.blocks),
        [block.environment for block in summary.blocks],
        overhead.typical,
    )
    return replace(made, primary=summary.primary) if made else None


def _made(
    treatment: Treatment,
    cell: Cell,
    environment: str,
    metric: Metric,
    reference: Sequence[float],
    values: Sequence[float],
    ours: Estimate,
) -> Replication | None:
    """``None`` where there are too few runs."""
    figure = _FIGURES[treatment]
    native, here = (figure(own, metric.direction) for own in (reference, values))
    if native is None or here is None:
        return None
    ratio = here.value / native.value
    return Replication(
        treatment=treatment,
        cell=cell,
        environment=environment,
        metric=metric.name,
        unit=metric.unit,
        primary=True,
        native=native,
        here=here,
        percent_of_native=100 * ratio,
        overhead=(ratio if metric.direction is Direction.LESS else 1 / ratio) - 1,
        ours=ours,
    )


_Logs = dict[int, tuple[float, ...]]
"""Block → ln(time per work) of each instance, in the first of native's two runs."""


def _instances(
    outcomes: Sequence[Outcome], primary: set[tuple[Cell, str]], treatment: Treatment
) -> Iterator[Replication]:
    """Each instance of a layout with several, beside native's of the same number."""
    runs: dict[tuple[Cell, Metric], dict[str, _Logs]] = {}
    left_out = blocks_left_out(outcomes)
    for outcome in outcomes:
        trial, cell = outcome.trial, cell_of(outcome)
        if trial.layout.instances == 1 or trial.replicate or outcome.status is not Status.OK:
            continue
        for metric, samples in by_metric(outcome.samples).items():
            if (
                (cell, metric.name) in primary
                and (cell, trial.block) not in left_out
                and not metric.coordinates
            ):
                logs = instance_logs(samples, trial.layout.instances)
                if logs:
                    own = runs.setdefault((cell, metric), {}).setdefault(trial.environment.name, {})
                    own[trial.block] = logs
    for (cell, metric), by_environment in runs.items():
        native = by_environment.pop(NATIVE, {})
        losses = [
            each
            for environment, own in sorted(by_environment.items())
            for each in _each_instance(treatment, cell, environment, metric, native, own)
        ]
        yield from sorted(losses, key=lambda each: each.instance or 0)


def _each_instance(
    treatment: Treatment, cell: Cell, environment: str, metric: Metric, native: _Logs, own: _Logs
) -> Iterator[Replication]:
    blocks = sorted(native.keys() & own.keys())
    for instance in range(len(own[blocks[0]]) if blocks else 0):
        theirs = [native[block][instance] for block in blocks]
        ours = [own[block][instance] for block in blocks]
        made = _from_logs(treatment, cell, environment, metric, theirs, ours)
        if made:
            yield replace(made, instance=instance)


def _from_logs(
    treatment: Treatment,
    cell: Cell,
    environment: str,
    metric: Metric,
    reference: Sequence[float],
    logs: Sequence[float],
) -> Replication | None:
    """From ln(time per work) of both; ours is of their differences."""
    difference = [own - other for own, other in zip(logs, reference, strict=True)]
    sign = 1 if metric.direction is Direction.LESS else -1
    return _made(
        treatment,
        cell,
        environment,
        metric,
        [math.exp(sign * log) for log in reference],
        [math.exp(sign * log) for log in logs],
        as_fraction(estimate(between_two(difference))),
    )


def _losses(loss: SharingLoss, treatment: Treatment) -> Iterator[Replication]:
    """Each instance with company, beside the same alone."""
    summary = loss.summary
    metric = Metric(summary.metric, summary.unit, summary.direction)
    for instance, ours in enumerate(loss.each):
        logs = [own[instance] for own in summary.log_times]
        alone = [log - own[instance] for log, own in zip(logs, summary.log_losses, strict=True)]
        made = _from_logs(treatment, summary.cells.shared, summary.environment, metric, alone, logs)
        if made:
            yield replace(
                made,
                ours=ours,
                primary=summary.primary,
                against=summary.cells.alone.layout,
                instance=instance if len(loss.each) > 1 else None,
            )


def _points(curves: Sequence[CurveEstimate], treatment: Treatment) -> Iterator[Replication]:
    """Each point of a curve, beside native's; native's values are means of its two runs."""
    natives = {
        (each.curve.cell, each.curve.metric): {point.at: point for point in each.curve.points}
        for each in curves
        if each.curve.environment == NATIVE
    }
    for each in curves:
        curve = each.curve
        known = natives.get((curve.cell, curve.metric), {})
        if curve.environment == NATIVE:
            continue
        metric = Metric(curve.metric, curve.unit, curve.direction)
        for place, own in zip(each.points, curve.points, strict=True):
            if place.overhead is None or own.at not in known:
                continue
            native = known[own.at].values
            made = _made(treatment, curve.cell, curve.environment, metric, native, own.values, place.overhead)
            if made:
                at = tuple(
                    Coordinate(dimension.name, value, dimension.unit)
                    for dimension, value in zip(curve.dimensions, own.at, strict=True)
                )
                yield replace(made, primary=False, at=at)


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
