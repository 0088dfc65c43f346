# SPDX-License-Identifier: Apache-2.0
"""``tare run --on``: a campaign as jobs of a scheduler, watched until nothing is left to run."""

import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from tare.commands.line import Shown
from tare.commands.run import Overrides, concluded, new_folder, overridden
from tare.commands.submit_source import checked, nodes_of_each_job, submitted_source
from tare.commands.submitted import require_known, scheduler_of, standing_of
from tare.commands.watching import JobsProgress, Watch
from tare.errors import ExitCode, InputError
from tare.journal.result import ResultFolder
from tare.measure.kept import kept_campaign
from tare.plan.campaign import Campaign
from tare.submission import psij
from tare.submission.folder import Asked, JobsFolder, new_name
from tare.submission.scheduler import Scheduler, Wish
from tare.submission.slurm import parse_limit_s
from tare.units import parse_duration_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """What the command line asks of a scheduler."""

    on: str
    partition: str | None = None
    account: str | None = None
    nodes: int | None = None
    time: str | None = None
    detach: bool = False


def run_on_scheduler(
    campaign: str, output: Path | None, asked: Overrides, image_name: str, submitted: Submitted, shown: Shown
) -> ExitCode:
    """Submit or find the jobs of a result, and watch them to the end unless they are to be left alone."""
    require_known(submitted.on)
    if submitted.detach and submitted.on in psij.ONE_BY_ONE:
        raise InputError(
            f"--detach: on {submitted.on} each block is submitted when the one before has ended, so Tare has to "
            "watch; leave it out"
        )
    jobs = _jobs(campaign, output, asked, image_name, submitted)
    scheduler = scheduler_of(submitted.on, jobs)
    watch = Watch(
        jobs=jobs,
        scheduler=scheduler,
        standing=lambda: standing_of(jobs.result),
        blocks=_blocks(jobs, asked),
        progress=JobsProgress(shown=shown),
    )
    print(f"{watch.start()}; result: {jobs.result.path}", file=sys.stderr)
    if submitted.detach:
        print(_left_alone(jobs, scheduler), file=sys.stderr)
        return ExitCode.DONE
    try:
        watch.finish()
    except KeyboardInterrupt:
        watch.progress.finish()
        print(f"no longer watching, and the jobs go on. {_left_alone(jobs, scheduler)}", file=sys.stderr)
        return ExitCode.INTERRUPTED
    finally:
        watch.progress.finish()
    return _concluded(jobs.result, asked, shown)


def _jobs(
    campaign: str, output: Path | None, asked: Overrides, image_name: str, submitted: Submitted
) -> JobsFolder:
    """The folder of the jobs, with all that they need; what was asked of them before holds unless it is asked anew."""
    if asked.more is not None:
        raise InputError(
            "--more goes with no --on: add the blocks within an allocation, with tare run RESULT --more"
        )
    own = _result(campaign, output)
    if own is None:
        return _new_jobs(campaign, output, asked, image_name, submitted)
    jobs = JobsFolder(own)
    if not jobs.exists():
        kept = kept_campaign(own)
        wish = wish_of(submitted, _nodes_of(kept), _processors_of(kept))
        _require(submitted.on, wish, jobs)
        return _first_jobs(jobs, str(own.path), asked, image_name, submitted.on, wish)
    before = jobs.asked()
    if before.scheduler != submitted.on:
        raise InputError(f"{own.path} was submitted to {before.scheduler}; write --on {before.scheduler}")
    wish = _again(before.wish, submitted)
    _require(submitted.on, wish, jobs)
    jobs.keep(replace(before, wish=wish))
    return jobs


def _require(on: str, wish: Wish, jobs: JobsFolder) -> None:
    """Raise what ``psij.require`` does for a scheduler that PSI/J reaches."""
    if on in psij.CANCELLED_BY:
        psij.require(on, wish, jobs)


def _result(campaign: str, output: Path | None) -> ResultFolder | None:
    """The result to go on with, begun or only submitted; ``None``: a new one."""
    for path in filter(None, (Path(campaign), output)):
        folder = ResultFolder(path)
        if folder.exists() or JobsFolder(folder).exists():
            return ResultFolder(path.resolve())
    return None


