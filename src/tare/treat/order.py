# SPDX-License-Identifier: Apache-2.0
"""Outcomes of order experiments, arranged by block and start."""

from collections.abc import Iterator, Mapping, Sequence

from tare.records import (
    NATIVE,
    Cell,
    OrderedBlock,
    OrderedRun,
    OrderedStart,
    Ordering,
    OrderSummary,
    Outcome,
    Status,
)
from tare.records.busy import busiest
from tare.treat.aggregate import log_time_per_work, whole_trial
from tare.treat.busy import apart
from tare.treat.levels import by_iteration
from tare.treat.pairing import OF_THE_HOST

_Arm = tuple[Cell, str, str]
"""Cell, option and environment."""


def order_summaries(
    outcomes: Sequence[Outcome], metrics: Mapping[tuple[Cell, str], Sequence[str]]
) -> tuple[OrderSummary, ...]:
    """One per cell, option, metric and environment, native first; only ``OK`` outcomes count.

    ``metrics`` maps the cell of an order experiment, named without the order, and its option to the judged metric. A
    block counts when all three starts have a usable value and a known uptime in every run; every other begun block is
    dropped as a whole, and counted. So is a block in which the host was disturbed. One in which it was busy is left
    out where enough others remain (``treat.busy``).
    """
    arms: dict[_Arm, dict[int, list[Outcome]]] = {}
    for outcome in outcomes:
        if outcome.trial.series is not None:
            key = _cell(outcome), outcome.trial.series.option, outcome.trial.environment.name
            arms.setdefault(key, {}).setdefault(outcome.trial.block, []).append(outcome)
    return tuple(
        _summary(arm, metric, arms[arm], _disturbed(arms, arm))
        for arm in sorted(arms, key=_order)
        for metric in metrics.get(arm[:2], ())
    )


def _order(arm: _Arm) -> tuple[str, str, str, bool, str]:
    cell, option, environment = arm
    return cell.workload, cell.layout, option, environment != NATIVE, environment


def _disturbed(arms: Mapping[_Arm, Mapping[int, Sequence[Outcome]]], arm: _Arm) -> set[int]:
    """The blocks of an experiment that are dropped for every environment because the host was disturbed."""
    return {
        block
        for other, blocks in arms.items()
        if other[:2] == arm[:2]
        for block, outcomes in blocks.items()
        if any(outcome.excluded_by in OF_THE_HOST for outcome in outcomes)
    }


def _cell(outcome: Outcome) -> Cell:
    return Cell(workload=outcome.trial.workload.name, layout=str(outcome.trial.layout))


def _summary(
    arm: _Arm, metric: str, blocks: Mapping[int, Sequence[Outcome]], disturbed: set[int]
) -> OrderSummary:
    cell, option, environment = arm
    complete = [
        OrderedBlock(block=block, starts=starts)
        for block in sorted(blocks.keys() - disturbed)
        if len(starts := tuple(_starts(blocks[block], metric))) == len(Ordering)
    ]
    busy = apart(
        (block.block for block in complete),
        {block: busiest(outcome.load for outcome in outcomes) for block, outcomes in blocks.items()},
    )
    units = [
        sample.unit
        for outcomes in blocks.values()
        for outcome in outcomes
        for sample in outcome.samples
        if sample.name == metric
    ]
    return OrderSummary(
        cell=cell,
        environment=environment,
        option=option,
        metric=metric,
        unit=units[0] if units else "",
        blocks=tuple(block for block in complete if block.block not in busy.gone),
        dropped_blocks=len(blocks) - len(complete),
        busy=busy,
    )


def _starts(outcomes: Sequence[Outcome], metric: str) -> Iterator[OrderedStart]:
    for outcome in sorted(outcomes, key=lambda each: each.trial.slot):
        series = outcome.trial.series
        if series is not None and outcome.status is Status.OK and (runs := _runs(outcome, metric)):
            yield OrderedStart(ordering=series.ordering, runs=runs)


def _runs(outcome: Outcome, metric: str) -> tuple[OrderedRun, ...]:
    """All runs of a series; none when a run lacks its value."""
    assert outcome.trial.series is not None  # noqa: S101 - the caller has looked
    values = outcome.trial.series.values
    uptimes_s = [run.uptime_s for run in outcome.instances if run.instance == 0]
    samples = by_iteration(outcome.samples, metric)
    runs = []
    if len(samples) == len(uptimes_s) == len(values):
        for value, uptime_s, own in zip(values, uptimes_s, samples, strict=True):
            whole = whole_trial(own, outcome.trial.layout.instances)
            if whole is not None and uptime_s is not None:
                log_time = log_time_per_work(whole, own[0].direction)
                runs.append(OrderedRun(value=value, uptime_s=uptime_s, log_time=log_time))
    return tuple(runs) if len(runs) == len(values) else ()
