# SPDX-License-Identifier: Apache-2.0
"""Each environment's trial beside the two native trials of the same block."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tare.records import (
    NATIVE,
    BlockRounds,
    BlockValue,
    Cell,
    Coordinate,
    Direction,
    Environment,
    HostLoad,
    Outcome,
    Rule,
    Sample,
    Status,
    Summary,
    Trial,
    Way,
    is_without_load,
)
from tare.records.busy import BusyBlocks, busiest
from tare.treat.aggregate import log_time_per_work, usable, whole_trial
from tare.treat.busy import apart, counted, parted
from tare.treat.rounds import block_rounds, round_times

FIRST = " (first)"
"""Suffix of a metric of the first iteration alone, where there are several: a cold run is never mixed with the steady
ones after it (Georges and others, OOPSLA 2007)."""


@dataclass(frozen=True, slots=True)
class Metric:
    """Identity of a metric: samples of the same name in another unit or direction are another metric."""

    name: str
    unit: str
    direction: Direction
    coordinates: tuple[Coordinate, ...] = ()
    """Place on a curve; empty for a single figure."""


@dataclass(frozen=True, slots=True)
class Arm:
    """Who ran: an environment, or one of the two native slots."""

    environment: str
    replicate: int


_Place = tuple[str, str, tuple[tuple[float, str], ...]]
OF_THE_HOST = frozenset({Rule.FOREIGN_LOAD, Rule.FREQUENCY})
"""Rules about a disturbed host, which may affect the block's other trials. A wrong clock is the environment's own."""
NATIVE_ARMS = (Arm(NATIVE, 0), Arm(NATIVE, 1))


@dataclass(slots=True)
class BlockTable:
    """One cell's values, block by block; only of ``OK`` outcomes."""

    begun: set[int] = field(default_factory=set)
    environments: set[str] = field(default_factory=set)
    metrics: dict[Metric, None] = field(default_factory=dict)
    """In the order in which the workload reports them."""
    values: dict[tuple[int, Arm, Metric], float] = field(default_factory=dict)
    loads: dict[tuple[int, Arm], HostLoad] = field(default_factory=dict)
    rounds: dict[tuple[int, Arm, Metric], Mapping[int, float]] = field(default_factory=dict)
    """For arms that took turns: round → ln(time per work)."""
    together: dict[tuple[int, Arm], str] = field(default_factory=dict)
    """The group that took turns together: only arms of the same group are compared."""


def summaries(
    outcomes: Sequence[Outcome], primary_metrics: Mapping[str, tuple[str, ...]]
) -> tuple[Summary, ...]:
    """One summary per cell, metric and non-native environment, in any order of outcomes.

    ``primary_metrics`` maps a workload's name to the sample names declared as its headlines. Only ``OK`` outcomes
    count. A block counts when both native slots and the environment have a usable value of the metric (see
    ``whole_trial``). Every other begun block, and each of ``blocks_left_out``, is dropped as a whole and counted, so a
    summary may hold no block at all. Busy blocks are left out where enough others remain (``treat.busy``). Raises
    ``ValueError`` when a trial occurs twice among the outcomes.
    """
    return tuple(
        summary
        for cell, table in tables(outcomes, by_metric).items()
        for summary in _of_cell(cell, table, primary_metrics.get(cell.workload, ()))
    )


def tables(
    outcomes: Sequence[Outcome], grouped: Callable[[Sequence[Sample]], dict[Metric, list[Sample]]]
) -> dict[Cell, BlockTable]:
    """Lay out the values of every cell, the cells in order; ``grouped`` groups samples into metrics.

    Raises ``ValueError`` when a trial occurs twice among the outcomes.
    """
    _refuse_repeats(outcomes)
    block_tables: dict[Cell, BlockTable] = {}
    left_out = blocks_left_out(outcomes)
    places: dict[Cell, _Place] = {}
    for outcome in sorted(outcomes, key=lambda each: (each.trial.block, each.trial.slot)):
        cell = cell_of(outcome)
        if cell not in places:
            places[cell] = _reading_place(outcome.trial)
        whole = (cell, outcome.trial.block) not in left_out
        _enter(
            outcome, block_tables.setdefault(cell, BlockTable()), grouped(outcome.samples) if whole else {}
        )
    return {cell: block_tables[cell] for cell in sorted(block_tables, key=places.__getitem__)}


