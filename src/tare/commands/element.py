# SPDX-License-Identifier: Apache-2.0
"""``tare run --job``, which ``tare run --on`` submits: one block of a result, within one job."""

import math
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from tare.commands.run import Overrides, request_of
from tare.commands.submitted import scheduler_of
from tare.errors import ExitCode, HostError, InputError, LockedError, TareError
from tare.host import job_nodes
from tare.journal.result import ResultFolder
from tare.measure.campaign import Request
from tare.measure.session import interruptible
from tare.measure.shares import Share
from tare.records import Analysis
from tare.submission import psij, slurm
from tare.submission.folder import OWN_IDENTITY, Element, JobsFolder
from tare.submission.scheduler import Scheduler, SilentError

_STOPPED = "it was asked to stop, at the end of its time or by a cancellation"

_WAIT_S = 5.0
_LONGEST_WAIT_S = 3600.0


def run_job(campaign: str, output: Path | None, asked: Overrides, image_name: str) -> ExitCode:
    """Measure the next undone block of ``output``, and say in its folder how that went."""
    identity = os.environ.get(OWN_IDENTITY) or slurm.own_identity(os.environ)
    if identity is None or output is None:
        raise InputError("--job is for the jobs that tare run --on submits; leave it out")
    folder = ResultFolder(output)
    begun = new_element(identity, os.environ)
    jobs = JobsFolder(folder)

    def request() -> Request:
        name = str(output) if folder.exists() else campaign
        return replace(request_of(name, output, asked, image_name), share=Share(ends_s=_last_end_s(jobs)))

    return measured_block(request, jobs, begun, scheduler_of(jobs.asked().scheduler, jobs))


def _last_end_s(jobs: JobsFolder) -> float | None:
    """As ``Share.ends_s``."""
    asked = jobs.asked()
    return slurm.last_end_s(os.environ) if asked.scheduler == "slurm" else psij.last_end_s(asked)


def new_element(identity: str, variables: Mapping[str, str]) -> Element:
    """The record of a job that begins now."""
    return Element(
        identity=identity,
        host=os.uname().nodename,
        nodes=variables.get("SLURM_JOB_NODELIST") or _listed_nodes(),
        begun_utc=_now(),
    )


def _listed_nodes() -> str | None:
    """Of a job of any other scheduler, with commas between them."""
    own = next(filter(job_nodes.is_job, job_nodes.KNOWN), None)
    try:
        return None if own is None else ",".join(job_nodes.nodes(own))
    except HostError:
        return None


def measured_block(
    request_made: Callable[[], Request], jobs: JobsFolder, begun: Element, scheduler: Scheduler
) -> ExitCode:
    """Measure one block; the job's record says how it ended, whatever happens but a kill."""
    jobs.note(begun)
    before = _recorded(jobs.result)
    try:
        with interruptible():
            complete = _measured(request_made())
    except KeyboardInterrupt:
        _ignore_further_signals()
        _end(jobs, begun, before, why=_STOPPED, stopped=True)
        return ExitCode.INTERRUPTED
    except TareError as error:
        _end(jobs, begun, before, why=str(error), wrong_input=isinstance(error, InputError))
        raise
    _end(jobs, begun, before, complete=complete)
    if complete:
        _cancel_rest(jobs, scheduler)
    return ExitCode.DONE


def _measured(request: Request) -> bool:
    """Measure, and bring the report up to date; returns whether nothing is left to run."""
    from tare.commands.audience import PilotProgress, Progress
    from tare.commands.published import own_views
    from tare.commands.slice_lengths import with_slices
    from tare.measure.left import standing
    from tare.pipeline import run_campaign, stopped
    from tare.report.document import write_report

    def run() -> Analysis:
        return run_campaign(with_slices(request, PilotProgress()), Progress())

    analysis = _once_free(run, request.share)
    write_report(analysis, request.folder.report, own_views(analysis))
    return standing(request.folder, stopped).left_trials == 0


def _once_free(run: Callable[[], Analysis], share: Share | None) -> Analysis:
    """Run when no other run holds the host or the result: where homes are shared, so is its lock."""
    ends_s = math.inf if share is None or share.ends_s is None else share.ends_s
    until_s = min(ends_s, time.monotonic() + _LONGEST_WAIT_S)
    said = False
    while True:
        try:
            return run()
        except LockedError as error:
            if time.monotonic() + _WAIT_S > until_s:
                raise
            if not said:
                print(f"waiting: {error}", file=sys.stderr, flush=True)
            said = True
        time.sleep(_WAIT_S)


def _recorded(folder: ResultFolder) -> int:
    """Number of outcomes in the journal."""
    from tare.journal.large import read_result

    return len(read_result(folder).outcomes) if folder.exists() else 0


def _end(
    jobs: JobsFolder,
    begun: Element,
    before: int,
    *,
    complete: bool = False,
    why: str | None = None,
    stopped: bool = False,
    wrong_input: bool = False,
) -> None:
    jobs.note(
        replace(
            begun,
            ended_utc=_now(),
            trials=_recorded(jobs.result) - before,
            complete=complete,
            why=why,
            stopped=stopped,
            wrong_input=wrong_input,
        )
    )


def _cancel_rest(jobs: JobsFolder, scheduler: Scheduler) -> None:
    """The jobs that still wait would find nothing to do. A scheduler that is not to be had starts them for nothing."""
    with suppress(SilentError, HostError):
        scheduler.cancel(jobs.asked().name, queued_only=True)


def _ignore_further_signals() -> None:
    """The scheduler asks more than once, and the record must be written."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}"
