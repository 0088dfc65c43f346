# SPDX-License-Identifier: Apache-2.0
"""Where profiled programs spent their time, block by block."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from tare.records import NATIVE, Activity, ActivitySummary, Cell, Outcome, Status
from tare.treat.aggregate import whole_trial
from tare.treat.pairing import blocks_left_out, by_metric, cell_of

_METRICS = frozenset(activity.metric for activity in Activity)
_Times = tuple[float, ...]
"""In seconds, one for each ``Activity``."""
_Slots = dict[int, dict[int, _Times]]
"""Block → replicate → times."""


def activity_summaries(outcomes: Sequence[Outcome]) -> tuple[ActivitySummary, ...]:
    """One per cell and environment with a profile; the cells in order, native first in each.

    Only ``OK`` outcomes count; ``blocks_left_out`` do not.
    """
    cells: dict[Cell, dict[str, _Slots]] = {}
    left_out = blocks_left_out(outcomes)
    for outcome in outcomes:
        trial, cell = outcome.trial, cell_of(outcome)
        times = _times(outcome) if outcome.status is Status.OK else None
        if times and (cell, trial.block) not in left_out:
            slots = cells.setdefault(cell, {}).setdefault(trial.environment.name, {})
            slots.setdefault(trial.block, {})[trial.replicate] = times
    return tuple(
        summary
        for cell in sorted(cells, key=lambda each: (each.workload, each.layout))
        for summary in _of_cell(cell, cells[cell])
    )


def _of_cell(cell: Cell, environments: dict[str, _Slots]) -> Iterator[ActivitySummary]:
    for name in sorted(environments, key=lambda each: (each != NATIVE, each)):
        needed = 2 if name == NATIVE else 1
        whole = {block: each for block, each in environments[name].items() if len(each) == needed}
        rows = [_mean(whole[block].values()) for block in sorted(whole)]
        if rows:
            yield ActivitySummary(
                cell=cell,
                environment=name,
                blocks=tuple(sorted(whole)),
                times_s=dict(zip(Activity, zip(*rows, strict=True), strict=True)),
            )


def _mean(slots: Iterable[_Times]) -> _Times:
    return tuple(fmean(times) for times in zip(*slots, strict=True))


def _times(outcome: Outcome) -> _Times | None:
    """``None`` without a profile, or when part of it is unusable: an incomplete trial does not count."""
    profile = [sample for sample in outcome.samples if sample.name in _METRICS]
    metrics = {metric.name: samples for metric, samples in by_metric(profile).items()}
    instances = outcome.trial.layout.instances
    whole_trials = [
        whole_trial(metrics[activity.metric], instances) if activity.metric in metrics else 0.0
        for activity in Activity
    ]
    known = [time_s for time_s in whole_trials if time_s is not None]
    return tuple(known) if len(known) == len(whole_trials) and any(known) else None
