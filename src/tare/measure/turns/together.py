# SPDX-License-Identifier: Apache-2.0
"""The trials of a block that take turns: one start of the nodes for each arm, then workload after workload."""

import random
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from tare.measure.attempt import Attempt
from tare.measure.context import Context
from tare.measure.prepared import Up, forget, nodes_up
from tare.measure.stopping import cell_of
from tare.measure.turns.frozen import play_frozen, too_large, unfit
from tare.measure.turns.player import players
from tare.measure.turns.slices import play_slices
from tare.records import Outcome, Trial, Way
from tare.workloads import pieces_of


@dataclass(slots=True)
class _SharedStart:
    """The trials of an environment or a native slot, which share one start of its nodes."""

    attempts: list[Attempt] = field(default_factory=list)
    up: Up | None = None

    def start(self, context: Context, stack: ExitStack) -> None:
        """Start the nodes; all its trials are lost if that fails."""
        first, *others = self.attempts
        with first.guarded():
            self.up = stack.enter_context(nodes_up(context, first.trial, first.measured))
        for attempt in others:
            attempt.follow(first)


RESIDENT_BYTE = 512 << 20
"""Maximum memory of Tare's own resident programs in one node, including their tables of 32 to 128 MiB."""
_WORKS_ON = "a device, such as a GPU, works on while its program is frozen"
WHOLE = "run whole"
"""The fact with the reason why a command did not take turns as planned."""


def run_together(context: Context, trials: Sequence[Trial]) -> list[Outcome] | None:
    """Measure trials of one block and layout, in the order of their slots; one outcome each, in the given order.

    ``None`` if they must run whole, one by one: ``context.whole`` says why.
    """
    cell = cell_of(trials[0])
    if cell not in context.whole and (reason := _unfit(context, trials)):
        _give_up_turns(context, trials, reason)
    if cell not in context.whole:
        outcomes, reason = _by_turns(context, trials)
        if reason is None:
            context.allotment.learn(outcomes)
            context.turned.update(cell_of(outcome.trial) for outcome in outcomes if outcome.turns)
            return outcomes
        _give_up_turns(context, trials, reason)
    return None


def _unfit(context: Context, trials: Sequence[Trial]) -> str | None:
    """Why they cannot take turns; resident programs of several workloads share the nodes of their arm."""
    if any(cell_of(trial) in context.turned for trial in trials):
        return None
    program = trials[0].program
    own = [trial for trial in trials if trial.program == program]
    if trials[0].workload.way is Way.FREEZER:
        if context.has_devices:
            return _WORKS_ON
        return unfit(own, context.peak_byte.get(program))
    answers_only = any(piece.fixed for piece in pieces_of(trials[0].workload))
    return None if answers_only else too_large(own, context.peak_byte.get(program, RESIDENT_BYTE))


def _give_up_turns(context: Context, trials: Sequence[Trial], reason: str) -> None:
    for cell in dict.fromkeys(map(cell_of, trials)):
        context.whole[cell] = reason
        context.say(f"{cell.workload} takes no turns, every run is timed from start to end: {reason}")


def _by_turns(context: Context, trials: Sequence[Trial]) -> tuple[list[Outcome], str | None]:
    """The outcomes, with the total time divided equally among them, and why they cannot be used, if so."""
    begun = time.monotonic()
    attempts = [Attempt(trial, context.image_digest, context.raw_directory) for trial in trials]
    arms = _arms(attempts)
    source = random.Random(f"{context.seed}-{trials[0].identity}-turns")  # noqa: S311 - an order, not a secret
    with ExitStack() as nodes:
        for arm in arms:
            arm.start(context, nodes)
        reasons = [_play_or_lose(context, group, source) for group in _by_workload(arms)]
    for attempt in attempts:
        if attempt.lost:
            forget(context, attempt.trial)
    elapsed_s = (time.monotonic() - begun) / len(attempts)
    return [attempt.outcome(elapsed_s) for attempt in attempts], next(filter(None, reasons), None)


def _arms(attempts: Sequence[Attempt]) -> list[_SharedStart]:
    arms: dict[tuple[str, int], _SharedStart] = {}
    for attempt in attempts:
        trial = attempt.trial
        arms.setdefault((trial.environment.name, trial.replicate), _SharedStart()).attempts.append(attempt)
    return list(arms.values())


def _by_workload(arms: Sequence[_SharedStart]) -> Iterator[list[tuple[Attempt, Up]]]:
    """The workloads in the order of the trials, each with the arms whose nodes are up."""
    names = dict.fromkeys(attempt.trial.workload.name for arm in arms for attempt in arm.attempts)
    for name in names:
        yield [
            (attempt, arm.up)
            for arm in arms
            if arm.up is not None
            for attempt in arm.attempts
            if attempt.trial.workload.name == name
        ]


def _play_or_lose(context: Context, group: Sequence[tuple[Attempt, Up]], source: random.Random) -> str | None:
    """As ``_play``; an error that affects all its arms at once loses these trials, but no other workload's."""
    try:
        return _play(context, group, source)
    except Exception:
        for attempt, _ in group:
            with attempt.guarded():
                raise
        return None


def _play(context: Context, group: Sequence[tuple[Attempt, Up]], source: random.Random) -> str | None:
    """Let the arms of one workload take turns; return why they must run whole instead, if so."""
    reason, together = None, secrets.token_hex(4)
    with ExitStack() as stack:
        ready = players(context, group, stack)
        if not ready:
            return None
        resident = ready[0].attempt.trial.workload.way is Way.SLICES
        if resident:
            play_slices(context, ready, source, together)
        else:
            reason = play_frozen(context, ready, source, together)
        for player in ready:
            if reason is None:
                player.finish(whole=not resident)
    return reason
