# SPDX-License-Identifier: Apache-2.0
"""Several runs of the command within one start of the nodes, each on the barrier and in separate folders."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from tare.measure.counted import CpuUsage, Watched
from tare.measure.instances import Instance, checked, make_instances, ready_instances, run_on_barrier
from tare.measure.seats import Seat
from tare.measure.stopwatch import Beside, Stopwatch
from tare.measure.verify_unprivileged import rusage_s
from tare.plan.turns import MOST_RUNS
from tare.records import Direction, InstanceRun, Sample, Signal, Trial, Turns, Way
from tare.signals.hardware import ENERGY
from tare.workloads.kind import Options, WorkloadKind

_LEAST_LIMIT_S = 0.1
_MOST_ARMS = 100
"""Arms to wait for in a resident program's limit, which ends it only if the runner is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repetition:
    """One run of the command, in all instances at once."""

    number: int | None
    """From 0; ``None``: the trial has only this one."""
    options: Options
    instances: tuple[Instance, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What happens around the runs."""

    ready: Callable[[Sequence[Instance], Sequence[Stopwatch]], None]
    """Before each run, when its stopwatches are ready."""
    begin: Callable[[], None]
    """Once, when the first run is about to start."""
    end: Callable[[], None]
    """Once, right after the last run's end."""
    tick: Callable[[], None]
    """About once a second during a run."""
    beside: Sequence[Beside]
    """Other sources of input during a run."""
    up_s: float
    """When the nodes were up, by ``time.monotonic``."""
    until_s: float
    """When the budget ends, by the same clock; no run may last longer."""


@dataclass(slots=True, kw_only=True)
class Gathered:
    """The results of the runs so far; a failure keeps earlier results."""

    begun: list[Instance] = field(default_factory=list)
    """Instances of all begun repetitions, in order."""
    runs: list[InstanceRun] = field(default_factory=list)
    """In the same order; shorter than ``begun`` after a failure."""
    cpu_s: dict[int | None, float | None] = field(default_factory=dict)
    """Number of a repetition → CPU time of the nodes' groups during it; ``None`` if a group does not report it."""
    failed: frozenset[int | None] = frozenset()
    """Numbers of repetitions in which a command did not end well, while others did."""
    asked: int = 0
    """How many of ``begun`` were asked for their output: a full node may take a minute to refuse."""


def repetitions(kind: WorkloadKind, trial: Trial, seats: Sequence[Seat]) -> list[Repetition]:
    """All runs of a trial with their jobs and written input files; ``ValueError`` for invalid options."""
    wanted = trial.run_options
    runs = []
    for position, chosen in enumerate(wanted):
        options = kind.options_model.model_validate(dict(chosen))
        number = position if len(wanted) > 1 else None
        instances = make_instances(kind, options, seats, trial.limits.time_s, number)
        runs.append(Repetition(number=number, options=options, instances=tuple(instances)))
    return runs


def starts_by_turns(
    kind: WorkloadKind, trial: Trial, seats: Sequence[Seat], turns: Turns
) -> list[Repetition]:
    """The maximum number of program starts within one start of the nodes; ``ValueError`` as above."""
    options = kind.options_model.model_validate(dict(trial.workload.options))
    if trial.workload.way is Way.SLICES:
        count, resident = turns.processes, trial.workload.name
        limit_s = trial.limits.time_s + turns.rounds * turns.slice_s * _MOST_ARMS
    else:
        count, resident, limit_s = MOST_RUNS, None, trial.limits.time_s
    return [
        Repetition(
            number=number,
            options=options,
            instances=tuple(make_instances(kind, options, seats, limit_s, number, resident=resident)),
        )
        for number in range(count)
    ]


def run_repetitions(
    wanted: Sequence[Repetition], watched: Watched, around: Around, gathered: Gathered
) -> None:
    """Run one after the other, until the first failure; raises the errors of ``run_on_barrier``."""
    for repetition in wanted:
        instances = [_within(instance, around.until_s) for instance in repetition.instances]
        with ready_instances(instances) as stopwatches:
            around.ready(instances, stopwatches)
            gathered.begun += instances
            if repetition is wanted[0]:
                around.begin()
            at_end = _AtEnd(watched, around.end if repetition is wanted[-1] else None)
            uptime_s = time.monotonic() - around.up_s
            runs = run_on_barrier(instances, stopwatches, around.tick, at_end, around.beside)
        runs = checked(instances, runs)
        gathered.runs += with_start(runs, repetition.number, uptime_s)
        gathered.cpu_s[repetition.number] = at_end.cpu_s
        if not all(run.ended_well for run in runs):
            if repetition is not wanted[-1]:
                around.end()
            break


class _AtEnd:
    """Called right after a repetition's last end, so that its counts end there."""

    def __init__(self, watched: Watched, then: Callable[[], None] | None) -> None:
        self._usage, self._then = CpuUsage(watched.all_groups), then
        self.cpu_s: float | None = None

    def __call__(self) -> None:
        self.cpu_s = self._usage.used_s()
        if self._then is not None:
            self._then()


def cpu_samples(gathered: Gathered, whole_s: float | None, *, by_rusage: bool) -> list[Sample]:
    """CPU time of the trial, or of each repetition if there are several; none if unknown.

    ``by_rusage``: without a counting group, use the commands' own account (getrusage(2)).
    """
    if len(gathered.cpu_s) == 1:
        cpu_s = dict.fromkeys(gathered.cpu_s, whole_s)
    elif by_rusage:
        cpu_s = {
            number: rusage_s([run for run in gathered.runs if run.iteration == number])
            for number in gathered.cpu_s
        }
    else:
        cpu_s = gathered.cpu_s
    return [
        Sample(name="cpu_s", value=used_s, unit="s", direction=Direction.LESS, iteration=number)
        for number, used_s in cpu_s.items()
        if used_s is not None
    ]


def energy_samples(signals: Sequence[Signal]) -> list[Sample]:
    """The energy of the processor packages during the trial, all its runs together; none if it is not counted."""
    return [
        Sample(name=ENERGY, value=signal.value, unit=signal.unit, direction=Direction.LESS)
        for signal in signals
        if signal.name == ENERGY
    ]


def with_start(runs: Sequence[InstanceRun], number: int | None, uptime_s: float) -> list[InstanceRun]:
    """Add the number of the run, and how long the nodes had been up when it began."""
    return [replace(run, iteration=number, uptime_s=uptime_s + run.start_offset_s) for run in runs]


def _within(instance: Instance, until_s: float) -> Instance:
    left_s = max(_LEAST_LIMIT_S, until_s - time.monotonic())
    return replace(instance, limit_s=min(instance.limit_s, left_s))
