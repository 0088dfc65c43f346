# SPDX-License-Identifier: Apache-2.0
"""Environments that come and go between the sessions of a result: which planned trials run, and which are skipped.

A missing environment is left out of the session, and tried again in the next. Once it is usable, it joins every block
of a cell in which no trial has run without it. A finished block is not made up: its native trials are from another
time, and a drift of the machine in between would count as overhead. While all environments are missing, native runs
only in blocks that they have finished: otherwise it would use up blocks for nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from tare.journal.reader import Journal
from tare.measure.stopping import cell_of, environments_of
from tare.plan.definition import Campaign
from tare.plan.trials import plan_trials
from tare.records import NATIVE, Skipped, Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanNow:
    """The rest of a campaign's plan, given past and present missing environments."""

    trials: tuple[Trial, ...]
    """Finished trials and trials that can run now, in the order of the plan."""
    usable: tuple[Trial, ...]
    """The part of ``trials`` without a missing environment."""
    waiting: tuple[Trial, ...]
    """Trials that can run once the missing environments are usable again."""
    passed_over: tuple[Trial, ...]
    """Trials that never run: other trials of their cell and block ran while their environment was missing."""


def plan_now(campaign: Campaign, journal: Journal, absent: AbstractSet[str]) -> PlanNow:
    """Examine the whole plan; ``absent``: the environments missing now."""
    planned, done = plan_trials(campaign, campaign.seed or 0), journal.done
    over = _passed_over(planned, journal, done)
    gone = {trial.identity for trial in over}
    lacking = {trial.identity for trial in planned if absent & environments_of(trial)}
    left = [trial for trial in planned if trial.identity not in done and trial.identity not in gone]
    waits = lacking if can_be_compared(campaign, absent) else _all_but_ended(left, lacking, journal)
    now = {trial.identity for trial in left if trial.identity not in waits}
    trials = tuple(trial for trial in planned if trial.identity in done or trial.identity in now)
    return PlanNow(
        trials=trials,
        usable=tuple(trial for trial in trials if trial.identity not in lacking),
        waiting=tuple(trial for trial in left if trial.identity in waits),
        passed_over=over,
    )


def can_be_compared(campaign: Campaign, absent: AbstractSet[str]) -> bool:
    """Whether any requested environment is usable, or none was requested."""
    return not campaign.environments or any(
        environment.name not in absent for environment in campaign.environments
    )


def _all_but_ended(left: Sequence[Trial], lacking: AbstractSet[str], journal: Journal) -> AbstractSet[str]:
    """Identities of ``left``, except in cells and blocks where only native is left to run."""
    waiting = {_place(trial) for trial in left if trial.identity in lacking}
    begun = {
        _place(outcome.trial) for outcome in journal.outcomes if environments_of(outcome.trial) != {NATIVE}
    }
    return {trial.identity for trial in left if _place(trial) in waiting or _place(trial) not in begun}


def _passed_over(planned: Iterable[Trial], journal: Journal, done: AbstractSet[str]) -> tuple[Trial, ...]:
    lacked: dict[tuple[str, str, int], set[str]] = {}
    for outcome, names in zip(journal.outcomes, journal.without, strict=True):
        if names:
            lacked.setdefault(_place(outcome.trial), set()).update(names)
    return tuple(
        trial
        for trial in planned
        if trial.identity not in done and environments_of(trial) & lacked.get(_place(trial), set())
    )


def _place(trial: Trial) -> tuple[str, str, int]:
    cell = cell_of(trial)
    return cell.workload, cell.layout, trial.block


def joining_said(now: PlanNow, journal: Journal, absent: AbstractSet[str], again: str) -> Iterator[str]:
    """A sentence on each environment that is no longer missing; ``again``: the command that begins anew."""
    missed = {skipped.environment for skipped in journal.sessions[-1].skipped} if journal.sessions else set()
    done = journal.done
    for name in sorted(missed - absent):
        left = len(_blocks((trial for trial in now.usable if trial.identity not in done), name))
        over = len(_blocks(now.passed_over, name))
        if left and not over:
            yield f"{name} is usable now, and no block went on without it"
        elif left:
            yield f"{name} is usable now: {left} of its {left + over} blocks are left, the others went on without it"
        else:
            yield (
                f"{name} is usable now, but no block is left for it: all {over} went on without it. "
                f"To compare it, begin a new result: {again}"
            )


def _blocks(trials: Iterable[Trial], environment: str) -> set[int]:
    return {trial.block for trial in trials if environment in environments_of(trial)}


def _then(skipped: Skipped, missing: AbstractSet[str]) -> Skipped:
    """Adjust an environment that is usable by now: it needs no remedy but a new result."""
    if skipped.environment in missing:
        return skipped
    return replace(
        skipped, reason=f"{skipped.reason}, at that time", remedy="begin a new result: it is usable now"
    )


def skipped_in(journal: Journal, now: PlanNow) -> tuple[Skipped, ...]:
    """What was skipped in the whole result or in some of its blocks, with the last given reason."""
    last = {skipped.environment: skipped for session in journal.sessions for skipped in session.skipped}
    ran = {name for outcome in journal.outcomes for name in environments_of(outcome.trial)}
    waiting = {name for trial in now.waiting for name in environments_of(trial)}
    blocks = {name: len(_blocks(now.passed_over, name)) for name in last}
    missing = {skipped.environment for skipped in journal.sessions[-1].skipped} if journal.sessions else set()
    return tuple(
        skipped if name in missing - ran else replace(_then(skipped, missing), blocks=blocks[name])
        for name, skipped in last.items()
        if blocks[name] or name in missing & waiting
    )
