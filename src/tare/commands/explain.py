# SPDX-License-Identifier: Apache-2.0
"""``tare explain``: the cause of every claim and its cure, tried; or one knob that the user names."""

import json
import os
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tare.commands.trying import BLOCKS, Attempt, Subject, attempt, require_blocks, subjects, tracing_s, tries
from tare.environments import PROVIDERS
from tare.environments.provider import Provider
from tare.errors import InputError
from tare.image.store import find_image
from tare.journal.calls import keep_calls, read_calls
from tare.journal.reader import Journal, read_journal
from tare.journal.result import ResultFolder
from tare.measure.campaign import Request, kept_campaign
from tare.plan.campaign import Campaign, with_overrides
from tare.plan.interventions import Choice, Parent, Toggle, folder_name, intervention_campaign
from tare.records import NATIVE, Analysis, Attribution, Explanation, TracedCalls
from tare.report.words import counted
from tare.units import format_duration, parse_duration_s

if TYPE_CHECKING:
    from tare.commands.audience import Progress

BUDGET_S = 300.0
"""For the claims on one environment in one layout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainOptions:
    """What the command line asks for."""

    toggles: tuple[str, ...] = ()
    environment: str | None = None
    workload: str | None = None
    layout: str | None = None
    blocks: int = BLOCKS
    seed: int | None = None
    budget: str | None = None
    dry_run: bool = False
    output: Path | None = None

    @property
    def budget_s(self) -> float:
        """``InputError`` for what is no duration."""
        try:
            return BUDGET_S if self.budget is None else parse_duration_s(self.budget)
        except ValueError as error:
            raise InputError(f"--budget: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Explained:
    """The result that is explained, as it was kept."""

    folder: ResultFolder
    campaign: Campaign
    journal: Journal
    options: ExplainOptions
    providers: Mapping[str, Provider]

    @property
    def image_name(self) -> str:
        return self.journal.sessions[0].image_name

    def parent(self, path: str = "") -> Parent:
        session = self.journal.sessions[0].identity
        return Parent(path=path, campaign=self.campaign, session=session, providers=self.providers)

    def request(self, campaign: Campaign, folder: ResultFolder) -> Request:
        return Request(campaign=campaign, folder=folder, image_name=self.image_name, providers=self.providers)


def run_explain(
    result: Path, options: ExplainOptions, as_json: bool, providers: Mapping[str, Provider] = PROVIDERS
) -> int:
    """Print what is known, try what would tell, print what came back; returns the exit code."""
    from tare.pipeline import analyse_result
    from tare.report.document import write_report

    analysis = _narrowed(analyse_result(result), options)
    if options.dry_run or kept_campaign(ResultFolder(result)).intervention is not None:
        _print(analysis, as_json=as_json, whole=True)
        if not as_json:
            _print_plans(analysis, _explained(result, options, providers))
        return 0
    explained = _explained(result, options, providers)
    code = _turn_by_hand(explained, analysis) if options.toggles else _try_causes(explained, analysis)
    known = analyse_result(result)
    write_report(known, explained.folder.report)
    _print(_narrowed(known, options), as_json=as_json, whole=False)
    return code


def _explained(
    result: Path, options: ExplainOptions, providers: Mapping[str, Provider] = PROVIDERS
) -> _Explained:
    """``InputError`` where no new block could be compared with the result's."""
    require_blocks(options.blocks)
    folder = ResultFolder(result)
    campaign = kept_campaign(folder)
    if campaign.intervention is not None:
        raise InputError(f"{result} is an intervention itself; explain the result that it belongs to")
    journal = read_journal(folder.journal)
    if not journal.sessions:
        raise InputError(f"{result} holds no trial yet; continue it first: tare run {result}")
    _require_same_image(result, journal)
    return _Explained(folder=folder, campaign=campaign, journal=journal, options=options, providers=providers)


def _require_same_image(result: Path, journal: Journal) -> None:
    begun = journal.sessions[0]
    image = find_image(begun.image_name)
    if image.digest != begun.image_digest:
        raise InputError(
            f"{result} was measured with another image than {image.name} is now; an intervention must change the "
            "knob alone: bring that image back, or measure the campaign anew"
        )


