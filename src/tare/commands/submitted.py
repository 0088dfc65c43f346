# SPDX-License-Identifier: Apache-2.0
"""What the jobs of a result are doing, for ``tare show`` and for the command that watches them."""

import shlex
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tare.drawing.words import counted
from tare.errors import HostError, InputError
from tare.journal.result import ResultFolder
from tare.submission.folder import Element, JobsFolder
from tare.submission.psij import CANCELLED_BY, Psij
from tare.submission.scheduler import JobPhase, QueuedJob, Scheduler, SilentError
from tare.submission.slurm import Slurm

if TYPE_CHECKING:
    from tare.measure.left import ResultProgress

_PATIENCE_S = 15.0
"""How long ``tare show`` waits for the scheduler: the files say nearly as much."""


SCHEDULERS: dict[str, Callable[[JobsFolder, float], Scheduler]] = {
    "slurm": lambda _, limit_s: Slurm(limit_s),
    **{kind: partial(Psij, kind) for kind in CANCELLED_BY},
}
"""Name → how it is made for a result's jobs; the number is how many seconds an answer is waited for."""


def require_known(name: str) -> None:
    """``InputError`` for a scheduler that Tare does not know."""
    if name not in SCHEDULERS:
        raise InputError(f"--on: {name!r} is no scheduler that Tare knows; write {' or '.join(SCHEDULERS)}")


def scheduler_of(name: str, jobs: JobsFolder, limit_s: float = 200.0) -> Scheduler:
    """The one that has these jobs; ``InputError`` for one that Tare does not know."""
    require_known(name)
    return SCHEDULERS[name](jobs, limit_s)


def standing_of(folder: ResultFolder) -> "ResultProgress | None":
    """How far the result is; ``None`` until a job has begun it."""
    from tare.measure.left import standing
    from tare.pipeline import stopped

    return standing(folder, stopped) if folder.exists() else None


def jobs_said(folder: ResultFolder) -> str | None:
    """How far the jobs of a result are, in a sentence; ``None`` for one without jobs, and when all are done."""
    jobs = JobsFolder(folder)
    if not jobs.exists():
        return None
    asked, now = jobs.asked(), standing_of(folder)
    if now is not None and not now.left_trials:
        return None
    far = (
        "no trial is measured yet"
        if now is None
        else f"{now.measured_trials} of {now.trials} trials are measured"
    )
    again = f"tare run {shlex.quote(str(folder.path))} --on {asked.scheduler}"
    try:
        listed = scheduler_of(asked.scheduler, jobs, _PATIENCE_S).jobs(asked.name)
    except (HostError, SilentError):
        return f"{far}; {_said_of_records(jobs.elements().values())}. To watch the jobs: {again}"
    if any(job.lives for job in listed):
        return f"{far}; {said_of_jobs(listed)}. To watch them: {again}"
    return f"{far}, and no job is at work. To go on: {again}"


def _said_of_records(elements: Iterable[Element]) -> str:
    """By the jobs' own words, where the scheduler cannot be asked."""
    open_ones = [element for element in elements if element.ended_utc is None]
    if not open_ones:
        return "the scheduler cannot be asked from here, and no job has begun that has not ended"
    last = open_ones[-1]
    return (
        f"the scheduler cannot be asked from here; job {last.identity} began at {last.begun_utc} UTC on "
        f"{last.nodes or last.host} and has not ended, or was killed"
    )


def said_of_jobs(listed: Sequence[QueuedJob]) -> str:
    """Such as ``"job 12_3 runs on n[1-2], 6 are queued"``."""
    running = [_runs(job) for job in listed if job.phase is JobPhase.RUNNING]
    queued = [job for job in listed if job.phase is JobPhase.QUEUED]
    if not queued:
        return ", ".join(running) or "no job is left"
    reasons = dict.fromkeys(job.reason for job in queued if job.reason and job.reason != "JobArrayTaskLimit")
    why = f" ({', '.join(reasons)})" if reasons else ""
    words = f"{len(queued)} {'is' if len(queued) == 1 else 'are'} queued{why}"
    return ", ".join([*running, words]) if running else f"{counted(len(queued), 'job')} queued{why}"


def _runs(job: QueuedJob) -> str:
    return f"job {job.identity} runs" if job.nodes is None else f"job {job.identity} runs on {job.nodes}"