def _reading_place(trial: Trial) -> _Place:
    """Where a cell stands among the others: by workload, layout and company, and then by its levels, rising."""
    levels = tuple((level.number or 0.0, level.text) for level in trial.levels)
    return trial.workload.name, replace(trial, levels=()).setting, levels


def cell_of(outcome: Outcome) -> Cell:
    return Cell(workload=outcome.trial.workload.name, layout=outcome.trial.setting)


def blocks_left_out(outcomes: Sequence[Outcome]) -> frozenset[tuple[Cell, int]]:
    """The blocks of a cell that are dropped as a whole, for every environment.

    One of their trials was excluded because the host was disturbed, or they were not measured like most of the cell's
    trials: times by turns and times of whole runs are never summarized together.
    """
    disturbed = {
        (cell_of(outcome), outcome.trial.block) for outcome in outcomes if outcome.excluded_by in OF_THE_HOST
    }
    return frozenset(disturbed | _in_another_way(outcomes))


def _in_another_way(outcomes: Sequence[Outcome]) -> set[tuple[Cell, int]]:
    """Blocks measured in another way, by their ``OK`` trials: a failed one may not have reached its first turn."""
    sound = [
        (cell_of(outcome), outcome.trial.block, _way(outcome))
        for outcome in outcomes
        if outcome.status is Status.OK
    ]
    counts: dict[Cell, Counter[Way]] = defaultdict(Counter)
    for cell, _, way in sorted(sound, key=lambda each: each[1]):
        counts[cell][way] += 1
    ways = {cell: count.most_common(1)[0][0] for cell, count in counts.items()}
    return {(cell, block) for cell, block, way in sound if way is not ways[cell]}


def _way(outcome: Outcome) -> Way:
    return Way.WHOLE if outcome.turns is None else outcome.turns.way


def by_metric(samples: Sequence[Sample]) -> dict[Metric, list[Sample]]:
    """Group the samples of single figures; samples of curves, which have coordinates, are left out."""
    return _grouped(sample for sample in samples if not sample.coordinates)


def by_point(samples: Sequence[Sample]) -> dict[Metric, list[Sample]]:
    """Group the samples of curves by place; samples without coordinates, or with one below 0, are left out."""
    return _grouped(sample for sample in samples if sample.coordinates and _is_drawable(sample))


def _is_drawable(sample: Sample) -> bool:
    """Whether axes, which may be logarithmic, can show its place."""
    return all(each.value == 0 or usable(each.value) for each in sample.coordinates)


def _grouped(samples: Iterable[Sample]) -> dict[Metric, list[Sample]]:
    grouped: dict[Metric, list[Sample]] = {}
    for sample in samples:
        name = f"{sample.name}{FIRST}" if sample.iteration == 0 else sample.name
        metric = Metric(name, sample.unit, sample.direction, sample.coordinates)
        grouped.setdefault(metric, []).append(sample)
    return grouped


def _is_native(environment: Environment) -> bool:
    """Whether this is the native arm; native under another name is a no-op environment, an arm like any other."""
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


def _enter(outcome: Outcome, table: BlockTable, samples_of: Mapping[Metric, Sequence[Sample]]) -> None:
    trial = outcome.trial
    table.begun.add(trial.block)
    if not _is_native(trial.environment):
        table.environments.add(trial.environment.name)
    if outcome.status is not Status.OK:
        return
    arm = Arm(trial.environment.name, trial.replicate)
    if outcome.load is not None:
        table.loads[trial.block, arm] = outcome.load
    if outcome.turns is not None:
        table.together[trial.block, arm] = outcome.turns.together
    for metric, samples in samples_of.items():
        table.metrics.setdefault(metric)
        value = whole_trial(samples, trial.layout.instances)
        if value is not None:
            table.values[trial.block, arm, metric] = value
            if rounds := round_times(samples, trial.layout.instances):
                table.rounds[trial.block, arm, metric] = rounds


