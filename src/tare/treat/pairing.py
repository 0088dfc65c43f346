# SPDX-License-Identifier: Apache-2.0
"""Each environment's trial beside the two native trials of the same block."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tare.records import (
    NATIVE,
    BlockValue,
    Cell,
    Direction,
    Environment,
    Outcome,
    Sample,
    Status,
    Summary,
    Trial,
)
from tare.treat.aggregate import log_time_per_work, whole_trial


@dataclass(frozen=True, slots=True)
class Metric:
    """Samples of one name in another unit or direction are another metric."""

    name: str
    unit: str
    direction: Direction


@dataclass(frozen=True, slots=True)
class _Arm:
    environment: str
    replicate: int


_NATIVE_ARMS = (_Arm(NATIVE, 0), _Arm(NATIVE, 1))


@dataclass(slots=True)
class _Table:
    """One cell's values, block by block."""

    begun: set[int] = field(default_factory=set)
    environments: set[str] = field(default_factory=set)
    metrics: dict[Metric, None] = field(default_factory=dict)
    """In the order in which the workload reports them."""
    values: dict[tuple[int, _Arm, Metric], float] = field(default_factory=dict)


def summaries(outcomes: Sequence[Outcome], primary_metrics: Mapping[str, str]) -> tuple[Summary, ...]:
    """One summary per cell, metric and environment other than native, whatever the outcomes' order.

    ``primary_metrics`` maps a workload's name to the sample name declared as its headline. Only ``OK``
    outcomes count. A block counts when both native slots and the environment have a usable value of the
    metric (see ``whole_trial``); every other begun block is dropped as a whole and counted, so a summary
    may hold no block at all. Raises ``ValueError`` when a trial stands twice among the outcomes.
    """
    _refuse_repeats(outcomes)
    tables: dict[Cell, _Table] = {}
    for outcome in sorted(outcomes, key=lambda each: (each.trial.block, each.trial.slot)):
        _enter(outcome, tables.setdefault(cell_of(outcome), _Table()))
    return tuple(
        summary
        for cell in sorted(tables, key=lambda each: (each.workload, each.layout))
        for summary in _of_cell(cell, tables[cell], primary_metrics.get(cell.workload))
    )


def cell_of(outcome: Outcome) -> Cell:
    return Cell(workload=outcome.trial.workload.name, layout=str(outcome.trial.layout))


def by_metric(samples: Sequence[Sample]) -> dict[Metric, list[Sample]]:
    found: dict[Metric, list[Sample]] = {}
    for sample in samples:
        found.setdefault(Metric(sample.name, sample.unit, sample.direction), []).append(sample)
    return found


def _is_native(environment: Environment) -> bool:
    """Native under another name is a no-op environment: an arm like any other."""
    return environment.technology == NATIVE and environment.name == NATIVE


def _refuse_repeats(outcomes: Sequence[Outcome]) -> None:
    identities = Counter(outcome.trial.identity for outcome in outcomes)
    places = Counter(_place(outcome.trial) for outcome in outcomes)
    repeated = [what for counts in (identities, places) for what, count in counts.items() if count > 1]
    if repeated:
        raise ValueError(
            f"the journal holds more than one outcome of one trial: {repeated[0]}; "
            "keep one of the journal files that hold it"
        )


def _place(trial: Trial) -> str:
    return (
        f"block {trial.block}, {trial.workload.name}, {trial.layout}, "
        f"{trial.environment.name}, replicate {trial.replicate}"
    )


def _enter(outcome: Outcome, table: _Table) -> None:
    trial = outcome.trial
    table.begun.add(trial.block)
    if not _is_native(trial.environment):
        table.environments.add(trial.environment.name)
    if outcome.status is not Status.OK:
        return
    arm = _Arm(trial.environment.name, trial.replicate)
    for metric, samples in by_metric(outcome.samples).items():
        table.metrics.setdefault(metric)
        value = whole_trial(samples, trial.layout.instances)
        if value is not None:
            table.values[trial.block, arm, metric] = value


def _of_cell(cell: Cell, table: _Table, primary: str | None) -> Iterator[Summary]:
    for metric in sorted(table.metrics, key=lambda each: each.name != primary):
        for environment in sorted(table.environments):
            yield _summary(cell, table, metric, environment, primary=metric.name == primary)


def _summary(cell: Cell, table: _Table, metric: Metric, environment: str, *, primary: bool) -> Summary:
    blocks = tuple(_complete_blocks(table, metric, environment))
    return Summary(
        cell=cell,
        environment=environment,
        metric=metric.name,
        unit=metric.unit,
        direction=metric.direction,
        primary=primary,
        blocks=blocks,
        log_ratios=tuple(_log_ratio(block, metric.direction) for block in blocks),
        control_log_ratios=tuple(_control_log_ratio(block, metric.direction) for block in blocks),
        dropped_blocks=len(table.begun) - len(blocks),
    )


def _complete_blocks(table: _Table, metric: Metric, environment: str) -> Iterator[BlockValue]:
    for block in sorted(table.begun):
        first, second, other = (
            table.values.get((block, arm, metric)) for arm in (*_NATIVE_ARMS, _Arm(environment, 0))
        )
        if first is not None and second is not None and other is not None:
            yield BlockValue(block=block, native=(first, second), environment=other)


def _log_ratio(block: BlockValue, direction: Direction) -> float:
    first, second = (log_time_per_work(value, direction) for value in block.native)
    return log_time_per_work(block.environment, direction) - (first + second) / 2


def _control_log_ratio(block: BlockValue, direction: Direction) -> float:
    first, second = (log_time_per_work(value, direction) for value in block.native)
    return second - first
