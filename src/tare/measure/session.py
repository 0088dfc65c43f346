# SPDX-License-Identifier: Apache-2.0
"""The trials of one session, in order, each in the journal before the next begins; first a pilot."""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from tare.errors import HostError, InputError
from tare.measure.context import Context
from tare.measure.stopping import cell_of
from tare.measure.trial import run_trial
from tare.measure.turns.frozen import BudgetSpentError
from tare.measure.turns.together import WHOLE, run_together
from tare.plan.budget import next_block_fits
from tare.plan.campaign import Campaign
from tare.plan.succession import Succession
from tare.plan.trials import cells_of
from tare.records import NATIVE, Outcome, Rule, Status, Trial, Way
from tare.units import format_duration

_ATTEMPTS = 3
_Key = tuple[int, str, str]


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
    counts: Callable[[Outcome], bool] = field(default=lambda _: True)
    """Whether an outcome says something of its trial; else the trial is tried again, twice at most."""


def run_trials(
    context: Context,
    trials: Sequence[Trial],
    write: Callable[[Outcome], None],
    allowance: Allowance,
    watcher: Watcher,
) -> bool:
    """Run until the end or the budget's; returns whether the budget cut something off."""
    succession, after_turns = Succession(), False
    for unit in units(trials):
        wanted = wanted_of(unit, allowance.is_wanted)
        try:
            outcomes = _by_turns(context, wanted, allowance, watcher)
        except BudgetSpentError:
            return True
        if outcomes is not None:
            succession.end()
            after_turns = True
            for outcome in outcomes:
                write(outcome)
                watcher.ended(outcome)
            continue
        for cell in cells_of(wanted):
            ordered = succession.of(cell)
            if after_turns:
                _lead_in(context, ordered[0], allowance)
            if _run_whole(context, ordered, write, allowance, watcher):
                return True
            after_turns = False
    return False


def _lead_in(context: Context, trial: Trial, allowance: Allowance) -> None:
    """A run that does not count: after arms that took turns, the first whole run of all follows itself too."""
    if trial.series is None and allowance.may_begin(trial):
        run_within(context, trial, allowance.remaining_s())


def _by_turns(
    context: Context, trials: Sequence[Trial], allowance: Allowance, watcher: Watcher
) -> list[Outcome] | None:
    """``None`` if they take no turns; ``BudgetSpentError`` if the budget ends them: they count as not begun."""
    if not trials or trials[0].turns is None:
        return None
    if not allowance.may_begin(trials[0]):
        raise BudgetSpentError
    watcher.begins(trials[0])
    until_s = time.monotonic() + allowance.remaining_s()
    return _counting(partial(run_together, replace(context, until_s=until_s), trials), allowance.counts)


def _run_whole(
    context: Context,
    trials: Sequence[Trial],
    write: Callable[[Outcome], None],
    allowance: Allowance,
    watcher: Watcher,
) -> bool:
    """One trial after the other; returns whether the budget cut something off."""
    for trial in trials:
        if not allowance.may_begin(trial):
            return True
        watcher.begins(trial)
        outcomes = _counting(partial(_alone, context, trial, allowance), allowance.counts)
        if not outcomes:
            return True
        (outcome,) = outcomes
        reason = context.whole.get(cell_of(trial)) if trial.turns is not None else None
        outcome = replace(outcome, facts={**outcome.facts, WHOLE: reason}) if reason else outcome
        write(outcome)
        watcher.ended(outcome)
    return False


def _counting(
    run: Callable[[], list[Outcome] | None], counts: Callable[[Outcome], bool]
) -> list[Outcome] | None:
    """The outcomes of the first attempt in which all count, or of the last one."""
    for _ in range(_ATTEMPTS - 1):
        outcomes = run()
        if all(map(counts, outcomes or ())):
            return outcomes
    return run()


def _alone(context: Context, trial: Trial, allowance: Allowance) -> list[Outcome] | None:
    outcome = run_within(context, trial, allowance.remaining_s())
    return None if outcome is None else [outcome]


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


