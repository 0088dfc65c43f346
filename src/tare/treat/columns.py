# SPDX-License-Identifier: Apache-2.0
"""Samples in columns to one value per trial and metric: ``whole_trial`` for all trials at once.

The result is one sample per metric and outcome, from which everything else follows as from the original samples; a
property test compares the two.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tare.records import Direction, Outcome, Sample
from tare.records.columns import NONE, SampleColumns, SampleKind, filled
from tare.treat.aggregate import LEAST, MOST

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
_OF_THE_KIND = ("name", "unit", "direction", "coordinates")


@dataclass(frozen=True, slots=True)
class _Joined:
    """One row per trial and kind."""

    trial: NDArray[np.int32]
    kind: NDArray[np.int32]
    value: Floats
    """NaN when the trial has no usable value."""


class JoinedSamples:
    """One sample per metric of each outcome, made on access; NaN where it has no usable value."""

    def __init__(
        self, outcomes: Sequence[Outcome], kinds: Sequence[SampleKind], groups: Iterable[SampleColumns]
    ) -> None:
        """``outcomes`` in the journal's order; each of ``groups`` holds whole trials."""
        instances = np.array([outcome.trial.layout.instances for outcome in outcomes], dtype=np.int64)
        more = np.array([kind.direction is Direction.MORE for kind in kinds], dtype=np.bool_)
        joined = [_joined(group, instances, more) for group in groups]
        self._kinds = kinds
        self._kind = np.concatenate([np.empty(0, dtype=np.int32), *(group.kind for group in joined)])
        self._value = np.concatenate([np.empty(0), *(group.value for group in joined)])
        trials = np.concatenate([np.empty(0, dtype=np.int32), *(group.trial for group in joined)])
        self._ends = np.searchsorted(trials, np.arange(len(outcomes) + 1))
        self._alike: dict[bytes, dict[str, list[object]]] = {}

    def __getitem__(self, place: int) -> tuple[Sample, ...]:
        first, end = self._ends[place : place + 2]
        kinds = self._kind[first:end]
        if (alike := self._alike.get(key := kinds.tobytes())) is None:
            alike = self._alike[key] = _alike([self._kinds[kind] for kind in kinds.tolist()])
        return tuple(filled(Sample, {**alike, "value": self._value[first:end].tolist()}, len(kinds)))


def _alike(kinds: Sequence[SampleKind]) -> dict[str, list[object]]:
    """All fields of these samples except the value."""
    none = [None] * len(kinds)
    return {
        **{name: [getattr(kind, name) for kind in kinds] for name in _OF_THE_KIND},
        "instance": none,
        "round": none,
        "process": none,
        "iteration": [0 if kind.first else None for kind in kinds],
    }


def _joined(columns: SampleColumns, instances: NDArray[np.int64], more: NDArray[np.bool_]) -> _Joined:
    """Join instances first, then iterations, by the mean of their logarithms."""
    new_group = _changes(columns.trial) | _changes(columns.kind)
    new_run = new_group | _changes(columns.iteration)
    runs = np.flatnonzero(new_run)
    values = _run_values(columns, new_run, runs, instances, more)
    firsts = np.flatnonzero(new_group[runs])
    groups = runs[firsts]
    return _Joined(columns.trial[groups], columns.kind[groups], _over_runs(values, firsts))


def _changes(column: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Where a value differs from the previous one; the first always does."""
    values = np.ones(len(column), dtype=np.bool_)
    np.not_equal(column[1:], column[:-1], out=values[1:])
    return values


def _run_values(
    columns: SampleColumns,
    new_run: NDArray[np.bool_],
    runs: Places,
    instances: NDArray[np.int64],
    more: NDArray[np.bool_],
) -> Floats:
    """One value for each run: the whole trial's, else the slowest time or the sum of rates of its instances."""
    expected = instances[columns.trial[runs]]
    rates = more[columns.kind[runs]]
    each = int(expected[0])
    if np.all(expected == each) and _is_regular(columns, new_run, len(runs), each):
        joined = _regular_values(columns.value.reshape(-1, each), rates)
        return np.where(_usable(joined), joined, np.nan)
    return _irregular_values(columns, new_run, runs, expected, rates)


def _is_regular(columns: SampleColumns, new_run: NDArray[np.bool_], runs: int, each: int) -> bool:
    """Whether every run has one row per instance, in order, as workloads usually report."""
    if len(columns.value) != runs * each or not np.all(new_run[::each]):
        return False
    return bool(np.all(columns.instance.reshape(-1, each) == np.arange(each, dtype=np.int32)))


def _regular_values(values: Floats, rates: NDArray[np.bool_]) -> Floats:
    """The largest or the sum of each row, column by column, as rows are short; NaN where one is not above 0."""
    largest, sums, smallest = (values[:, 0].copy() for _ in range(3))
    with np.errstate(over="ignore", invalid="ignore"):
        for column in values.T[1:]:
            np.maximum(largest, column, out=largest)
            np.minimum(smallest, column, out=smallest)
            np.add(sums, column, out=sums)
    return np.where(smallest > 0, np.where(rates, sums, largest), np.nan)


def _irregular_values(
    columns: SampleColumns,
    new_run: NDArray[np.bool_],
    runs: Places,
    expected: NDArray[np.int64],
    rates: NDArray[np.bool_],
) -> Floats:
    """The values of runs in which instances may be missing or duplicate, or a value may be the whole trial's."""
    values, whole = columns.value, columns.instance == NONE
    if len(runs) == len(values):
        return np.where(_usable(values) & (whole | (expected == 1)), values, np.nan)
    counts = np.diff(np.append(runs, len(values)))
    twice = ~new_run & ~_changes(columns.instance)
    wholes = np.add.reduceat(whole, runs, dtype=np.int64)
    complete = (counts == expected) & (np.add.reduceat(twice, runs, dtype=np.int64) == 0)
    kept = np.where(wholes > 0, wholes == 1, complete) & np.logical_and.reduceat(_usable(values), runs)
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.add.reduceat(values, runs)
    joined = np.where(rates, sums, np.maximum.reduceat(values, runs))
    by_run = np.where(wholes > 0, values[runs], joined)  # the whole trial's value sorts before its instances'
    return np.where(kept & _usable(by_run), by_run, np.nan)


def _usable(values: Floats) -> NDArray[np.bool_]:
    return np.asarray((values >= LEAST) & (values <= MOST))


def _over_runs(values: Floats, firsts: Places) -> Floats:
    """The mean logarithm of each group's runs, converted back to a value; NaN when a run has none."""
    counts = np.diff(np.append(firsts, len(values)))
    if len(firsts) == len(values):
        return values
    means = np.exp(np.add.reduceat(np.log(values), firsts) / counts)
    return np.where(counts == 1, values[firsts], means)
