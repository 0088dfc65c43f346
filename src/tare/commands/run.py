# SPDX-License-Identifier: Apache-2.0
"""``tare run``: a campaign from its file to its report."""

import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from tare.commands.images_made import image_to_go_on
from tare.commands.line import Shown
from tare.drawing.words import counted
from tare.errors import ExitCode, InputError
from tare.foreign import one_line
from tare.host.facts import memory_byte, online_processors
from tare.journal.result import CAMPAIGN_FILE, ResultFolder
from tare.measure.campaign import Request
from tare.measure.hosts import sizes
from tare.measure.kept import kept_campaign
from tare.measure.users import root_said
from tare.plan.campaign import Campaign, resolve, with_overrides
from tare.records import NATIVE, Analysis, Environment, Ruling, Status
from tare.report.losses import skip_said
from tare.units import parse_duration_s

_NAMED = 3
"""Number of skipped environments that are named; a bare machine skips twenty."""


def run_campaign_command(
    campaign: str, output: Path | None, asked: "Overrides", image_name: str, shown: Shown
) -> ExitCode:
    """Run or continue; the answer goes to standard output, the report into the result folder."""
    return run_and_show(
        request_of(campaign, output, asked, image_name), shown, learn=_learn(campaign, asked.hosts)
    )


def request_of(campaign: str, output: Path | None, asked: "Overrides", image_name: str) -> Request:
    """What the command line asks for; ``CampaignError``, ``InputError``, or ``HostError`` of the hosts."""
    if asked.more is not None and not ResultFolder(Path(campaign)).exists():
        raise InputError(f"--more: {one_line(campaign)} is no result; name the folder of a finished one")
    chosen, folder = _campaign_and_folder(campaign, output, asked)
    return Request(
        campaign=overridden(chosen, asked),
        folder=folder,
        image_name=image_to_go_on(image_name, _named(campaign)),
        more=asked.more or 0,
    )


def overridden(chosen: Campaign, asked: "Overrides") -> Campaign:
    """The campaign with what the command line sets; raises as ``with_overrides``."""
    return with_overrides(
        chosen,
        blocks=asked.blocks,
        budget_s=budget_s(asked.budget),
        seed=asked.seed,
        fail_if=asked.fail_if,
        undecided_fails=asked.undecided_fails,
        user=asked.user,
    )


def _named(campaign: str) -> ResultFolder:
    """The result that ``campaign`` names, by its folder or its kept campaign; else one that does not exist."""
    path = Path(campaign)
    return ResultFolder(path.parent if path.name == CAMPAIGN_FILE else path)