def _again(before: Wish, submitted: Submitted) -> Wish:
    wanted = wish_of(submitted, before.nodes, before.processors)
    return replace(
        wanted,
        partition=wanted.partition or before.partition,
        account=wanted.account or before.account,
        time_s=wanted.time_s or before.time_s,
    )


def wish_of(submitted: Submitted, nodes: int, processors: int | None) -> Wish:
    """The resources; ``InputError`` for a time that is none. ``processors``: of each node that are needed."""
    return Wish(
        nodes=submitted.nodes or nodes,
        processors=processors if submitted.on in psij.CANCELLED_BY else None,
        partition=submitted.partition,
        account=submitted.account,
        time_s=None if submitted.time is None else time_s(submitted.time),
    )


def time_s(text: str) -> float:
    """As Tare writes times or as Slurm does: ``1h30m``, ``1:30:00``, ``2-12:00:00``; ``InputError`` for others."""
    try:
        seconds = parse_duration_s(text)
    except ValueError:
        if ":" not in text and "-" not in text:
            raise InputError(f"--time: {text!r} is no time; write such as 30m, 1h30m or 1:30:00") from None
        seconds = parse_limit_s(text) or 0.0
    if seconds <= 0:
        raise InputError(f"--time: {text!r} is no time above 0; write such as 30m, 1h30m or 1:30:00")
    return seconds


def _new_jobs(
    campaign: str, output: Path | None, asked: Overrides, image_name: str, submitted: Submitted
) -> JobsFolder:
    source = submitted_source(campaign, submitted.on)
    nodes = submitted.nodes or nodes_of_each_job(source)
    chosen = overridden(checked(source, nodes, submitted.partition), asked)
    wish = wish_of(submitted, nodes, _processors_of(chosen))
    jobs = JobsFolder(ResultFolder((output or new_folder(chosen.name)).resolve()))
    _require(submitted.on, wish, jobs)  # before anything is written
    jobs.write(jobs.campaign, source.text)
    return _first_jobs(jobs, str(jobs.campaign), asked, image_name, submitted.on, wish)


def _first_jobs(
    jobs: JobsFolder, campaign: str, asked: Overrides, image_name: str, on: str, wish: Wish
) -> JobsFolder:
    argv = job_argv(campaign, jobs.result.path, asked, image_name)
    jobs.write_script(argv, Path.cwd())
    jobs.keep(Asked(scheduler=on, name=new_name(), wish=wish, argv=argv, arrays={}))
    return jobs


def job_argv(campaign: str, result: Path, asked: Overrides, image_name: str) -> tuple[str, ...]:
    """The command of every job."""
    options = {
        "--blocks": asked.blocks,
        "--budget": asked.budget,
        "--seed": asked.seed,
        "--undecided": asked.undecided,
        "--as": asked.user,
    }
    return (
        *(sys.executable, "-P", "-m", "tare", "run", campaign, "--output", str(result)),
        *("--job", "--yes", "--image", image_name),
        *(word for name, value in options.items() if value is not None for word in (name, str(value))),
        *(word for condition in asked.fail_if for word in ("--fail-if", condition)),
    )


def _nodes_of(campaign: Campaign) -> int:
    return max(layout.hosts for layout in campaign.layouts)


def _processors_of(campaign: Campaign) -> int:
    """The most that a layout uses on one host."""
    return max(layout.nodes_per_host * layout.processors for layout in campaign.layouts)


def _blocks(jobs: JobsFolder, asked: Overrides) -> int:
    """Blocks of a result that no job has begun yet."""
    if jobs.result.exists():
        return kept_campaign(jobs.result).blocks
    source = submitted_source(str(jobs.campaign), jobs.asked().scheduler)
    wish = jobs.asked().wish
    return overridden(checked(source, wish.nodes, wish.partition), asked).blocks


def _left_alone(jobs: JobsFolder, scheduler: Scheduler) -> str:
    result, name = shlex.quote(str(jobs.result.path)), jobs.asked().name
    return (
        f"To see how far they are: tare show {result}; to watch them: tare run {result} --on "
        f"{jobs.asked().scheduler}; to cancel them: {scheduler.cancel_words(name)}"
    )


def _concluded(folder: ResultFolder, asked: Overrides, shown: Shown) -> ExitCode:
    from tare.pipeline import analyse_result

    analysis = analyse_result(folder.path)
    return concluded(analysis, overridden(kept_campaign(folder), asked), folder, shown)
