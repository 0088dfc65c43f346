# SPDX-License-Identifier: Apache-2.0
"""``tare reproduce``: a paper's whole matrix, and what became of each of its claims here."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tare.commands.line import Shown
from tare.commands.run import Overrides, missing_here, request_of, run_and_show
from tare.drawing.words import counted, moment
from tare.errors import CampaignError, ExitCode, HostError, InputError
from tare.journal.result import ResultFolder
from tare.measure.kept import kept_campaign
from tare.papers import PAPERS, paper
from tare.plan.campaign import Campaign
from tare.plan.problems import nearest, printable
from tare.records import NATIVE, Analysis, Environment, Status
from tare.records.published import Paper
from tare.records.reproduced import ListedPaper

ALL = "all"
LIST_FILE = "list.markdown"
_CONTROL = "control"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """What the command line asks for beside the paper."""

    folder: Path
    """With a result for each paper."""
    asked: Overrides
    image_name: str
    runs: bool
    """Whether what is missing is measured first."""


def run_reproduce(name: str, wanted: Reproduction, shown: Shown) -> ExitCode:
    """Measure what is missing, then print and write the list; raises ``InputError`` for an unknown paper."""
    codes, listed = [], []
    for each in _papers(name):
        own, code = _reproduced(each, wanted, shown)
        listed.append(own)
        codes.append(code)
        if code is ExitCode.INTERRUPTED:
            break
    _show(listed, wanted.folder, shown)
    if ExitCode.INTERRUPTED in codes:
        return ExitCode.INTERRUPTED
    if all(code is ExitCode.CANNOT for code in codes):
        return ExitCode.CANNOT
    return ExitCode.FELL_SHORT if ExitCode.FELL_SHORT in codes else ExitCode.DONE


def _papers(name: str) -> tuple[Paper, ...]:
    if name != ALL and name not in PAPERS:
        known = f"choose {ALL} or one of {', '.join(PAPERS)}"
        raise InputError(f"{printable(name)}: there is no such paper{nearest(name, (*PAPERS, ALL))}; {known}")
    return tuple(map(paper, PAPERS if name == ALL else (name,)))


def _reproduced(each: Paper, wanted: Reproduction, shown: Shown) -> tuple[ListedPaper, ExitCode]:
    """One paper: a host that cannot run any of it does not keep the others from running."""
    folder = _folder(each, wanted.folder)
    error, code = None, ExitCode.DONE
    if wanted.runs:
        if not shown.quiet:
            print(f"{each.short}: {each.title}", file=sys.stderr)
        try:
            code = _run(each, folder, wanted, shown)
        except (HostError, CampaignError) as failed:
            error, code = str(failed), ExitCode.CANNOT
            print(f"tare: {error}", file=sys.stderr)
    if not folder.exists():
        return _absent(each, folder, error), ExitCode.CANNOT
    try:
        return _listed(each, folder, error), code
    except (HostError, InputError) as failed:
        print(f"tare: {failed}", file=sys.stderr)
        return _damaged(each, folder, str(failed), error), ExitCode.CANNOT


def _folder(each: Paper, parent: Path) -> ResultFolder:
    """Papers with one preset share its result: the one that is there, or the one in the preset's name."""
    from tare.plan.source import preset_path

    own = ResultFolder(parent / each.identity)
    return own if own.exists() else ResultFolder(parent / preset_path(each.identity).stem)


def _run(each: Paper, folder: ResultFolder, wanted: Reproduction, shown: Shown) -> ExitCode:
    """Continue the paper's result, or begin it."""
    if folder.exists():
        _check_hosts(wanted.asked.hosts, each, folder)
        asked = replace(wanted.asked, hosts=None)
        request = request_of(str(folder.path), None, asked, wanted.image_name)
    else:
        request = request_of(each.identity, folder.path, wanted.asked, wanted.image_name)
        request = replace(request, campaign=_with_control(request.campaign, each))
    return run_and_show(request, shown, answers=False)