def _of_cell(cell: Cell, table: BlockTable, primary: tuple[str, ...]) -> Iterator[Summary]:
    for metric in sorted(table.metrics, key=lambda each: each.name not in primary):
        for environment in sorted(table.environments):
            yield _summary(cell, table, metric, environment, primary=metric.name in primary)


def _summary(cell: Cell, table: BlockTable, metric: Metric, environment: str, *, primary: bool) -> Summary:
    complete = tuple(complete_blocks(table, metric, environment, primary=primary))
    return with_blocks(
        Summary(
            cell=cell,
            environment=environment,
            metric=metric.name,
            unit=metric.unit,
            direction=metric.direction,
            primary=primary,
            blocks=(),
            log_ratios=(),
            control_log_ratios=(),
            dropped_blocks=len(table.begun) - len(complete),
        ),
        complete,
    )


def with_blocks(summary: Summary, complete: Sequence[BlockValue], until: int | None = None) -> Summary:
    """The summary of these complete blocks; those with a number below ``until`` decide if busy ones are left out."""
    blocks, busy = parted(complete, until)
    return replace(
        summary,
        blocks=blocks,
        log_ratios=tuple(log_ratio(block, summary.direction) for block in blocks),
        control_log_ratios=tuple(control_log_ratio(block, summary.direction) for block in blocks),
        busy_blocks=busy,
    )


def known_after(summary: Summary, blocks: int) -> Summary:
    """The summary by the loads of its first so many blocks: what a look sees depends on no later block."""
    complete = sorted((*summary.blocks, *summary.busy_blocks), key=lambda block: block.block)
    return (
        summary if parted(complete, blocks)[0] == summary.blocks else with_blocks(summary, complete, blocks)
    )


def busy_of(table: BlockTable, environment: str, blocks: Iterable[int]) -> BusyBlocks:
    """Which of these complete blocks are busy by whole trials, whatever the metric."""
    arms = (*NATIVE_ARMS, Arm(environment, 0))
    own = set(blocks)
    return apart(own, {block: busiest(table.loads.get((block, arm)) for arm in arms) for block in own})


def complete_blocks(
    table: BlockTable, metric: Metric, environment: str, *, primary: bool = False
) -> Iterator[BlockValue]:
    """Blocks with a value of all three arms, with the loads that count for this metric."""
    arms = (*NATIVE_ARMS, Arm(environment, 0))
    net = primary and is_without_load(metric.name)
    for block in sorted(table.begun):
        first, second, other = (table.values.get((block, arm, metric)) for arm in arms)
        rounds, comparable = _rounds(table, block, metric, arms)
        if first is not None and second is not None and other is not None and comparable:
            early, late, own = (
                counted(table.loads.get((block, arm)), by_turns=rounds is not None, net=net) for arm in arms
            )
            yield BlockValue(
                block=block,
                native=(first, second),
                environment=other,
                load=own,
                native_loads=(early, late),
                rounds=rounds,
            )


def _rounds(
    table: BlockTable, block: int, metric: Metric, arms: Sequence[Arm]
) -> tuple[BlockRounds | None, bool]:
    """The rounds in which all arms had a slice, and whether the arms can be compared at all.

    Arms that took turns at another time than the others cannot be compared, nor can arms without a common round.
    """
    if len({table.together.get((block, arm)) for arm in arms}) > 1:
        return None, False
    first, second, other = (table.rounds.get((block, arm, metric), {}) for arm in arms)
    rounds = block_rounds((first, second), other)
    return rounds, rounds is not None or not (first or second or other)


def log_ratio(block: BlockValue, direction: Direction) -> float:
    if block.rounds is not None:
        return block.rounds.log_ratio
    first, second = (log_time_per_work(value, direction) for value in block.native)
    return log_time_per_work(block.environment, direction) - (first + second) / 2


def control_log_ratio(block: BlockValue, direction: Direction) -> float:
    if block.rounds is not None:
        return block.rounds.control_log_ratio
    first, second = (log_time_per_work(value, direction) for value in block.native)
    return second - first
