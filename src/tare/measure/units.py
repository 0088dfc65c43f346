# SPDX-License-Identifier: Apache-2.0
"""Units of measurement: one trial by itself, or the trials of a block that take turns with each other."""

from collections.abc import Callable, Iterator, Sequence

from tare.records import Trial, Way

_Key = tuple[int, str, str]


def units(trials: Sequence[Trial]) -> Iterator[tuple[Trial, ...]]:
    """The units, each with its trials in order, at the position of its first trial.

    Resident programs of one block and layout share the starts of their nodes; any other workload has its own.
    """
    together: dict[_Key, list[Trial]] = {}
    for trial in trials:
        if trial.turns is not None:
            together.setdefault(_key(trial), []).append(trial)
    for trial in trials:
        if trial.turns is None:
            yield (trial,)
        elif members := together.pop(_key(trial), None):
            yield tuple(members)


def _key(trial: Trial) -> _Key:
    resident = trial.workload.way is Way.SLICES
    return trial.block, trial.setting, "" if resident else trial.workload.name


def wanted_of(unit: Sequence[Trial], is_wanted: Callable[[Trial], bool]) -> tuple[Trial, ...]:
    """Its trials whose arms have not stopped."""
    return tuple(trial for trial in unit if is_wanted(trial))
