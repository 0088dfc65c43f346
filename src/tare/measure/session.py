# SPDX-License-Identifier: Apache-2.0
"""The trials of one session, in order, each in the journal before the next begins."""

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol

from tare.measure.context import Context
from tare.measure.stopping import cell_of
from tare.measure.trial import run_trial
from tare.measure.turns.frozen import BudgetSpentError
from tare.measure.turns.together import WHOLE, run_together
from tare.measure.units import units, wanted_of
from tare.records import Outcome, Trial


class Watcher(Protocol):
    """Receives every step, to show progress."""

    def begins(self, trial: Trial) -> None: ...

    def ended(self, outcome: Outcome) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """The interface to the budget."""

    may_begin: Callable[[Trial], bool]
    """Whether this trial may still begin; asked before every trial."""
    remaining_s: Callable[[], float]
    """Remaining time; infinite without a budget."""
    is_wanted: Callable[[Trial], bool] = field(default=lambda _: True)
    """Whether this trial's arm continues; asked before every trial, and unwanted ones are skipped."""


def run_trials(
    context: Context,
    trials: Sequence[Trial],
    write: Callable[[Outcome], None],
    allowance: Allowance,
    watcher: Watcher,
) -> bool:
    """Run until the end or the budget's; returns whether the budget cut something off."""
    for unit in units(trials):
        wanted = wanted_of(unit, allowance.is_wanted)
        if not wanted:
            continue
        if not allowance.may_begin(wanted[0]):
            return True
        watcher.begins(wanted[0])
        try:
            outcomes = _by_turns(context, wanted, allowance.remaining_s())
        except BudgetSpentError:
            return True
        if outcomes is None:
            if _run_whole(context, wanted, write, allowance, watcher):
                return True
            continue
        for outcome in outcomes:
            write(outcome)
            watcher.ended(outcome)
    return False


def _by_turns(context: Context, trials: Sequence[Trial], remaining_s: float) -> list[Outcome] | None:
    """``None`` if they take no turns; ``BudgetSpentError`` if the budget ended them: they count as not begun."""
    if trials[0].turns is None:
        return None
    return run_together(replace(context, until_s=time.monotonic() + remaining_s), trials)


def _run_whole(
    context: Context,
    trials: Sequence[Trial],
    write: Callable[[Outcome], None],
    allowance: Allowance,
    watcher: Watcher,
) -> bool:
    """One trial after the other; returns whether the budget cut something off."""
    for trial in trials:
        if trial is not trials[0]:
            if not allowance.may_begin(trial):
                return True
            watcher.begins(trial)
        outcome = run_within(context, trial, allowance.remaining_s())
        if outcome is None:
            return True
        reason = context.whole.get(cell_of(trial)) if trial.turns is not None else None
        outcome = replace(outcome, facts={**outcome.facts, WHOLE: reason}) if reason else outcome
        write(outcome)
        watcher.ended(outcome)
    return False


def run_within(context: Context, trial: Trial, remaining_s: float) -> Outcome | None:
    """The outcome; ``None`` if the budget, not the trial's own limit, ended it: it counts as not begun."""
    if remaining_s >= trial.limits.time_s * len(trial.run_options):
        return run_trial(context, trial)
    left_s = max(remaining_s, 0.1)
    cut = replace(trial, limits=replace(trial.limits, time_s=min(trial.limits.time_s, left_s)))
    outcome = run_trial(replace(context, until_s=time.monotonic() + left_s), cut)
    if any(run.timed_out for run in outcome.instances):
        return None
    return replace(outcome, trial=trial)


def _is_nohup(number: int) -> bool:
    return number == signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn the first SIGINT, SIGTERM or SIGHUP into ``KeyboardInterrupt``; ignore further ones while it unwinds."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def interrupt(*_: object) -> None:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    # With nohup(1) the end of the terminal must not end the run.
    before = {number: signal.signal(number, interrupt) for number in numbers if not _is_nohup(number)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
