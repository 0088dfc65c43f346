# SPDX-License-Identifier: Apache-2.0
"""One arm's trial while it takes turns: its resident program and its counts."""

import math
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any

from tare.errors import ClockFault, EndedInTurn, TrialError, WorkOutOfTurn
from tare.measure.attempt import Attempt
from tare.measure.clock_line import ClockProbe
from tare.measure.context import Context
from tare.measure.counted import CpuUsage
from tare.measure.failures import refuse_victims
from tare.measure.instances import OUTPUT, Instance, checked, ended_runs, ready_instances
from tare.measure.iterations import with_start
from tare.measure.look import TrialLooks, looked_at
from tare.measure.mpi_facts import path_facts
from tare.measure.prepared import Prepared, Up, prepared
from tare.measure.stopwatch import Stopwatch
from tare.measure.trial import bring_back, kept_output, parse
from tare.nodes.provider import NodeGroup
from tare.records import InstanceRun
from tare.workloads import KINDS, excerpt
from tare.workloads.kind import WorkloadKind
from tare.workloads.mpi import last_words

_END_LIMIT_S = 15.0
"""How long a program may take to end after the end of its input."""
_LONGEST_WORDS = 300
"""Characters of a program's last words in the reason for a lost trial."""

MOST_WAITING_SHARE = 0.01
"""Fraction of an arm's processors that its nodes may use while others have their turns."""
MOST_WAITING_SHARE_OF_GUESTS = 0.05
"""The same for nodes with their own kernels, whose timers alone took 2 to 4 % of an emulated processor."""
_LEAST_JUDGED_S = 1.0
"""Minimum waiting time to judge; below it a hundredth equals the return to sleep of a few turns."""
PAUSE_S = 1.0
"""Minimum time between two glances; whole trials have them equally often."""


class Player:
    """An arm's trial in turns; an error ends only this arm's trial, and the others go on."""

    def __init__(self, attempt: Attempt, ready: Prepared, look: TrialLooks) -> None:
        self.attempt, self.ready, self.look = attempt, ready, look
        self.stopwatches: list[Stopwatch] = []
        self._instances: Sequence[Instance] = ()
        self._probes: list[list[ClockProbe]] = []
        self._number: int | None = None
        self._between: tuple[CpuUsage, float] | None = None
        self.busy_s = 0.0
        self.waiting_cpu_s: float | None = 0.0
        self.waiting_s = 0.0
        self._uptime_s = 0.0
        self.turns = 0
        """Number of turns so far; ``busy_s``: CPU time of its nodes during them, ``waiting_cpu_s``: between them."""

    @property
    def name(self) -> str:
        return self.attempt.trial.environment.name

    @property
    def own_kernel(self) -> bool:
        return any(node.own_kernel for node in self.ready.up.nodes)

    @property
    def _kind(self) -> WorkloadKind:
        return KINDS[self.attempt.trial.workload.kind]

    @property
    def playing(self) -> bool:
        return not self.attempt.lost

    def start(self, process: int, stack: ExitStack, limit_s: float | None = None) -> None:
        """Prepare the commands for the ``process``-th time; ``limit_s``: their wall-clock limit."""
        with self.attempt.guarded():
            self.ready.watched.fuse.mend()  # its nodes were used before
            repetition = self.ready.wanted[process]
            self._number = repetition.number
            self._instances = [
                instance if limit_s is None else replace(instance, limit_s=limit_s)
                for instance in repetition.instances
            ]
            own = ExitStack()
            stack.callback(close_guarded, self.attempt, own)
            self.stopwatches = own.enter_context(ready_instances(self._instances))
            self.look.ready(self._instances, self.stopwatches)
            self.attempt.measured.gathered.begun += self._instances
            if process == 0:
                self.look.begin()
            self._uptime_s = time.monotonic() - self.ready.up.up_s

    def go(self) -> None:
        """Start the resident programs; they wait for their first turn."""
        with self.attempt.guarded():
            self._between = None
            self._probes = [stopwatch.probe() for stopwatch in self.stopwatches]
            for stopwatch in self.stopwatches:
                stopwatch.go()

    def turn(self, token: str) -> list[Mapping[str, Any]]:
        """Let all instances do one slice; return each one's report, or nothing if the trial is lost."""
        answers: list[Mapping[str, Any]] = []
        if not self.playing:
            return answers
        with self.attempt.guarded():
            usage = CpuUsage(self.ready.watched.all_groups)
            self._waited()
            try:
                for stopwatch in self.stopwatches:
                    stopwatch.turn(token)
                answers = [
                    stopwatch.await_took(self.attempt.trial.limits.time_s) for stopwatch in self.stopwatches
                ]
            except Exception as error:
                self._end_commands()
                # If a limit killed the program, that is the better reason.
                refuse_victims(self.ready.watched)
                if isinstance(error, TrialError):
                    error.excerpt = error.excerpt or self._complaint()
                if isinstance(error, EndedInTurn) and error.excerpt:
                    said = excerpt.head(last_words(error.excerpt), _LONGEST_WORDS)
                    raise EndedInTurn(f"{error}: {said}", error.done) from error
                raise
            self.busy_s += usage.used_s() or 0.0
            self.turns += 1
            self._between = CpuUsage(self.ready.watched.all_groups), time.monotonic()
        return answers

    def glance(self) -> None:
        """Look at clocks and levels, while no arm has its turn."""
        if self.playing:
            with self.attempt.guarded():
                self.look.between_turns()

    def _waited(self) -> None:
        """Count what its nodes used since its last turn; the start of a program is not waiting time."""
        if self._between is None:
            return
        usage, since_s = self._between
        used_s = usage.used_s()
        known = used_s is not None and self.waiting_cpu_s is not None
        self.waiting_cpu_s = (self.waiting_cpu_s or 0.0) + (used_s or 0.0) if known else None
        self.waiting_s += time.monotonic() - since_s

    def _end_commands(self) -> None:
        """End the commands: a lost arm must not go on computing during the turns of others."""
        self.ready.watched.fuse.blow()
        for stopwatch in self.stopwatches:
            with suppress(Exception):
                stopwatch.end_command(_END_LIMIT_S)

    def _complaint(self) -> str | None:
        """The programs' standard error."""
        said = (instance.complaint(OUTPUT) for instance in self._instances)
        return "\n".join(filter(None, said)) or None

    def stop(self) -> None:
        """End the resident programs, and keep the stopwatches' reports on them."""
        with self.attempt.guarded():
            for stopwatch in self.stopwatches:
                stopwatch.end_turns()
            patient = [replace(instance, limit_s=_END_LIMIT_S) for instance in self._instances]
            try:
                self.keep(ended_runs(patient, self.stopwatches, self._probes))
            except Exception:
                self._end_commands()
                raise

    def keep(self, runs: Sequence[InstanceRun], *, ended: bool = False) -> None:
        """Keep the stopwatches' reports; ``ended``: of whole runs, whose results can be checked now."""
        gathered = self.attempt.measured.gathered
        if ended:
            runs = checked(self._instances, runs)
        gathered.runs += with_start(runs, self._number, self._uptime_s)

    def finish(self, *, whole: bool) -> None:
        """Record the counts, and how the programs ended.

        ``whole``: their own wall times are samples; runs of one number are a round of all arms.
        """
        if not self.playing:
            return
        with self.attempt.guarded():
            measured = self.attempt.measured
            self.look.end()
            self.look.note(whole=whole)
            bring_back(measured.gathered, self.attempt.trial)
            for repetition in self.ready.wanted[:1] if not whole else ():
                for instance in repetition.instances:
                    output = instance.output()
                    measured.learn(self._kind.facts(repetition.options, output))
                    measured.learn(path_facts(instance.seat, output.stderr))
            if not whole and measured.timing.fault is not None:
                raise ClockFault(f"the slices are timed by a clock that is wrong: {measured.timing.fault}")
            if not whole:
                self._refuse_work_out_of_turn()
            if whole:
                failed = measured.gathered.failed
                for repetition in self.ready.wanted[: len(measured.gathered.cpu_s)]:
                    if repetition.number not in failed:
                        parse(self._kind, repetition, measured)
                measured.samples = [
                    replace(sample, iteration=None, round=sample.iteration, process=sample.iteration)
                    for sample in measured.samples
                    if sample.iteration not in failed
                ]
            self.attempt.finish()

    def _refuse_work_out_of_turn(self) -> None:
        """Refuse work in a waiting node, which slows the others' slices but not its own: it would seem faster."""
        if self.waiting_cpu_s is None or self.waiting_s < _LEAST_JUDGED_S:
            return
        processors = self.attempt.trial.layout.total_processors
        share = self.waiting_cpu_s / self.waiting_s / processors
        most = MOST_WAITING_SHARE_OF_GUESTS if self.own_kernel else MOST_WAITING_SHARE
        if share > most:
            raise WorkOutOfTurn(
                f"{self.name}'s nodes used {share:.1%} of their processors while others had their turns, more than "
                f"{most:.0%}; have the program, and what runs in the nodes beside it, wait without working"
            )


