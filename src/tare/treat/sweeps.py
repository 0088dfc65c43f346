# SPDX-License-Identifier: Apache-2.0
"""The workloads of a sweep as one whose samples lie on a curve over the variable."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tare.records import Coordinate, Outcome, Sample, Status, SweepPoint


def swept(outcomes: Iterable[Outcome], primary_metrics: Mapping[str, Sequence[str]]) -> tuple[Outcome, ...]:
    """One outcome for each arm and block of a sweep, with the primary samples of all its values.

    Values of one block are compared with native's of the same block and value, as in each workload by itself.
    """
    merged: dict[tuple[str, str, str, int, int], Outcome] = {}
    for outcome in outcomes:
        trial, point = outcome.trial, outcome.trial.workload.sweep
        if point is None or outcome.status is not Status.OK:
            continue
        key = (point.name, trial.setting, trial.environment.name, trial.block, trial.replicate)
        samples = _placed(outcome, point, primary_metrics.get(trial.workload.name, ()))
        known = merged.get(key)
        if known is None:
            workload = replace(trial.workload, name=point.name)
            known = replace(outcome, trial=replace(trial, workload=workload), turns=None, samples=())
        merged[key] = replace(known, samples=(*known.samples, *samples))
    return tuple(merged.values())


def _placed(outcome: Outcome, point: SweepPoint, metrics: Sequence[str]) -> tuple[Sample, ...]:
    return tuple(
        replace(sample, coordinates=(Coordinate(point.variable, point.value, None),))
        for sample in outcome.samples
        if sample.name in metrics and not sample.coordinates
    )
