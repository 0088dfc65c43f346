# SPDX-License-Identifier: Apache-2.0
"""The primary metrics down to the iterations of each start, and the costs of starts and iterations."""

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tare.records import NATIVE, BlockStarts, Cell, IterationSeries, Levels, Outcome, Sample, Start, Status
from tare.treat.aggregate import log_time_per_work, whole_trial
from tare.treat.pairing import blocks_left_out, cell_of

_Key = tuple[Cell, str]
_Arm = tuple[str, int]
_NATIVES: tuple[_Arm, _Arm] = ((NATIVE, 0), (NATIVE, 1))


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
        if sample.name == metric and not sample.coordinates:
            groups.setdefault(sample.iteration or 0, []).append(sample)
    return [groups[iteration] for iteration in sorted(groups)]


def levels(outcomes: Sequence[Outcome], primary_metrics: Mapping[str, str]) -> tuple[Levels, ...]:
    """One record of the primary metric per cell and non-native environment; complete blocks only.

    The first of several iterations is left out, as in the metric itself. Several instances are joined iteration by
    iteration, as in ``whole_trial``.
    """
    cells: dict[Cell, list[Outcome]] = {}
    left_out = blocks_left_out(outcomes)
    for outcome in outcomes:
        if outcome.status is Status.OK and (cell_of(outcome), outcome.trial.block) not in left_out:
            cells.setdefault(cell_of(outcome), []).append(outcome)
    ordered = sorted(cells, key=lambda cell: (cell.workload, cell.layout))
    return tuple(
        record
        for cell in ordered
        if cell.workload in primary_metrics
        for record in _of_cell(cell, cells[cell], primary_metrics[cell.workload])
    )


def _of_cell(cell: Cell, outcomes: Sequence[Outcome], metric: str) -> Iterator[Levels]:
    starts: dict[_Arm, dict[int, Start]] = {}
    for outcome in outcomes:
        trial = outcome.trial
        if start := _start(outcome, metric):
            starts.setdefault((trial.environment.name, trial.replicate), {})[trial.block] = start
    for name in sorted({arm[0] for arm in starts if arm not in _NATIVES}):
        own = [outcome for outcome in outcomes if outcome.trial.environment.name == name]
        yield Levels(
            cell=cell,
            environment=name,
            metric=metric,
            blocks=tuple(_blocks(starts, name)),
            start_cost_s=_median([_start_cost_s(outcome) for outcome in own]),
            iteration_cost_s=_median([_iteration_cost_s(outcome, metric) for outcome in own]),
        )


def _blocks(starts: Mapping[_Arm, Mapping[int, Start]], name: str) -> Iterator[BlockStarts]:
    first, second, own = (starts.get(arm, {}) for arm in (*_NATIVES, (name, 0)))
    for block in sorted(first.keys() & second.keys() & own.keys()):
        yield BlockStarts(native=(first[block], second[block]), environment=own[block])


def _start(outcome: Outcome, metric: str) -> Start | None:
    """``None`` when an iteration is missing: an incomplete trial does not count."""
    runs = by_iteration(outcome.samples, metric)
    if len(runs) > 1:
        runs = runs[1:]  # the first is cold: another metric
    values = [whole_trial(samples, outcome.trial.layout.instances) for samples in runs]
    known = [
        log_time_per_work(value, samples[0].direction)
        for value, samples in zip(values, runs, strict=True)
        if value is not None
    ]
    if not known or len(known) < len(values):
        return None
    return Start(block=outcome.trial.block, log_times=tuple(known))


def _start_cost_s(outcome: Outcome) -> float | None:
    if outcome.node_start_s is None or outcome.node_stop_s is None:
        return None
    return outcome.node_start_s + outcome.node_stop_s


def _iteration_cost_s(outcome: Outcome, metric: str) -> float | None:
    """The rest of the trial's time, divided by its iterations."""
    cost_s, count = _start_cost_s(outcome), len(by_iteration(outcome.samples, metric))
    if cost_s is None or not count or outcome.elapsed_s <= cost_s:
        return None
    return (outcome.elapsed_s - cost_s) / count


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None
