# SPDX-License-Identifier: Apache-2.0
"""A scheduler whose jobs run in this process: one step each time it is asked for its list."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from tare.commands.element import new_element
from tare.measure.left import ResultProgress
from tare.submission.folder import Asked, Element, JobsFolder
from tare.submission.scheduler import JobPhase, QueuedJob, SilentError, Submission, Wish

NAME = "tare-fake"
TRIALS_PER_BLOCK = 3


class FakeQueue:
    """``job``: what a job does that no fate befalls; it returns how it ended."""

    chains = True

    def __init__(self, jobs: JobsFolder, job: Callable[[Element], None], fates: Sequence[str] = ()) -> None:
        """``fates``: of the first jobs (``lost``, ``cancelled``) and polls (``silent``); else they ``measure``."""
        self.folder = jobs
        self.job = job
        self.fates = list(fates)
        self.listed: dict[str, QueuedJob] = {}
        self.counts: list[int] = []
        jobs.path.mkdir(parents=True)
        jobs.keep(Asked(scheduler="slurm", name=NAME, wish=Wish(nodes=2), argv=("tare",), arrays={}))

    def submit(self, submission: Submission) -> str:
        self.counts.append(submission.count)
        array = str(len(self.counts))
        for element in range(submission.count):
            identity = f"{array}_{element}"
            self.listed[identity] = QueuedJob(identity=identity, phase=JobPhase.QUEUED, reason="Priority")
        return array

    def jobs(self, name: str) -> Sequence[QueuedJob]:
        assert name == NAME
        if self.counts and self.fates[:1] == ["silent"]:
            self.fates.pop(0)
            raise SilentError("Unable to contact slurm controller")
        if running := self._first(JobPhase.RUNNING):
            self._end(running, self._run(running))
        elif queued := self._first(JobPhase.QUEUED):
            self.listed[queued] = QueuedJob(identity=queued, phase=JobPhase.RUNNING, nodes="n[1-2]")
        return list(self.listed.values())

    def cancel(self, name: str, *, queued_only: bool = False) -> None:
        assert name == NAME
        phases = {JobPhase.QUEUED} if queued_only else {JobPhase.QUEUED, JobPhase.RUNNING}
        for identity, job in self.listed.items():
            if job.phase in phases:
                self._end(identity, JobPhase.CANCELLED)

    def cancel_words(self, name: str) -> str:
        return f"end {name}"

    def _run(self, identity: str) -> JobPhase:
        fate = self.fates.pop(0) if self.fates else "measure"
        begun = new_element(identity, {"SLURM_JOB_NODELIST": "n[1-2]"})
        if fate in {"lost", "cancelled"}:
            self.folder.note(begun)
            return JobPhase(fate)
        self.job(begun)
        return JobPhase.ENDED

    def _first(self, phase: JobPhase) -> str | None:
        return next((identity for identity, job in self.listed.items() if job.phase is phase), None)

    def _end(self, identity: str, phase: JobPhase) -> None:
        reason = "NODE_FAIL" if phase is JobPhase.LOST else None
        self.listed[identity] = QueuedJob(identity=identity, phase=phase, reason=reason, nodes="n[1-2]")


class FakeResult:
    """How far a result is whose jobs measure nothing but count."""

    def __init__(self, jobs: JobsFolder, blocks: int = 3) -> None:
        self.folder = jobs
        self.blocks = blocks
        self.measured: Counter[int] = Counter()
        """Block → how often it was measured."""
        self.ending: dict[str, object] = {}
        """What the record of every job says beside its trials."""

    def measure(self, begun: Element) -> None:
        """As a job does: the next undone block, and its record."""
        self.folder.note(begun)
        if self.ending:
            self.folder.note(replace(begun, ended_utc="later", trials=0, **self.ending))  # type: ignore[arg-type]
            return
        self.measured[len(self.measured)] += 1
        complete = len(self.measured) == self.blocks
        self.folder.note(replace(begun, ended_utc="later", trials=TRIALS_PER_BLOCK, complete=complete))

    def standing(self) -> ResultProgress | None:
        if not self.measured:
            return None
        left = self.blocks - len(self.measured)
        return ResultProgress(
            outcomes=(),
            measured_trials=TRIALS_PER_BLOCK * len(self.measured),
            left_trials=TRIALS_PER_BLOCK * left,
            left_blocks=left,
            blocks=self.blocks,
        )
