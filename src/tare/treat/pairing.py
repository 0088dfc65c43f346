# SPDX-License-Identifier: Apache-2.0
"""Each environment's trial beside the two native trials of the same block."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tare.records import (
    NATIVE,
    BlockValue,
    Cell,
    Direction,
    Environment,
    HostLoad,
    Outcome,
    Rule,
    Sample,
    Status,
    Summary,
    Trial,
)
from tare.treat.aggregate import log_time_per_work, usable, whole_trial
from tare.treat.busy import busiest

FIRST = " (first)"
"""Ends the name of a metric that is of the first iteration alone, where there are several: a cold run and the steady
ones after it are never mixed (Georges and others, OOPSLA 2007)."""


@dataclass(frozen=True, slots=True)
class Metric:
    """Samples of one name in another unit or direction are another metric."""

    name: str
    unit: str
    direction: Direction
    x: float | None = None
    """Where on a curve; ``None``: one figure."""
    x_unit: str | None = None


@dataclass(frozen=True, slots=True)
class Arm:
    """Who ran: an environment, or one of the two native slots."""

    environment: str
    replicate: int


OF_THE_HOST = frozenset({Rule.FOREIGN_LOAD, Rule.FREQUENCY})
"""The host was disturbed, and so may the other trials of the block be. A wrong clock is the environment's own."""
NATIVE_ARMS = (Arm(NATIVE, 0), Arm(NATIVE, 1))


@dataclass(slots=True)
class Table:
    """One cell's values, block by block; of ``OK`` outcomes alone."""

    begun: set[int] = field(default_factory=set)
    environments: set[str] = field(default_factory=set)
    metrics: dict[Metric, None] = field(default_factory=dict)
    """In the order in which the workload reports them."""
    values: dict[tuple[int, Arm, Metric], float] = field(default_factory=dict)
    loads: dict[tuple[int, Arm], HostLoad] = field(default_factory=dict)


def summaries(outcomes: Sequence[Outcome], primary_metrics: Mapping[str, str]) -> tuple[Summary, ...]:
    """One summary per cell, metric and environment other than native, whatever the outcomes' order.

    ``primary_metrics`` maps a workload's name to the sample name declared as its headline. Only ``OK``
    outcomes count. A block counts when both native slots and the environment have a usable value of the
    metric (see ``whole_trial``); every other begun block is dropped as a whole and counted, so a summary
    may hold no block at all. So is a block of which a trial was taken out as the host was disturbed. Raises
    ``ValueError`` when a trial stands twice among the outcomes.
    """
    return tuple(
        summary
        for cell, table in tables(outcomes, by_metric).items()
        for summary in _of_cell(cell, table, primary_metrics.get(cell.workload))
    )


def tables(
    outcomes: Sequence[Outcome], grouped: Callable[[Sequence[Sample]], dict[Metric, list[Sample]]]
) -> dict[Cell, Table]:
    """Lay out the values of every cell, the cells in order; ``grouped`` says which samples make one metric.

    Raises ``ValueError`` when a trial stands twice among the outcomes.
    """
    _refuse_repeats(outcomes)
    found: dict[Cell, Table] = {}
    disturbed = disturbed_blocks(outcomes)
    for outcome in sorted(outcomes, key=lambda each: (each.trial.block, each.trial.slot)):
        whole = (cell_of(outcome), outcome.trial.block) not in disturbed
        _enter(
            outcome, found.setdefault(cell_of(outcome), Table()), grouped(outcome.samples) if whole else {}
        )
    return {cell: found[cell] for cell in sorted(found, key=lambda each: (each.workload, each.layout))}


def cell_of(outcome: Outcome) -> Cell:
    return Cell(workload=outcome.trial.workload.name, layout=outcome.trial.setting)


def disturbed_blocks(outcomes: Sequence[Outcome]) -> frozenset[tuple[Cell, int]]:
    """The blocks of a cell that go as a whole, for every environment, since one of their trials was taken out."""
    return frozenset(
        (cell_of(outcome), outcome.trial.block) for outcome in outcomes if outcome.excluded_by in OF_THE_HOST
    )


def by_metric(samples: Sequence[Sample]) -> dict[Metric, list[Sample]]:
    """Group the samples that are one figure; those of a curve, which have an ``x``, are left out."""
    return _grouped(sample for sample in samples if sample.x is None)


def by_point(samples: Sequence[Sample]) -> dict[Metric, list[Sample]]:
    """Group the samples of curves, each ``x`` by itself; those without one, or with one not above 0, are left out."""
    return _grouped(sample for sample in samples if sample.x is not None and usable(sample.x))


def _grouped(samples: Iterable[Sample]) -> dict[Metric, list[Sample]]:
    found: dict[Metric, list[Sample]] = {}
    for sample in samples:
        name = f"{sample.name}{FIRST}" if sample.iteration == 0 else sample.name
        metric = Metric(name, sample.unit, sample.direction, sample.x, sample.x_unit)
        found.setdefault(metric, []).append(sample)
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
        f"block {trial.block}, {trial.workload.name}, {trial.setting}, "
        f"{trial.environment.name}, replicate {trial.replicate}"
    )


def _enter(outcome: Outcome, table: Table, samples_of: Mapping[Metric, Sequence[Sample]]) -> None:
    trial = outcome.trial
    table.begun.add(trial.block)
    if not _is_native(trial.environment):
        table.environments.add(trial.environment.name)
    if outcome.status is not Status.OK:
        return
    arm = Arm(trial.environment.name, trial.replicate)
    if outcome.load is not None:
        table.loads[trial.block, arm] = outcome.load
    for metric, samples in samples_of.items():
        table.metrics.setdefault(metric)
        value = whole_trial(samples, trial.layout.instances)
        if value is not None:
            table.values[trial.block, arm, metric] = value


def _of_cell(cell: Cell, table: Table, primary: str | None) -> Iterator[Summary]:
    for metric in sorted(table.metrics, key=lambda each: each.name != primary):
        for environment in sorted(table.environments):
            yield _summary(cell, table, metric, environment, primary=metric.name == primary)


def _summary(cell: Cell, table: Table, metric: Metric, environment: str, *, primary: bool) -> Summary:
    blocks = tuple(complete_blocks(table, metric, environment))
    return Summary(
        cell=cell,
        environment=environment,
        metric=metric.name,
        unit=metric.unit,
        direction=metric.direction,
        primary=primary,
        blocks=blocks,
        log_ratios=tuple(log_ratio(block, metric.direction) for block in blocks),
        control_log_ratios=tuple(control_log_ratio(block, metric.direction) for block in blocks),
        dropped_blocks=len(table.begun) - len(blocks),
    )


def complete_blocks(table: Table, metric: Metric, environment: str) -> Iterator[BlockValue]:
    arms = (*NATIVE_ARMS, Arm(environment, 0))
    for block in sorted(table.begun):
        first, second, other = (table.values.get((block, arm, metric)) for arm in arms)
        if first is not None and second is not None and other is not None:
            load = busiest(table.loads.get((block, arm)) for arm in arms)
            yield BlockValue(block=block, native=(first, second), environment=other, load=load)


def log_ratio(block: BlockValue, direction: Direction) -> float:
    first, second = (log_time_per_work(value, direction) for value in block.native)
    return log_time_per_work(block.environment, direction) - (first + second) / 2


def control_log_ratio(block: BlockValue, direction: Direction) -> float:
    first, second = (log_time_per_work(value, direction) for value in block.native)
    return second - first