def _narrowed(analysis: Analysis, options: ExplainOptions) -> Analysis:
    """Only what the options leave; ``InputError`` if that is nothing."""
    wanted = (options.environment, options.workload, options.layout)
    if options.environment == NATIVE:
        raise InputError("--environment: native is what all is compared with; choose another")

    def fits(one: Attribution | Explanation) -> bool:
        own = (one.environment, one.cell.workload, one.cell.layout)
        return all(asked in {None, had} for asked, had in zip(wanted, own, strict=True))

    kept = tuple(one for one in analysis.attributions if fits(one))
    if any(wanted) and not kept:
        asked = ", ".join(filter(None, wanted))
        raise InputError(f"the result has no verdict on {asked}; `tare show` lists what it has")
    claimed = tuple(one for one in analysis.explanations if fits(one))
    return replace(analysis, attributions=kept, explanations=claimed)


def _try_causes(explained: _Explained, analysis: Analysis) -> int:
    """One environment and layout after the other."""
    own = subjects(analysis)
    if not own:
        return 0
    most_s = len(own) * explained.options.budget_s
    print(
        f"{counted(len(analysis.explanations), 'claim')} on {counted(len(own), 'environment')}: "
        f"this takes {format_duration(most_s)} at most",
        file=sys.stderr,
    )
    return max(_explain_subject(explained, subject) for subject in own)


def _explain_subject(explained: _Explained, subject: Subject) -> int:
    """Trace a spare run, order the causes by what it shows as well, and turn their knobs."""
    from tare.commands.run import run_and_show
    from tare.pipeline import analyse_result

    begun = time.monotonic()
    tracing = tracing_s(subject, explained.journal.outcomes)
    first = _attempt(explained, subject, explained.options.budget_s - tracing)
    child = _child(explained, subject)
    if first.left_out and not first.tries and not child.exists():
        _say(_nothing_to_try(first, explained))
        return 0
    _say(_said_before(first, tracing))
    if not child.exists():
        _trace(explained, subject)
        analysis = _narrowed(analyse_result(explained.folder.path), explained.options)
        subject = next(one for one in subjects(analysis) if one.choice == subject.choice)
    left_s = explained.options.budget_s - (time.monotonic() - begun)
    chosen = _attempt(explained, subject, left_s)
    if not chosen.tries and not child.exists():
        _say(_nothing_to_try(chosen, explained))
        return 0
    for each in chosen.tries:
        _say(f"  tries {each.toggle.text}: {each.grounds or 'nothing speaks for it, nor against it'}")
    toggles = [each.toggle for each in chosen.tries]
    return run_and_show(_request(explained, subject, toggles, chosen.blocks), quiet=True)


def _attempt(explained: _Explained, subject: Subject, left_s: float) -> Attempt:
    believed = tries(subject, explained.parent())
    outcomes = explained.journal.outcomes
    return attempt(subject, believed, explained.parent(), outcomes, left_s, explained.options.blocks)


def _said_before(chosen: Attempt, traced_s: float) -> str:
    """What is going to be done, and how long it takes."""
    subject = chosen.subject
    claims = counted(len(subject.explanations), "claim")
    place = f"{subject.environment} on {subject.layout}"
    traced = f"system calls are counted in spare runs (about {format_duration(traced_s)})"
    if chosen.expected_s is None:
        return f"{place}, {claims}: {traced}; nobody knows yet how long the blocks take"
    knobs = counted(len(chosen.tries), "knob")
    blocks = counted(chosen.blocks, "block")
    return (
        f"{place}, {claims}: {traced}, then {knobs} in {blocks} (about {format_duration(chosen.expected_s)})"
    )


def _nothing_to_try(chosen: Attempt, explained: _Explained) -> str:
    place = f"{chosen.subject.environment} on {chosen.subject.layout}"
    if not chosen.left_out:
        return f"{place}: no knob of this version can be turned here that would test anything"
    needed_s = (chosen.expected_s or 0.0) + tracing_s(chosen.subject, explained.journal.outcomes)
    command = (
        f"tare explain {shlex.quote(str(explained.folder.path))} --environment {chosen.subject.environment}"
    )
    return (
        f"{place}: one knob in {counted(chosen.blocks, 'block')} takes about {format_duration(needed_s)}, more than "
        f"the budget: {command} --budget {int(1.2 * needed_s / 60) + 1}m"
    )


def _trace(explained: _Explained, subject: Subject) -> None:
    """Count the calls of what was not traced before."""
    from tare.measure.traced_calls import trace_calls

    known = read_calls(explained.folder.explanation) or TracedCalls(counts={}, untraced={})
    campaign = intervention_campaign(explained.parent(), subject.choice, (), 1)
    request = explained.request(campaign, explained.folder)
    keep_calls(explained.folder.explanation, known.joined(trace_calls(request, _progress())))


def _progress() -> "Progress":
    from tare.commands.audience import Progress

    return Progress()