def close_guarded(attempt: Attempt, stack: ExitStack) -> None:
    """Close an arm; an error while closing also ends only its own trial."""
    with attempt.guarded():
        stack.close()


def players(context: Context, group: Sequence[tuple[Attempt, Up]], stack: ExitStack) -> list[Player]:
    """The players whose trials can begin, all ready; the other trials are lost with their reasons."""
    able: list[tuple[Attempt, Prepared]] = []
    for attempt, up in group:
        own = ExitStack()
        stack.callback(close_guarded, attempt, own)
        with attempt.guarded():
            ready = own.enter_context(prepared(context, attempt.trial, up, attempt.measured, by_turns=True))
            own.enter_context(kept_output(context, attempt.trial, attempt.measured))
            able.append((attempt, ready))
    return [player for each in able if (player := _player(context, each, able, stack))]


def _player(
    context: Context,
    own: tuple[Attempt, Prepared],
    able: Sequence[tuple[Attempt, Prepared]],
    stack: ExitStack,
) -> Player | None:
    attempt, ready = own
    others: list[NodeGroup] = [group for _, other in able if other is not ready for group in other.up.groups]
    looks: list[TrialLooks] = []
    with attempt.guarded():
        looks.append(stack.enter_context(looked_at(context, ready, attempt.measured, others)))
    return Player(attempt, ready, looks[0]) if looks else None


class Glances:
    """Glances at the arms of one workload and block.

    A glance at all arms about once a second, between two turns, so that its cost falls into no turn.
    """

    def __init__(self, context: Context, ready: Sequence[Player]) -> None:
        self._context, self._ready = context, ready
        self._last_s = -math.inf

    def between_turns(self) -> None:
        """Glance if it is time; call this whenever no arm has its turn."""
        if time.monotonic() - self._last_s < PAUSE_S:
            return
        self._context.tick()
        for player in self._ready:
            player.glance()
        self._last_s = time.monotonic()