class Budget:
    """The remaining time over all sessions of the result: the trials' own time, and this session's clock."""

    def __init__(
        self, campaign: Campaign, planned: Sequence[Trial], outcomes: Sequence[Outcome], begun_s: float
    ) -> None:
        """``outcomes`` grows as trials end; ``begun_s``: this session's start by ``time.monotonic``."""
        self.outcomes = outcomes
        self.is_wanted: Callable[[Trial], bool] = lambda _: True
        spent_s = sum(outcome.elapsed_s for outcome in outcomes)
        self._left_s = None if campaign.budget_s is None else campaign.budget_s - spent_s
        self._begun = begun_s
        self._planned = planned
        self._allowed_block: int | None = None

    def remaining(self) -> float | None:
        return None if self._left_s is None else max(0.0, self._left_s - (time.monotonic() - self._begun))

    def allowance(self) -> Allowance:
        return Allowance(may_begin=self._may_begin, remaining_s=self._remaining_or_endless)

    def _remaining_or_endless(self) -> float:
        remaining = self.remaining()
        return math.inf if remaining is None else remaining

    def _may_begin(self, trial: Trial) -> bool:
        """Judge a whole block at its beginning, and within it only whether any time is left."""
        remaining = self.remaining()
        if trial.block != self._allowed_block:
            done = {outcome.trial.identity for outcome in self.outcomes}
            block = (
                planned
                for planned in self._planned
                if planned.block == trial.block and self.is_wanted(planned)
            )
            rest = [trial for trial in block if trial.identity not in done]
            if not next_block_fits(rest, self.outcomes, remaining):
                return False
            self._allowed_block = trial.block
        return remaining is None or remaining > 0


def units(trials: Sequence[Trial]) -> Iterator[tuple[Trial, ...]]:
    """The units, each with its trials in order, at the position of its first trial.

    Resident programs of one block and layout share the starts of their nodes; any other workload has its own. Whole
    runs of one cell are a unit, in an order of their own.
    """
    together: dict[_Key, list[Trial]] = {}
    for trial in trials:
        if trial.turns is not None:
            together.setdefault(_key(trial), []).append(trial)
    for cell in cells_of(trials):
        if cell[0].turns is None:
            yield tuple(cell)
        elif members := together.pop(_key(cell[0]), None):
            yield tuple(members)


def _key(trial: Trial) -> _Key:
    resident = trial.workload.way is Way.SLICES
    return trial.block, trial.setting, "" if resident else trial.workload.name


def wanted_of(unit: Sequence[Trial], is_wanted: Callable[[Trial], bool]) -> tuple[Trial, ...]:
    """Its trials whose arms have not stopped."""
    return tuple(trial for trial in unit if is_wanted(trial))


def run_pilot(context: Context, planned: Sequence[Trial], remaining_s: Callable[[], float]) -> list[Outcome]:
    """Run each workload natively once: a command that fails here would fail everywhere, so say it at once.

    The outcomes say how long the campaign will take; they are compared with nothing, as a first run is a cold one. The
    budget applies. Raises ``InputError``, or ``HostError`` if native itself is no valid reference.
    """
    firsts: dict[str, Trial] = {}
    for trial in planned:
        if trial.environment.name == NATIVE:
            firsts.setdefault(trial.program, trial)
    return [_first_run(context, trial, remaining_s) for trial in firsts.values()]


def _first_run(context: Context, trial: Trial, remaining_s: Callable[[], float]) -> Outcome:
    """A program that fails sometimes is worth weighing: it has three attempts."""
    for _ in range(_ATTEMPTS):
        outcome = _tried(context, trial, remaining_s())
        if outcome.status is not Status.FAILED:
            return outcome
        if not any(run.exit_code is not None and not run.ended_well for run in outcome.instances):
            break  # it never ran, so that it is no matter of luck
    said = f"\n{outcome.excerpt.strip()}" if outcome.excerpt else ""
    who = "" if context.user is None else f"; it ran as {context.user}, see --as in docs/security.md"
    raise InputError(f"the command does not run natively in the image: {outcome.reason}{who}{said}")


def _tried(context: Context, trial: Trial, remaining_s: float) -> Outcome:
    outcome = run_within(context, trial, remaining_s)
    if outcome is None:
        raise InputError(
            f"the first native run did not end within the {format_duration(remaining_s)} that are left of the budget: "
            "give a larger --budget, or a shorter command"
        )
    if outcome.excluded_by is Rule.UNEQUAL:
        raise HostError(f"nothing can be compared with native as it is here: {outcome.reason}")
    remember_peak(context, outcome)
    return outcome


def remember_peak(context: Context, outcome: Outcome) -> None:
    """Record the memory of a native command, as if each of its processors had a process of that size."""
    trial = outcome.trial
    if trial.environment.name == NATIVE and outcome.instances:
        largest_byte = max(run.maximum_rss_byte for run in outcome.instances)
        seen_byte = trial.layout.total_processors * largest_byte
        known_byte = context.peak_byte.get(trial.program, 0)
        context.peak_byte[trial.program] = max(known_byte, seen_byte)
