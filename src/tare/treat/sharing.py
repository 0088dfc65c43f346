# SPDX-License-Identifier: Apache-2.0
"""Each instance with company, beside the same environment's trial of the instance alone, block by block."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from tare.records import NATIVE, Cell, HostLoad, Layout, Outcome, Sample, SharedCell, SharingSummary, Status
from tare.records.busy import BusyBlocks, busiest
from tare.treat.aggregate import log_time_per_work, over_iterations, usable
from tare.treat.busy import apart
from tare.treat.pairing import Metric, blocks_left_out, by_metric, cell_of

_Logs = tuple[float, ...]
"""ln(time per work) per instance."""


@dataclass(slots=True)
class _Table:
    """One cell's values, block by block."""

    begun: set[int] = field(default_factory=set)
    metrics: dict[Metric, None] = field(default_factory=dict)
    """In the order in which the workload reports them."""
    logs: dict[tuple[str, int, int, Metric], _Logs] = field(default_factory=dict)
    """By environment, block and replicate."""
    skews_s: dict[str, list[float]] = field(default_factory=dict)
    bounds_s: dict[str, list[float | None]] = field(default_factory=dict)
    """By environment; its keys are all environments with a trial here."""
    layout: Layout | None = None
    loads: dict[tuple[str, int], HostLoad | None] = field(default_factory=dict)
    """The busiest trial's, by environment and block."""


def sharing_summaries(
    outcomes: Sequence[Outcome], cells: Sequence[SharedCell], primary_metrics: Mapping[str, str]
) -> tuple[SharingSummary, ...]:
    """One summary per shared cell, metric and environment, in that order, native first.

    Only ``OK`` outcomes count, and only metrics that every instance reports as one figure. Native has two trials in
    each block; their mean (of logarithms) is taken both with company and alone. A block counts when all these trials
    have a usable value; every other begun block is dropped and counted. Busy blocks are left out where enough others
    remain (``treat.busy``).
    """
    tables: dict[Cell, _Table] = {}
    left_out = blocks_left_out(outcomes)
    concerned = {cell for pair in cells for cell in (pair.shared, pair.alone)}
    own = [outcome for outcome in outcomes if cell_of(outcome) in concerned]
    for outcome in sorted(own, key=lambda each: (each.trial.block, each.trial.slot)):
        whole = (cell_of(outcome), outcome.trial.block) not in left_out
        _enter(outcome, tables.setdefault(cell_of(outcome), _Table()), whole=whole)
    return tuple(
        summary
        for pair in cells
        if pair.shared in tables and pair.alone in tables
        for summary in _of_pair(
            pair, tables[pair.shared], tables[pair.alone], primary_metrics.get(pair.shared.workload)
        )
    )


def _enter(outcome: Outcome, table: _Table, *, whole: bool) -> None:
    """Add an outcome; ``whole``: no rule excluded a trial of its block because the host was disturbed."""
    trial = outcome.trial
    table.begun.add(trial.block)
    table.layout = trial.layout
    skews_s = table.skews_s.setdefault(trial.environment.name, [])
    if outcome.status is not Status.OK or not whole:
        return
    arm = trial.environment.name, trial.block
    table.loads[arm] = busiest((table.loads.get(arm), outcome.load))
    if outcome.barrier_skew_s is not None:
        skews_s.append(outcome.barrier_skew_s)
        table.bounds_s.setdefault(trial.environment.name, []).append(outcome.barrier_skew_bound_s)
    for metric, samples in by_metric(
        [sample for sample in outcome.samples if not sample.coordinates]
    ).items():
        logs = instance_logs(over_iterations(samples), trial.layout.instances)
        if logs:
            table.metrics.setdefault(metric)
            table.logs[trial.environment.name, trial.block, trial.replicate, metric] = logs


def instance_logs(samples: Sequence[Sample], instances: int) -> _Logs | None:
    """ln(time per work) of each instance, from a trial's samples of one metric.

    ``None`` unless each has one usable value. A figure of the whole trial is its instance's only where there is no
    other instance.
    """
    if not all(usable(sample.value) for sample in samples) or len(samples) != instances:
        return None
    numbers = {
        0 if instances == 1 and sample.instance is None else sample.instance: sample for sample in samples
    }
    if set(numbers) != set(range(instances)):
        return None
    values = (numbers[number] for number in range(instances))
    return tuple(log_time_per_work(sample.value, sample.direction) for sample in values)


