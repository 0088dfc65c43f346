# SPDX-License-Identifier: Apache-2.0
"""``tare explain``: candidates from a result's own signals, and the intervention that shows a cause."""

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tare.errors import InputError
from tare.image.store import find_image
from tare.journal.reader import read_journal
from tare.journal.result import EXPLANATIONS, ResultFolder
from tare.measure.campaign import Request, kept_campaign
from tare.plan.blocks import MOST_BLOCKS
from tare.plan.campaign import Campaign, with_overrides
from tare.plan.interventions import Choice, Parent, folder_name, intervention_campaign, subject_of
from tare.plan.knobs import KNOBS, turned
from tare.records import NATIVE, Analysis, Attribution


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainOptions:
    """What the command line asks for."""

    toggle: str | None = None
    environment: str | None = None
    workload: str | None = None
    layout: str | None = None
    blocks: int = 10
    seed: int | None = None
    output: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A knob that can be turned here and would test a candidate."""

    attribution: Attribution
    signal: str
    knob: str
    about: str


def run_explain(result: Path, options: ExplainOptions, as_json: bool) -> int:
    """Print the ranking, or intervene; returns the exit code."""
    if options.toggle is None:
        return _print_ranking(result, options, as_json=as_json)
    return _intervene(result, options, options.toggle, as_json=as_json)


def _print_ranking(result: Path, options: ExplainOptions, *, as_json: bool) -> int:
    from tare.pipeline import analyse_result

    campaign = kept_campaign(ResultFolder(result))
    analysis = _narrowed(analyse_result(result), options)
    suggestions = list(_suggestions(analysis, campaign))
    if as_json:
        print(json.dumps(_machine(analysis, suggestions), indent=2, allow_nan=False))
    else:
        _print_words(analysis, suggestions, result)
    return 0


def _narrowed(analysis: Analysis, options: ExplainOptions) -> Analysis:
    """Only what the options leave; ``InputError`` if that is nothing."""
    wanted = (options.environment, options.workload, options.layout)

    def fits(one: Attribution) -> bool:
        own = (one.environment, one.cell.workload, one.cell.layout)
        return all(asked in {None, had} for asked, had in zip(wanted, own, strict=True))

    kept = tuple(one for one in analysis.attributions if fits(one))
    if any(wanted) and not kept:
        asked = ", ".join(filter(None, wanted))
        raise InputError(f"the result has no verdict on {asked}; `tare show` lists what it has")
    return replace(analysis, attributions=kept)


def _suggestions(analysis: Analysis, campaign: Campaign) -> Iterator[Suggestion]:
    """Each knob once for every attribution, for the likeliest of its candidates."""
    for attribution in analysis.attributions:
        if "+" in attribution.cell.layout or campaign.intervention is not None:
            continue
        choice = Choice(
            environment=attribution.environment,
            workload=attribution.cell.workload,
            layout=attribution.cell.layout,
        )
        subject, _ = subject_of(campaign, choice)
        told: set[str] = set()
        for clue in attribution.candidates:
            for knob in KNOBS.values():
                if clue.signal in knob.signals and knob.name not in told:
                    told.add(knob.name)
                    if not isinstance(turned(knob, subject), str):
                        yield Suggestion(
                            attribution=attribution, signal=clue.signal, knob=knob.name, about=knob.about
                        )


def _machine(analysis: Analysis, suggestions: list[Suggestion]) -> dict[str, Any]:
    from tare.records import SCHEMA
    from tare.report.machine_causes import attribution_json, intervention_json

    return {
        "schema": SCHEMA,
        "campaign": analysis.campaign,
        "attributions": [attribution_json(one) for one in analysis.attributions],
        "interventions": [intervention_json(one) for one in analysis.interventions],
        "suggestions": [
            {
                "environment": one.attribution.environment,
                "workload": one.attribution.cell.workload,
                "layout": one.attribution.cell.layout,
                "signal": one.signal,
                "knob": one.knob,
            }
            for one in suggestions
        ],
    }


def _print_words(analysis: Analysis, suggestions: list[Suggestion], result: Path) -> None:
    from rich.console import Console

    from tare.report.causes import print_causes

    console = Console(file=sys.stdout, highlight=False, soft_wrap=False)
    print_causes(analysis, console, whole=True)
    if not analysis.attributions:
        print("no overhead was judged, so there is nothing to explain")
    if suggestions:
        print("\nOnly an intervention shows a cause. These would test the candidates:")
    for one in suggestions:
        print(f"  {_command(one, analysis, result)}   # {one.about}: tests {one.signal}")


def _command(one: Suggestion, analysis: Analysis, result: Path) -> str:
    """With the options that the result needs, and no others."""
    own = one.attribution
    kinds = {
        "environment": ({each.environment for each in analysis.attributions}, own.environment),
        "workload": ({each.cell.workload for each in analysis.attributions}, own.cell.workload),
        "layout": ({each.cell.layout for each in analysis.attributions}, own.cell.layout),
    }
    words = [f"--{name} {value}" for name, (known, value) in kinds.items() if len(known) > 1]
    return " ".join([f"tare explain {result} --toggle {one.knob}", *words])


def _intervene(result: Path, options: ExplainOptions, toggle: str, *, as_json: bool) -> int:
    from tare.commands.run import run_and_show

    request = intervention_request(result, options, toggle)
    code = run_and_show(request, as_json=as_json)
    if not as_json:
        print(f"continue or repeat it: tare run {request.folder.path}", file=sys.stderr)
    return code


def intervention_request(result: Path, options: ExplainOptions, toggle: str) -> Request:
    """What is to be run, and into which folder; ``InputError`` says why it cannot be."""
    parent = ResultFolder(result)
    kept = kept_campaign(parent)
    if kept.intervention is not None:
        raise InputError(f"{result} is an intervention itself; explain the result that it belongs to")
    sessions = read_journal(parent.journal).sessions
    if not sessions:
        raise InputError(f"{result} holds no trial yet; continue it first: tare run {result}")
    image = find_image(sessions[0].image_name)
    if image.digest != sessions[0].image_digest:
        raise InputError(
            f"{result} was measured with another image than {image.name} is now; an intervention must change the "
            "knob alone: bring that image back, or measure the campaign anew"
        )
    campaign, folder = _planned(parent, kept, sessions[0].identity, options, toggle)
    return Request(campaign=campaign, folder=folder, image_name=sessions[0].image_name)


def _planned(
    parent: ResultFolder, kept: Campaign, session: str, options: ExplainOptions, toggle: str
) -> tuple[Campaign, ResultFolder]:
    choice = Choice(environment=options.environment, workload=options.workload, layout=options.layout)
    if not 1 <= options.blocks <= MOST_BLOCKS:
        raise InputError(f"--blocks must be 1 to {MOST_BLOCKS}, but is {options.blocks}")
    if options.environment == NATIVE:
        raise InputError("--environment: native is what all is compared with; choose another")
    planned = intervention_campaign(
        Parent(path="", campaign=kept, session=session), choice, toggle, options.blocks
    )
    folder = ResultFolder(options.output or parent.path / EXPLANATIONS / folder_name(planned))
    to_parent = os.path.relpath(parent.path.resolve(), folder.path.resolve())
    own = planned.intervention and replace(planned.intervention, parent=to_parent)
    campaign = replace(planned, intervention=own)
    return with_overrides(campaign, seed=options.seed), folder