def _learn(campaign: str, hosts: str | None) -> str | None:
    """The command that measures this host's noise for a preset or a file; ``None`` for a kept campaign."""
    kept = Path(campaign).name == CAMPAIGN_FILE or ResultFolder(Path(campaign)).exists()
    on = [] if hosts is None else ["--hosts", hosts]
    return None if kept else shlex.join(["tare", "plan", campaign, *on, "--pilot"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """Settings from the command line that replace the campaign's."""

    blocks: int | None = None
    budget: str | None = None
    seed: int | None = None
    fail_if: tuple[str, ...] = ()
    undecided: str | None = None
    user: str | None = None
    more: int | None = None
    hosts: str | None = None

    @property
    def undecided_fails(self) -> bool | None:
        """``None`` if unset; ``InputError`` for any word except ``fail`` and ``pass``."""
        if self.undecided not in {None, "fail", "pass"}:
            raise InputError(f"--undecided: must be fail or pass, but is {self.undecided!r}")
        return None if self.undecided is None else self.undecided == "fail"


def _campaign_and_folder(
    campaign: str, output: Path | None, asked: "Overrides"
) -> tuple[Campaign, ResultFolder]:
    """Continue a result folder or repeat its kept campaign; anything else is a preset or a file."""
    hosts, folder = asked.hosts, ResultFolder(Path(campaign))
    is_kept = Path(campaign).name == CAMPAIGN_FILE
    if hosts is not None and (is_kept or folder.exists()):
        raise InputError(f"--hosts: {one_line(campaign)} has its hosts; name a preset or a campaign file")
    if is_kept:
        kept = kept_campaign(ResultFolder(Path(campaign).parent))
        return kept, ResultFolder(output or new_folder(kept.name))
    if folder.exists():
        if output is not None and output.resolve() != folder.path.resolve():
            raise InputError(
                f"{campaign} is a result folder and is continued where it is; leave out --output"
            )
        return kept_campaign(folder), folder
    chosen = resolve(
        campaign,
        host_processors=len(online_processors()),
        host_memory_byte=memory_byte(),
        sizes=sizes,
        asked_hosts=hosts,
        budget_s=budget_s(asked.budget),
        missing=missing_here,
    )
    return chosen, ResultFolder(output or new_folder(chosen.name))


def new_folder(name: str) -> Path:
    return Path("results") / f"{name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"


def missing_here(environments: Iterable[Environment]) -> set[str]:
    """The names of the environments that do not run on this host now."""
    from tare.environments import PROVIDERS
    from tare.measure.usable import missing_now

    return {skipped.environment for skipped in missing_now(environments, PROVIDERS)}


def budget_s(text: str | None) -> float | None:
    """The budget in seconds; ``InputError`` if ``text`` is not a duration."""
    try:
        return None if text is None else parse_duration_s(text)
    except ValueError as error:
        raise InputError(f"--budget: {error}") from error


def run_and_show(
    request: Request, shown: Shown | None = None, *, learn: str | None = None, answers: bool = True
) -> ExitCode:
    """Run, write the report, print the answer; returns the exit code.

    Without ``shown``, or ``answers``, the caller prints its own output. ``learn``: the command to suggest for measuring
    this host's noise.
    """
    from tare.commands.audience import PilotProgress, Progress
    from tare.commands.slice_lengths import with_slices
    from tare.commands.ways import ways_said
    from tare.pipeline import run_campaign

    kept = kept_campaign(request.folder).user if request.folder.exists() else None
    if words := root_said(request.campaign, request.providers, kept):
        print(words, file=sys.stderr)
    progress: Progress = PilotProgress()
    manner = shown or Shown()
    try:
        request = with_slices(request, progress)
        opens = manner.verbose or learn is not None
        opening = partial(ways_said, request.campaign, learn=learn) if opens else None
        progress = Progress(opening=opening, shown=manner)
        analysis = run_campaign(request, progress)
    except KeyboardInterrupt:
        progress.finish()
        go_on = f"; continue with: tare run {request.folder.path}" if request.folder.exists() else ""
        print(f"interrupted{go_on}", file=sys.stderr)
        return ExitCode.INTERRUPTED
    progress.finish()
    return concluded(analysis, request.campaign, request.folder, shown if answers else None)


def concluded(
    analysis: Analysis, campaign: Campaign, folder: ResultFolder, shown: Shown | None = None
) -> ExitCode:
    """Write the report, print the answer and what ``--fail-if`` says; returns the exit code."""
    from tare.commands import noise
    from tare.serve.first_view import keep_own

    _show(analysis, folder, shown, compared=is_compared(analysis, campaign))
    noise.keep(analysis, campaign, folder)
    keep_own(analysis, folder.path)
    for decision in analysis.decisions:
        print(f"--fail-if {decision.condition.text!r}: {decision.sentence}", file=sys.stderr)
    return _exit_code(analysis, campaign, folder)


def _exit_code(analysis: Analysis, campaign: Campaign, folder: ResultFolder) -> ExitCode:
    """A failed trial comes first; a campaign without any comparison has not done its task."""
    compared = is_compared(analysis, campaign)
    if not compared:
        print(f"tare: {uncompared_said(analysis, folder)}", file=sys.stderr)
    failed = any(outcome.status is Status.FAILED for outcome in analysis.outcomes)
    failed |= any(not run.ended_well for outcome in analysis.outcomes for run in outcome.instances)
    if failed or fell_short(analysis, undecided_fails=campaign.undecided_fails):
        return ExitCode.FELL_SHORT
    return ExitCode.DONE if compared else ExitCode.CANNOT


def fell_short(analysis: Analysis, *, undecided_fails: bool) -> bool:
    """Whether a condition of ``--fail-if`` is met, or is undecided and ``undecided_fails``."""
    bad = {Ruling.EXCEEDED, Ruling.UNDECIDED} if undecided_fails else {Ruling.EXCEEDED}
    return any(decision.ruling in bad for decision in analysis.decisions)


def _show(analysis: Analysis, folder: ResultFolder, shown: Shown | None, *, compared: bool) -> None:
    """Write the report, and print the answer, if there is one, or the JSON to standard output."""
    from tare.commands.published import own_views
    from tare.commands.show import print_analysis, print_answer
    from tare.report.document import write_report

    write_report(analysis, folder.report, own_views(analysis))  # before the answer: its reader may be gone
    if shown is None or shown.as_json:
        print(f"report: {folder.report}", file=sys.stderr)
    if shown is None:
        return
    if shown.as_json or shown.verbose:
        print_analysis(analysis, as_json=shown.as_json, show_all=False)
    if compared and not shown.as_json:
        print_answer(analysis, folder.report)


def is_compared(analysis: Analysis, campaign: Campaign) -> bool:
    """Whether at least one block compares an environment with native, or with itself in other company or order.

    For native alone, one trial that counts is enough.
    """
    if not campaign.environments:
        return any(outcome.status is Status.OK for outcome in analysis.outcomes)
    itself = {loss.summary.environment for loss in analysis.sharing}
    itself |= {order.summary.environment for order in analysis.orders}
    return bool(analysis.verdicts) or bool(itself - {NATIVE})


def uncompared_said(analysis: Analysis, folder: ResultFolder) -> str:
    """Say in two sentences why nothing was compared, and how to go on."""
    reasons = [*_skips(analysis), *_losses(analysis)]
    if analysis.cut_by_budget:
        reasons.append("the time budget ended before a block was whole")
    why = "; ".join(reasons) or "no block is whole"
    return f"nothing could be compared: {why}. {_next(analysis, folder)}"


def _skips(analysis: Analysis) -> Iterator[str]:
    for skipped in analysis.skipped[:_NAMED]:
        name, reason, remedy = map(one_line, (skipped.environment, skipped.reason, skipped.remedy))
        yield f"{name} {skip_said(skipped)} ({reason}; to get it: {remedy})"
    if (more := len(analysis.skipped) - _NAMED) > 0:
        yield f"{more} more were skipped (tare doctor says how to get them)"


def _losses(analysis: Analysis) -> Iterator[str]:
    lost = Counter(
        one_line(outcome.reason or "no reason was recorded")
        for outcome in analysis.outcomes
        if outcome.status is not Status.OK
    )
    if lost:
        reason, count = lost.most_common(1)[0]
        often = "for example" if count == 1 else f"{count} of them as follows"
        all_trials = counted(len(analysis.outcomes), "trial")
        yield f"{lost.total()} of {all_trials} do not count{'' if len(lost) == 1 else f', {often}'}: {reason}"


def _next(analysis: Analysis, folder: ResultFolder) -> str:
    if analysis.cut_by_budget:
        return f"Continue with a larger budget: tare run {folder.path} --budget TIME"
    if not analysis.outcomes:
        return f"Then continue: tare run {folder.path}"
    return f"When that is mended, begin a new result: tare run {folder.path / CAMPAIGN_FILE}"
