# SPDX-License-Identifier: Apache-2.0
"""The levels of factors as places of one curve or surface."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tare.records import Coordinate, Outcome, Sample, Status, Trial


def swept(outcomes: Iterable[Outcome], primary_metrics: Mapping[str, Sequence[str]]) -> tuple[Outcome, ...]:
    """One outcome for each arm and block over all levels that are numbers, with the primary samples of all of them.

    Values of one block are compared with native's of the same block and level, as in each cell by itself.
    """
    merged: dict[tuple[str, str, str, int, int], Outcome] = {}
    for outcome in outcomes:
        place = _place(outcome.trial)
        if not place or outcome.status is not Status.OK:
            continue
        names = tuple(level for level in outcome.trial.levels if level.number is None)
        trial = replace(outcome.trial, levels=names)
        key = (trial.workload.name, trial.setting, trial.environment.name, trial.block, trial.replicate)
        samples = _placed(outcome, place, primary_metrics.get(trial.workload.name, ()))
        known = merged.get(key) or replace(outcome, trial=trial, turns=None, samples=())
        merged[key] = replace(known, samples=(*known.samples, *samples))
    return tuple(merged.values())


def _place(trial: Trial) -> tuple[Coordinate, ...]:
    """Where it stands; empty if nothing varies, or only names do."""
    return tuple(
        Coordinate(level.key, level.number, level.unit) for level in trial.levels if level.number is not None
    )


def _placed(outcome: Outcome, place: tuple[Coordinate, ...], metrics: Sequence[str]) -> tuple[Sample, ...]:
    return tuple(
        replace(sample, coordinates=place)
        for sample in outcome.samples
        if sample.name in metrics and not sample.coordinates
    )
