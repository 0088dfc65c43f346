# SPDX-License-Identifier: Apache-2.0
"""Progress on standard error: one self-updating line on a terminal, a line per trial elsewhere."""

import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import TextIO

from tare.commands.line import Shown
from tare.commands.terminal import own
from tare.foreign import one_line
from tare.measure.others import busy_said, said_of_trial
from tare.plan.budget import BudgetPlan
from tare.records import HostLoad, Outcome, Status, Trial
from tare.units import format_duration

_LOG_EVERY_S = 10.0
"""Between two lines of progress where there is no terminal."""
_LONG_S = 600.0
"""A run that is expected to take longer is asked about."""
_WAITED_S = 60.0
"""A plan that takes less is shown in the line of progress, and goes with it."""
_BEFORE_THE_FIRST = -1
_USUAL_COLUMNS = 80


def _is_long(plan: BudgetPlan) -> bool:
    expected_s = plan.expected_s
    if plan.budget_s is not None and expected_s is not None:
        expected_s = min(expected_s, plan.budget_s)
    return expected_s is not None and expected_s > _LONG_S


class Progress:
    """The command line's audience of a run."""

    def __init__(
        self,
        stream: TextIO | None = None,
        opening: Callable[[int], Sequence[str]] | None = None,
        shown: Shown | None = None,
    ) -> None:
        """``opening``: number of blocks → text before the first trial of the campaign."""
        self._stream = stream or sys.stderr
        self._opening = opening or (lambda _: ())
        self._shown = shown or Shown()
        self._said_at_s = -math.inf
        self._reasons: set[str] = set()
        self._terminal = self._stream.isatty()
        self._left = 0
        self._ended = 0
        self._expected_s: float | None = None
        self._spent_s = 0.0
        self._trial = ""
        self._trial_begun = time.monotonic()
        self._busy_block: int | None = None
        self._was_busy = False

    def says(self, words: str, *, detail: bool = False) -> None:
        if not detail or self._shown.verbose:
            self._erase()
            print(words, file=self._stream, flush=True)

    def meets(self, load: HostLoad) -> None:
        self.says(busy_said(load))
        self._busy_block, self._was_busy = _BEFORE_THE_FIRST, True

    def plans(self, plan: BudgetPlan) -> None:
        """``KeyboardInterrupt`` if the user, asked about a long run, does not want it."""
        self._left, self._expected_s = plan.left_trials, plan.expected_s
        for warning in plan.warnings:
            self.says(f"warning: {warning}")
        if not self._shown.quiet:
            self.says(plan.sentence, detail=self._is_seen_soon(plan))
            for line in self._opening(plan.final_blocks) if plan.left_trials else ():
                self.says(line)
        if self._shown.asks and self._terminal and _is_long(plan) and sys.stdin.isatty():
            self._ask()

    def _is_seen_soon(self, plan: BudgetPlan) -> bool:
        """Whether the line of progress says all that the plan does, and the end is near."""
        whole = 0 < plan.left_trials == plan.planned_trials and plan.budget_s is None and len(plan.looks) < 2  # noqa: PLR2004
        return self._terminal and whole and plan.expected_s is not None and plan.expected_s < _WAITED_S

    def _ask(self) -> None:
        print("go on? [Y/n] (--yes: never ask) ", end="", file=self._stream, flush=True)
        if sys.stdin.readline().strip().lower() not in {"", "y", "yes"}:
            raise KeyboardInterrupt

    def begins(self, trial: Trial) -> None:
        self._trial, self._trial_begun = trial.identity, time.monotonic()
        self.tick()

    def tick(self) -> None:
        if self._terminal and not self._shown.quiet:
            now = time.monotonic()
            self._erase()
            here = format_duration(now - self._trial_begun)
            words = one_line(f"[{self._ended + 1}/{self._left}] {self._trial} {here}{self._remaining()}")
            self._stream.write(words[: self._columns() - 1])
            self._stream.flush()

    def ended(self, outcome: Outcome) -> None:
        self._ended += 1
        self._spent_s += outcome.elapsed_s
        self._tell_load(outcome)
        if outcome.status is not Status.OK:
            self._say_lost(outcome)
        elif not self._terminal and self._is_time():
            took = format_duration(outcome.elapsed_s)
            self.says(f"[{self._ended}/{self._left}] {outcome.trial.identity} {took}{self._remaining()}")

    def _say_lost(self, outcome: Outcome) -> None:
        """Say why a trial is lost, but not the same again and again: the answer counts them."""
        reason = one_line(str(outcome.reason))
        self.says(f"{outcome.trial.identity} {outcome.status}: {reason}", detail=reason in self._reasons)
        self._reasons.add(reason)

    def _is_time(self) -> bool:
        """Whether a line of progress is due: every trial if verbose, else seldom enough for a log."""
        now = time.monotonic()
        due = self._shown.verbose or now - self._said_at_s >= _LOG_EVERY_S
        if due:
            self._said_at_s = now
        return due and not self._shown.quiet

    def stops(self, words: str, spared_trials: int) -> None:
        self._left -= spared_trials
        self.says(words)

    def finish(self) -> None:
        self._erase()

    def _tell_load(self, outcome: Outcome) -> None:
        """Say that the machine becomes busy; the next times, and that a whole block was quiet again, are details."""
        load, block = outcome.load, outcome.trial.block
        if load is not None and load.busy:
            if self._busy_block is None:
                words = f"the machine is busy while {outcome.trial.identity} runs: {said_of_trial(load)}"
                self.says(words, detail=self._was_busy)
            self._busy_block, self._was_busy = block, True
        elif self._busy_block is not None and block > self._busy_block + 1:
            self.says(f"the machine is quiet again since block {self._busy_block + 1}", detail=True)
            self._busy_block = None

    def _remaining(self) -> str:
        """Remaining time, from the trials of this session; before the first, from the plan."""
        if self._ended:
            rest_s = self._spent_s / self._ended * (self._left - self._ended)
        elif self._expected_s is not None:
            rest_s = self._expected_s
        else:
            return ""
        return f", about {format_duration(rest_s)} left" if rest_s >= 1 else ""

    def _columns(self) -> int:
        """A line that wraps could not be erased."""
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or _USUAL_COLUMNS
        except (OSError, ValueError):  # no terminal after all, or one without a size
            return _USUAL_COLUMNS

    def _erase(self) -> None:
        if self._terminal:
            own(self._stream).write("\r\x1b[K")


class PilotProgress(Progress):
    """Progress of a pilot, without its plan, which is not the user's."""

    def plans(self, plan: BudgetPlan) -> None:
        self._left, self._expected_s = plan.left_trials, plan.expected_s