def spread(logs: _Logs) -> float:
    """(largest - smallest) / mean of the times per work."""
    times = [math.exp(log - max(logs)) for log in logs]
    return (max(times) - min(times)) / fmean(times)


def jain_index(logs: _Logs) -> float:
    """(sum x)^2 / (n sum x^2) of the rates x; 1 when all are equal, 1/n when one instance gets everything.

    Jain, Chiu and Hawe, "A quantitative measure of fairness and discrimination for resource allocation in
    shared computer systems", DEC Research Report TR-301 (1984).
    """
    rates = [math.exp(min(logs) - log) for log in logs]
    return math.fsum(rates) ** 2 / (len(rates) * math.fsum(rate**2 for rate in rates))


def _of_pair(
    cells: SharedCell, shared: _Table, alone: _Table, primary: str | None
) -> Iterator[SharingSummary]:
    names = sorted(shared.skews_s, key=lambda name: (name != NATIVE, name))
    for metric in sorted(shared.metrics, key=lambda each: each.name != primary):
        native, _ = _quiet_losses(shared, alone, NATIVE, metric)
        for name in names:
            own, busy = _quiet_losses(shared, alone, name, metric)
            beside = _blocks(shared, name, metric)
            common = () if name == NATIVE else (block for block in own if block in native)
            fair = [logs for block, logs in beside.items() if block not in busy.gone and len(logs[0]) > 1]
            yield SharingSummary(
                cells=cells,
                environment=name,
                metric=metric.name,
                unit=metric.unit,
                direction=metric.direction,
                primary=metric.name == primary,
                blocks=tuple(own),
                log_losses=tuple(own.values()),
                log_times=tuple(beside[block][0] for block in own),
                beyond_native=tuple(fmean(own[block]) - fmean(native[block]) for block in common),
                spreads=tuple(fmean(map(spread, logs)) for logs in fair),
                jain_indices=tuple(fmean(map(jain_index, logs)) for logs in fair),
                skews_s=tuple(shared.skews_s[name]),
                skew_bound_s=_largest(shared.bounds_s.get(name, [])),
                dropped_blocks=len(shared.begun | alone.begun) - len(own) - len(busy.gone),
                busy=busy,
            )


def _quiet_losses(
    shared: _Table, alone: _Table, environment: str, metric: Metric
) -> tuple[dict[int, _Logs], BusyBlocks]:
    """The losses that count, and which blocks were busy."""
    losses = _losses(shared, alone, environment, metric)
    loads = {
        block: busiest(table.loads.get((environment, block)) for table in (shared, alone)) for block in losses
    }
    busy = apart(losses, loads)
    return {block: logs for block, logs in losses.items() if block not in busy.gone}, busy


def _largest(bounds_s: Sequence[float | None]) -> float | None:
    known = [bound_s for bound_s in bounds_s if bound_s is not None]
    return max(known, default=None) if len(known) == len(bounds_s) else None


def _losses(shared: _Table, alone: _Table, environment: str, metric: Metric) -> dict[int, _Logs]:
    """Log-ratio of each instance with company to its twin alone, per complete block."""
    beside, single = _blocks(shared, environment, metric), _blocks(alone, environment, metric)
    if shared.layout is None or alone.layout is None:
        return {}
    twins = twins_alone(shared.layout, alone.layout)
    return {
        block: tuple(
            log - _mean(single[block])[twin] for log, twin in zip(_mean(beside[block]), twins, strict=True)
        )
        for block in beside
        if block in single
    }


def twins_alone(shared: Layout, alone: Layout) -> tuple[int, ...]:
    """For each instance with company the number of the one in its place alone; each stands for equally many.

    Of several groups the nodes correspond in turn, and in a node its instances.
    """
    twins: dict[int, int] = {}
    for node in range(shared.nodes):
        places = alone.instances_in(node % alone.nodes)
        for position, instance in enumerate(shared.instances_in(node)):
            twins[instance] = places[position % len(places)]
    return tuple(twins[instance] for instance in range(shared.instances))


def _blocks(table: _Table, environment: str, metric: Metric) -> dict[int, list[_Logs]]:
    """The environment's trials of each complete block."""
    replicates = (0, 1) if environment == NATIVE else (0,)
    blocks = {
        block: [table.logs.get((environment, block, replicate, metric)) for replicate in replicates]
        for block in sorted(table.begun)
    }
    return {block: [log for log in logs if log] for block, logs in blocks.items() if all(logs)}


def _mean(trials: Sequence[_Logs]) -> _Logs:
    return tuple(map(fmean, zip(*trials, strict=True)))
