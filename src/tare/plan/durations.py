# SPDX-License-Identifier: Apache-2.0
"""How long trials take: as measured so far, else by their workload's guess."""

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from tare.environments import PROVIDERS
from tare.plan.definition import shape_of
from tare.plan.turns import MOST_RUNS, ROUNDS_TOGETHER, turn_s
from tare.records import Outcome, Trial, Turns, Way
from tare.workloads import KINDS
from tare.workloads.kind import WorkloadKind
from tare.workloads.part_used import part_used

NODE_ALLOWANCE_S = 0.3
"""Start and stop of a trial's nodes, until measured: 0.02 s on native, 0.6 s with Docker."""
_MACHINE_ALLOWANCE_S = 5.0
"""The same for virtual machines: 3 to 5 s."""
_SAFETY = 1.1
_LED_IN = 1 + 1 / (3 * ROUNDS_TOGETHER)
"""All turns over those that count, among three arms, the fewest that are compared."""
_PROCESS_S = 0.1
"""Start and end of a resident program."""

_Key = tuple[str, ...]


def trial_durations_s(
    trials: Iterable[Trial],
    outcomes: Sequence[Outcome],
    summarize: Callable[[list[float]], float] = statistics.median,
    kinds: Mapping[str, WorkloadKind] = KINDS,
    first_runs: Sequence[Outcome] = (),
) -> list[float | None]:
    """Estimate each trial with its nodes' start and stop; ``None`` where the run time is unknowable.

    The estimate summarizes the measured trials of the same arm and cell, else of the same cell; without any it follows
    from a first run of the cell, else it is the workload's own guess plus an allowance.
    """
    measured: dict[_Key, list[float]] = defaultdict(list)
    for first in first_runs:
        measured[_keys(first.trial)[1]].append(_from_first_s(first))
    for outcome in outcomes:
        for key in _keys(outcome.trial):
            measured[key].append(outcome.elapsed_s)
    started: set[_Key] = set()
    return [_estimate_s(trial, measured, summarize, kinds, started) for trial in trials]


def next_block_fits(
    block: Sequence[Trial],
    outcomes: Sequence[Outcome],
    remaining_s: float | None,
    kinds: Mapping[str, WorkloadKind] = KINDS,
) -> bool:
    """Whether a block's trials, each as slow as its slowest so far and 10 % more, end within ``remaining_s``.

    ``True`` without a budget, and while the run time is unknown and some time is left: that block will show it.
    """
    if remaining_s is None:
        return True
    needed_s = total_s(trial_durations_s(block, outcomes, max, kinds))
    return remaining_s > 0 if needed_s is None else needed_s * _SAFETY <= remaining_s


def total_s(durations_s: Iterable[float | None]) -> float | None:
    """Add up; ``None`` as soon as one is unknown."""
    total = 0.0
    for duration_s in durations_s:
        if duration_s is None:
            return None
        total += duration_s
    return total


def _keys(trial: Trial) -> tuple[_Key, _Key]:
    cell = (trial.workload.name, trial.setting)
    return (*cell, trial.environment.name), cell


def _estimate_s(
    trial: Trial,
    measured: Mapping[_Key, list[float]],
    summarize: Callable[[list[float]], float],
    kinds: Mapping[str, WorkloadKind],
    started: set[_Key],
) -> float | None:
    """``started``: arms whose nodes' start is already counted; resident programs of a block share it."""
    for key in _keys(trial):
        if key in measured:
            return summarize(measured[key])
    kind, shape = kinds[trial.workload.kind], shape_of(trial.layout, trial.limits)
    if trial.turns is not None and trial.workload.way is Way.SLICES:
        pieces = kind.pieces(kind.options_model.model_validate(trial.workload.options))
        arm = (str(trial.block), trial.setting, trial.environment.name, str(trial.replicate))
        start_s = 0.0 if arm in started else _start_s(trial)
        started.add(arm)
        return start_s + _slices_s(trial.turns, len(pieces))
    wanted = [kind.options_model.model_validate(dict(options)) for options in trial.run_options]
    runs_s = total_s(kind.expected_s(options, part_used(options, shape)) for options in wanted)
    if runs_s is None:
        return None
    return runs_s + _start_s(trial)


def _from_first_s(first: Outcome) -> float:
    """A trial's time after one whole run: a short program runs several times by turns."""
    turns = first.trial.turns
    if turns is None or first.trial.workload.way is not Way.FREEZER or not first.instances:
        return first.elapsed_s
    run_s = max(run.clocks.wall_s for run in first.instances)
    wanted_s = turns.processes * turns.rounds * turns.slice_s
    further = min(MOST_RUNS, int(wanted_s / run_s)) - 1 if run_s > 0 else 0
    return first.elapsed_s + max(0, further) * run_s


def _start_s(trial: Trial) -> float:
    provider = PROVIDERS.get(trial.environment.technology)
    starts = provider is not None and provider.takes_tap
    return _MACHINE_ALLOWANCE_S if starts else NODE_ALLOWANCE_S


def _slices_s(turns: Turns, pieces: int) -> float:
    """One arm's share of its block, without the start of its nodes."""
    slices = turns.rounds * pieces * turn_s(turns.slice_s) * _LED_IN
    return turns.processes * (_PROCESS_S + slices)