def _check_hosts(asked: str | None, each: Paper, folder: ResultFolder) -> None:
    """Raises ``InputError`` for hosts that are not the result's; the same may be named again."""
    from tare.environments import PROVIDERS
    from tare.plan.asked_hosts import with_hosts
    from tare.plan.hosts import hosts_of
    from tare.plan.source import preset_source

    if asked is None:
        return
    wanted = hosts_of(with_hosts(preset_source(each.identity), asked, PROVIDERS).data, PROVIDERS, [])
    kept = kept_campaign(folder).hosts
    if {host.name for host in wanted} != {host.name for host in kept}:
        raise InputError(f"--hosts: {folder.path} was begun on other hosts; choose another -o")


def _with_control(campaign: Campaign, each: Paper) -> Campaign:
    """The campaign, with native once more where no environment works: a paper also says things of native alone."""
    from tare.analyze.published import places_of

    claims = [claim for view in each.views for claim in view.claims if {*claim.environments} == {NATIVE}]
    here = {str(layout) for layout in campaign.layouts}
    of_native = any(here.issuperset(place.layout for place in places_of(claim)) for claim in claims)
    if not of_native or campaign.hosts:
        return campaign
    missing = missing_here(campaign.environments_at_levels)
    if any(environment.name not in missing for environment in campaign.environments):
        return campaign
    control = Environment(name=_CONTROL, technology=NATIVE)
    return replace(campaign, environments=(*campaign.environments, control))


def _absent(each: Paper, folder: ResultFolder, error: str | None) -> ListedPaper:
    from tare.analyze.reproduced import unmeasured

    why = error or "nothing was measured yet"
    return ListedPaper(
        paper=each,
        result=str(folder.path),
        claims=unmeasured(each, why.splitlines()[0], possible=error is None),
        points=tuple(line.strip() for line in why.splitlines()[1:]),
        measured="",
        error=error,
    )


def _damaged(each: Paper, folder: ResultFolder, fault: str, error: str | None) -> ListedPaper:
    """What cannot be read may be measured again: nothing is known of the claims."""
    from tare.analyze.reproduced import unmeasured

    what = f"restore {folder.path} from a copy, or move it away and call the command again"
    return ListedPaper(
        paper=each,
        result=str(folder.path),
        claims=unmeasured(
            each, f"the result is damaged, or of another version: {fault}", possible=True, needs=(what,)
        ),
        points=(),
        measured="",
        error=error,
    )


def _listed(each: Paper, folder: ResultFolder, error: str | None) -> ListedPaper:
    from tare.analyze.reproduced import listed
    from tare.pipeline import analyse_result
    from tare.plan.matrix import preset_matrix

    analysis = analyse_result(folder.path)
    skips = [f"{own.environment}: skipped: {own.reason}" for own in analysis.skipped]
    return ListedPaper(
        paper=each,
        result=str(folder.path),
        claims=listed(each, analysis, preset_matrix(each.identity)),
        points=(*(point.sentence for point in analysis.scaled), *skips),
        measured=_measured(analysis),
        error=error,
    )


def _measured(analysis: Analysis) -> str:
    """When, on what and how much."""
    if not analysis.outcomes:
        return ""
    first, done = analysis.sessions[0], len(analysis.outcomes)
    lost = sum(outcome.status is not Status.OK for outcome in analysis.outcomes)
    blocks = {outcome.trial.block for outcome in analysis.outcomes}
    host = ", ".join(filter(None, (first.host.get("processor"), first.host.get("kernel"))))
    return (
        f"Measured from {moment(first.started_utc)} on {host or 'this host'}: {done} of "
        f"{counted(analysis.planned_trials, 'trial')} in {counted(len(blocks), 'block')}"
        f"{f', {lost} of which do not count' if lost else ''}."
        f"{''.join(f' Damaged: {each.sentence}.' for each in analysis.integrity.damage)}"
    )


def _show(listed: Sequence[ListedPaper], folder: Path, shown: Shown) -> None:
    """Write the Markdown, and print the list."""
    from tare.commands.console import PlainConsole
    from tare.report import reproduced

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / LIST_FILE
    try:
        path.write_text(reproduced.markdown(listed), encoding="utf-8")
    except OSError as error:
        raise HostError(f"{path}: cannot be written: {error.strerror}") from error
    if shown.as_json:
        print(json.dumps(reproduced.json(listed), indent=2, allow_nan=False))
    else:
        reproduced.table(listed, PlainConsole())
    print(f"list: {path}", file=sys.stderr)
