# SPDX-License-Identifier: Apache-2.0
"""Jobs of a result watched until nothing is left to run: one line of progress, further jobs, and when to give up."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tare.commands.audience import Progress
from tare.commands.submitted import said_of_jobs
from tare.drawing.words import counted
from tare.errors import HostError, InputError, TareError
from tare.measure.left import ResultProgress
from tare.submission.folder import Element, JobsFolder, with_array
from tare.submission.scheduler import JobPhase, QueuedJob, Scheduler, SilentError, Submission

_POLL_S = 5.0
_FRUITLESS = 3
"""After so many rounds of jobs without a new trial nothing more is submitted."""


class JobsProgress(Progress):
    """The line of progress of a run that other hosts do: what the jobs are doing, beside how far the result is."""

    def begins_with(self, standing: ResultProgress | None) -> None:
        """What was measured before is counted, and not said again."""
        if standing is not None:
            self._ended, self._left = standing.measured_trials, standing.trials
            self._spent_s = sum(outcome.elapsed_s for outcome in standing.outcomes)

    def goes_on(self, words: str, standing: ResultProgress | None) -> None:
        """``words``: of the jobs now; ``standing``: ``None`` until the first job has begun the result."""
        changed = words != self._trial
        if standing is not None:
            self._left = standing.trials
            for outcome in standing.outcomes[self._ended :]:
                self.ended(outcome)
        if changed:
            self._trial, self._trial_begun = words, time.monotonic()
            if not self._terminal and not self._shown.quiet:
                self.says(words)
        self.tick()


@dataclass(slots=True, kw_only=True)
class Watch:
    """The jobs of one result."""

    jobs: JobsFolder
    scheduler: Scheduler
    standing: Callable[[], ResultProgress | None]
    """How far the result is; ``None`` until it was begun."""
    blocks: int
    """Number of jobs to submit as long as the result was not begun."""
    progress: JobsProgress
    sleep: Callable[[float], None] = time.sleep
    _arrays: set[str] = field(default_factory=set)
    """The arrays that this command submitted, or found at work."""
    _rounds: int = 0
    """Rounds of jobs that ended, one after the other, without a new trial."""
    _seen: int = -1
    """Trials when jobs were last submitted."""
    _silent: bool = False

    def start(self) -> str:
        """Submit, unless jobs are at work; returns what they do, in words. ``HostError`` if the scheduler is silent."""
        try:
            listed = self.scheduler.jobs(self.jobs.asked().name)
        except SilentError as error:
            raise HostError(
                f"the scheduler does not answer ({error}), so nothing was submitted; try again later"
            ) from error
        now = self.standing()
        self.progress.begins_with(now)
        if any(job.lives for job in listed):
            self._arrays |= {_array(job.identity) for job in listed if job.lives}
            self._seen = now.measured_trials if now else 0
            return said_of_jobs(listed)
        if now is not None and not now.left_trials:
            return "all trials are done"
        return self._submit(now)

    def finish(self) -> None:
        """Wait until nothing is left to run, and submit what is missing; ``TareError`` where that has no purpose."""
        while True:
            listed = self._listed()
            now = self.standing()
            if listed is not None:
                live = [job for job in listed if job.lives]
                if now is not None and not now.left_trials:
                    self._cancel_rest(live)
                    if not any(job.phase is JobPhase.RUNNING for job in live):
                        return
                if live:
                    self.progress.goes_on(said_of_jobs(listed), now)
                elif not self._go_on(listed, now):
                    return
            self.sleep(_POLL_S)

    def _listed(self) -> Sequence[QueuedJob] | None:
        """``None``, said once, as long as the scheduler does not answer: its jobs go on without it."""
        try:
            listed = self.scheduler.jobs(self.jobs.asked().name)
        except SilentError as error:
            if not self._silent:
                self.progress.says(
                    f"the scheduler does not answer ({error}); its jobs may go on, so Tare waits"
                )
            self._silent = True
            return None
        if self._silent:
            self.progress.says("the scheduler answers again")
        self._silent = False
        return listed

    def _cancel_rest(self, live: Sequence[QueuedJob]) -> None:
        """Cancel the queued ones; the last one that measured still writes the report."""
        try:
            if any(job.phase is JobPhase.QUEUED for job in live):
                self.scheduler.cancel(self.jobs.asked().name, queued_only=True)
        except SilentError:
            pass  # they will find nothing to do

    def _go_on(self, listed: Sequence[QueuedJob], now: ResultProgress | None) -> bool:
        """After the end of all jobs with trials left: submit more; ``False`` if the budget allows none."""
        elements = [
            element for element in self.jobs.elements().values() if _array(element.identity) in self._arrays
        ]
        last = max(elements, key=_order, default=None)
        if last is not None and last.ended_utc and not last.trials and not last.why:
            return False
        if error := self._why_stop(listed, last):
            raise error
        trials = now.measured_trials if now else 0
        self._rounds = self._rounds + 1 if trials == self._seen else 0
        if self._rounds >= _FRUITLESS:
            raise HostError(
                f"{_FRUITLESS} times in a row jobs ended without a new trial, the last time "
                f"{_end_said(listed, last)}; {self._see(last)}. When that is mended, {self._again()}"
            )
        words = self._submit(now)
        self.progress.says(f"{_end_said(listed, last)}, with trials left: {words}")
        return True

    def _why_stop(self, listed: Sequence[QueuedJob], last: Element | None) -> TareError | None:
        """Where further jobs would do the same, or where somebody does not want them."""
        if last is not None and last.wrong_input:
            where = f"job {last.identity} on {last.nodes or last.host}"
            return InputError(f"{where}: {last.why}; when that is mended, {self._again()}")
        if self._is_cancelled(listed):
            return HostError(
                f"the jobs {self.jobs.asked().name} were cancelled, with trials left; what was measured is kept: to "
                f"go on, {self._again()}"
            )
        return None

    def _is_cancelled(self, listed: Sequence[QueuedJob]) -> bool:
        """Whether the last job of all was: whoever cancels another one has the rest go on."""
        if not (arrays := self.jobs.asked().arrays):
            return False
        array, count = list(arrays.items())[-1]
        last = f"{array}_{count - 1}"
        phase = next((job.phase for job in listed if job.identity == last), None)
        return phase is JobPhase.CANCELLED or (phase is None and last not in self.jobs.elements())

    def _submit(self, now: ResultProgress | None) -> str:
        asked = self.jobs.asked()
        count = self.blocks if now is None else now.left_blocks
        count = count if self.scheduler.chains else min(1, count)
        self._seen = now.measured_trials if now else 0
        array = self.scheduler.submit(
            Submission(
                name=asked.name,
                count=count,
                script=self.jobs.script,
                logs=self.jobs.path,
                wish=asked.wish,
            )
        )
        self._arrays.add(array)
        self.jobs.keep(with_array(asked, array, count))
        nodes = counted(asked.wish.nodes, "node")
        each = "one for each block" if self.scheduler.chains else "for the next block"
        return f"submitted {counted(count, 'job')} of {nodes}, {each}: {array}"

    def _see(self, last: Element | None) -> str:
        return f"see {self.jobs.log(last.identity) if last else self.jobs.path}"

    def _again(self) -> str:
        return f"tare run {self.jobs.result.path} --on {self.jobs.asked().scheduler}"


def _order(element: Element) -> tuple[int, ...]:
    """Jobs begin in the order of their numbers."""
    return tuple(int(part) for part in element.identity.split("_") if part.isdecimal())


def _array(identity: str) -> str:
    return identity.partition("_")[0]


def _end_said(listed: Sequence[QueuedJob], last: Element | None) -> str:
    """How the last job ended, as the scheduler or it itself says."""
    if last is None:
        return "no job began"
    job = next((job for job in listed if job.identity == last.identity), None)
    if job is not None and job.phase is JobPhase.LOST:
        return f"job {last.identity} was lost ({job.reason}, on {last.nodes or last.host})"
    if last.why:
        return f"job {last.identity} ended: {last.why}"
    return f"job {last.identity} {'ended' if last.ended_utc else 'was killed'}"
