# SPDX-License-Identifier: Apache-2.0
"""What each of several instances achieved, besides the aggregate that is compared with native."""

from collections.abc import Sequence
from dataclasses import dataclass

from tare.records import Cell, Direction, Outcome, Status
from tare.treat.aggregate import median, over_iterations, usable
from tare.treat.pairing import Metric, blocks_left_out, by_metric, cell_of


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceFigure:
    """One instance's values of one metric over all ``OK`` trials of one environment, including native.

    They only describe and decide nothing: the instances of a trial share its luck, so they are not replicates.
    """

    cell: Cell
    environment: str
    metric: str
    unit: str
    direction: Direction
    instance: int
    median: float
    """In ``unit``; computed on time per unit of work."""
    minimum: float
    maximum: float
    n: int
    """Trials with a usable value; both native slots of a block count."""


@dataclass(frozen=True, slots=True)
class _Key:
    cell: Cell
    environment: str
    metric: Metric
    instance: int


def per_instance(outcomes: Sequence[Outcome]) -> tuple[InstanceFigure, ...]:
    """Median and range of each instance, for layouts with several instances.

    Ordered by cell, then metric as the workload reports them, then environment and instance. Values that
    are not finite or not above 0 are left out.
    """
    values: dict[_Key, list[float]] = {}
    metrics: dict[Metric, int] = {}
    left_out = blocks_left_out(outcomes)
    several = [outcome for outcome in outcomes if outcome.trial.layout.instances > 1]
    for outcome in sorted(several, key=lambda each: (each.trial.block, each.trial.slot)):
        if outcome.status is Status.OK and (cell_of(outcome), outcome.trial.block) not in left_out:
            _enter(outcome, values, metrics)
    keys = sorted(values, key=lambda key: _order(key, metrics))
    return tuple(_figure(key, values[key]) for key in keys)


def _enter(outcome: Outcome, values: dict[_Key, list[float]], metrics: dict[Metric, int]) -> None:
    for metric, samples in by_metric(outcome.samples).items():
        metrics.setdefault(metric, len(metrics))
        for sample in over_iterations(samples):
            if sample.instance is not None and usable(sample.value):
                key = _Key(cell_of(outcome), outcome.trial.environment.name, metric, sample.instance)
                values.setdefault(key, []).append(sample.value)


def _order(key: _Key, metrics: dict[Metric, int]) -> tuple[str, str, int, str, int]:
    return key.cell.workload, key.cell.layout, metrics[key.metric], key.environment, key.instance


def _figure(key: _Key, values: list[float]) -> InstanceFigure:
    return InstanceFigure(
        cell=key.cell,
        environment=key.environment,
        metric=key.metric.name,
        unit=key.metric.unit,
        direction=key.metric.direction,
        instance=key.instance,
        median=median(values, key.metric.direction),
        minimum=min(values),
        maximum=max(values),
        n=len(values),
    )
