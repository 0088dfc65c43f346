# SPDX-License-Identifier: Apache-2.0
"""Trials with several runs per start: which ones are compared with native, and the series of their iterations."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tare.records import Cell, IterationSeries, Outcome, Sample, Status
from tare.treat.aggregate import log_time_per_work, whole_trial
from tare.treat.pairing import cell_of

_Key = tuple[Cell, str]


def compared(outcomes: Iterable[Outcome]) -> tuple[Outcome, ...]:
    """All outcomes except order experiments, which are compared with each other."""
    return tuple(outcome for outcome in outcomes if outcome.trial.series is None)


def iteration_series(
    outcomes: Sequence[Outcome], primary_metrics: Mapping[str, str]
) -> tuple[IterationSeries, ...]:
    """Primary metrics of workloads with iterations, ordered by cell and environment; only ``OK`` outcomes count."""
    series: dict[_Key, list[tuple[float, ...]]] = {}
    for outcome in sorted(outcomes, key=lambda each: (each.trial.block, each.trial.slot)):
        metric = primary_metrics.get(outcome.trial.workload.name)
        if outcome.status is Status.OK and metric and outcome.trial.workload.iterations > 1:
            starts = series.setdefault((cell_of(outcome), outcome.trial.environment.name), [])
            starts += _log_times(outcome, metric)
    return tuple(
        IterationSeries(
            cell=cell,
            environment=name,
            metric=primary_metrics[cell.workload],
            starts=tuple(series[cell, name]),
        )
        for cell, name in sorted(series, key=_order)
    )


def _order(key: _Key) -> tuple[str, str, str]:
    return key[0].workload, key[0].layout, key[1]


def _log_times(outcome: Outcome, metric: str) -> Iterator[tuple[float, ...]]:
    """One series, or none when an iteration is missing."""
    runs = by_iteration(outcome.samples, metric)
    values = [whole_trial(samples, outcome.trial.layout.instances) for samples in runs]
    known = [value for value in values if value is not None]
    if len(known) == outcome.trial.workload.iterations == len(values):
        yield tuple(log_time_per_work(value, runs[0][0].direction) for value in known)


def by_iteration(samples: Iterable[Sample], metric: str) -> list[list[Sample]]:
    """The samples of one figure, iteration by iteration."""
    groups: dict[int, list[Sample]] = {}
    for sample in samples:
        if sample.name == metric and sample.x is None:
            groups.setdefault(sample.iteration or 0, []).append(sample)
    return [groups[iteration] for iteration in sorted(groups)]