def _child(explained: _Explained, subject: Subject) -> ResultFolder:
    """Where the tried causes of a subject are kept, whichever they are."""
    campaign = intervention_campaign(explained.parent(), subject.choice, (), 1)
    return ResultFolder(explained.options.output or explained.folder.explanation / folder_name(campaign))


def _request(explained: _Explained, subject: Subject, toggles: Sequence[Toggle], blocks: int) -> Request:
    """The kept campaign where one was begun: it is continued, whatever is believed now."""
    folder = _child(explained, subject)
    if folder.exists():
        return explained.request(kept_campaign(folder), folder)
    return _planned(explained, subject.choice, toggles, blocks, subject.claims, folder)


def _turn_by_hand(explained: _Explained, analysis: Analysis) -> int:
    """Turn the knobs that the user named, on all claims on the environment."""
    from tare.commands.run import run_and_show

    request = by_hand(explained, analysis)
    code = run_and_show(request, quiet=True)
    print(f"continue or repeat it: tare run {request.folder.path}", file=sys.stderr)
    return code


def by_hand(explained: _Explained, analysis: Analysis) -> Request:
    """What is to be run, and into which folder; ``InputError`` says why it cannot be."""
    options = explained.options
    toggles = [Toggle(text=text) for text in options.toggles]
    subject = _chosen(subjects(analysis))
    choice = subject.choice if subject else _choice(explained, analysis)
    claims = subject.claims if subject else ()
    campaign = intervention_campaign(explained.parent(), choice, toggles, options.blocks, claims)
    folder = ResultFolder(options.output or explained.folder.explanation / folder_name(campaign))
    return _planned(explained, choice, toggles, options.blocks, claims, folder)


def intervention_request(result: Path, options: ExplainOptions) -> Request:
    """The same from a result's path: knobs that ``options`` names."""
    from tare.pipeline import analyse_result

    explained = _explained(result, options)
    return by_hand(explained, _narrowed(analyse_result(result), options))


def _chosen(own: Sequence[Subject]) -> Subject | None:
    """The only one with a claim; ``InputError`` where there are several."""
    if len(own) < 2:  # noqa: PLR2004 - one leaves no choice
        return own[0] if own else None
    names = {
        "--environment": dict.fromkeys(one.environment for one in own),
        "--layout": dict.fromkeys(one.layout for one in own),
    }
    option, several = next((option, list(each)) for option, each in names.items() if len(each) > 1)
    raise InputError(f"the result has claims on {', '.join(several)}; say which by {option}")


def _choice(explained: _Explained, analysis: Analysis) -> Choice:
    """Where nothing is claimed: all workloads that have a verdict there."""
    options = explained.options
    kept = [one.cell.workload for one in analysis.attributions if one.environment == options.environment]
    workloads = tuple(dict.fromkeys(kept)) if options.environment else ()
    return Choice(environment=options.environment, workloads=workloads or None, layout=options.layout)


def _planned(
    explained: _Explained,
    choice: Choice,
    toggles: Sequence[Toggle],
    blocks: int,
    claims: Sequence[tuple[str, str]],
    folder: ResultFolder,
) -> Request:
    parent = explained.parent(os.path.relpath(explained.folder.path.resolve(), folder.path.resolve()))
    campaign = intervention_campaign(parent, choice, toggles, blocks, claims)
    campaign = with_overrides(campaign, seed=explained.options.seed)
    return explained.request(campaign, folder)


def _print_plans(analysis: Analysis, explained: _Explained) -> None:
    """What would be tried, and how long it would take."""
    for subject in subjects(analysis):
        tracing = tracing_s(subject, explained.journal.outcomes)
        chosen = _attempt(explained, subject, explained.options.budget_s - tracing)
        print(_said_before(chosen, tracing))
        for each in chosen.tries:
            print(
                f"  would try {each.toggle.text}: {each.grounds or 'nothing speaks for it, nor against it'}"
            )


def _print(analysis: Analysis, *, as_json: bool, whole: bool) -> None:
    from tare.report.causes import print_causes, print_reasons
    from tare.report.machine_causes import causes_json

    if as_json:
        print(json.dumps(causes_json(analysis), indent=2, allow_nan=False))
        return
    from rich.console import Console

    console = Console(file=sys.stdout, highlight=False, soft_wrap=False)
    print_reasons(analysis, console)
    print_causes(analysis, console, whole=whole)
    if not analysis.explanations:
        print("nothing is slower or faster than native for certain, so there is nothing to explain")


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)
