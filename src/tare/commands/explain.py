# SPDX-License-Identifier: Apache-2.0
"""``tare explain``: try the cause of every claim and its cure, or knobs that the user names."""

import json
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tare.commands.explained import Explained, ExplainOptions, explained, narrowed
from tare.commands.trying import ChosenTries, Subject, Try, subjects
from tare.drawing.words import counted
from tare.environments import PROVIDERS
from tare.errors import ExitCode, InputError
from tare.journal.result import ResultFolder, require_own
from tare.measure.campaign import Request
from tare.measure.kept import kept_campaign
from tare.nodes.provider import Provider
from tare.plan.interventions import Choice, Toggle
from tare.plan.knobs import KNOBS
from tare.records import Analysis
from tare.units import format_duration

_BLIND = "nothing speaks for it, nor against it"


def run_explain(
    result: Path, options: ExplainOptions, as_json: bool, providers: Mapping[str, Provider] = PROVIDERS
) -> ExitCode:
    """Print what is known, try what would decide, print the results; returns the exit code."""
    from tare.commands.published import own_views
    from tare.pipeline import analyse_result
    from tare.report.document import write_report

    analysis = narrowed(analyse_result(result), options)
    is_intervention = kept_campaign(ResultFolder(result)).intervention is not None
    if options.dry_run or (is_intervention and not options.toggles):
        _print(analysis, as_json=as_json, whole=True)
        if not as_json and not is_intervention:
            _print_plans(analysis, explained(result, analysis, options, providers))
        return ExitCode.DONE
    require_own(ResultFolder(result))
    own = explained(result, analysis, options, providers)
    code = _turn_by_hand(own, analysis) if options.toggles else _try_causes(own, analysis)
    if code == ExitCode.INTERRUPTED:
        return code
    known = analyse_result(result)
    write_report(known, own.folder.report, own_views(known))
    shown = known if options.output is None else analyse_result(options.output)
    _print(narrowed(shown, options), as_json=as_json, whole=False)
    return code


def _try_causes(own: Explained, analysis: Analysis) -> ExitCode:
    """Announce the total time, then try one environment and layout after the other."""
    if own.options.output is not None:
        raise InputError(
            "--output goes with --toggle: what is tried unaided lies below the result that it explains"
        )
    left = subjects(analysis)
    if left:
        _say(_time_said(own, analysis, left))
    code = ExitCode.DONE
    for subject in left:
        code = max(code, _explain_subject(own, subject))
        if code == ExitCode.INTERRUPTED:
            break
    return code


def _time_said(own: Explained, analysis: Analysis, left: Sequence[Subject]) -> str:
    claims = counted(len(analysis.explanations), "claim")
    most = format_duration(len(left) * own.options.budget_s)
    return f"{claims} on {counted(len(left), 'environment')}: this takes {most} at most"


def _explain_subject(own: Explained, subject: Subject) -> ExitCode:
    """Trace spare runs, rank the causes with this evidence too, and turn their knobs."""
    from tare.commands.run import run_and_show

    if (begun := own.begun(subject)) is not None:
        return run_and_show(begun)
    begun_s, tracing_s = time.monotonic(), own.tracing_s(subject)
    first = own.attempt(subject, own.options.budget_s - tracing_s)
    if first.left_out and not first.tries:
        _say(_too_long_said(first, own))
        return ExitCode.DONE
    _say(_said_before(first, tracing_s))
    traced = _traced(own, subject)
    if traced is None:
        return ExitCode.INTERRUPTED
    return _turn(own, own.attempt(traced, own.options.budget_s - (time.monotonic() - begun_s)))


def _traced(own: Explained, subject: Subject) -> Subject | None:
    """The subject with the evidence from its calls; ``None`` after an interrupt."""
    from tare.commands.audience import Progress
    from tare.pipeline import analyse_result

    try:
        own.trace(subject, Progress())
    except KeyboardInterrupt:
        _say("interrupted; the same command goes on")
        return None
    for words in own.untraced(subject):
        _say(words)
    analysis = narrowed(analyse_result(own.folder.path), own.options)
    return next(updated for updated in subjects(analysis) if updated.choice == subject.choice)


def _turn(own: Explained, chosen: ChosenTries) -> ExitCode:
    from tare.commands.run import run_and_show

    if not chosen.tries:
        _say(_nothing_said(chosen, own))
        return ExitCode.DONE
    for each in chosen.tries:
        _say(f"  tries {_try_said(each)}")
    if left_out := ", ".join(each.toggle.text for each in chosen.left_out):
        _say(f"  the budget does not hold {left_out}; --budget gives more time")
    toggles, subject = [each.toggle for each in chosen.tries], chosen.subject
    return run_and_show(own.planned(subject.choice, toggles, chosen.blocks, subject.claims))


def _try_said(attempt: Try) -> str:
    knob = attempt.toggle.text
    return f"{knob} ({KNOBS[knob].about}): {attempt.grounds or _BLIND}"


def _said_before(chosen: ChosenTries, tracing_s: float) -> str:
    """Announcement of the next steps and their duration."""
    claims = counted(len(chosen.subject.explanations), "claim")
    traced = f"system calls are counted in spare runs (about {format_duration(tracing_s)})"
    begin = f"{_place(chosen)}, {claims}: {traced}"
    if chosen.expected_s is None:
        return f"{begin}; nobody knows yet how long the blocks take"
    knobs, blocks = counted(len(chosen.tries), "knob"), counted(chosen.blocks, "block")
    return f"{begin}, then {knobs} in {blocks} (about {format_duration(chosen.expected_s)})"


def _place(chosen: ChosenTries) -> str:
    return f"{chosen.subject.environment} on {chosen.subject.layout}"


def _nothing_said(chosen: ChosenTries, own: Explained) -> str:
    if chosen.left_out:
        return _too_long_said(chosen, own)
    return f"{_place(chosen)}: no knob of this version can be turned here that would test anything"


def _too_long_said(chosen: ChosenTries, own: Explained) -> str:
    needed_s = (chosen.expected_s or 0.0) + own.tracing_s(chosen.subject)
    result = shlex.quote(str(own.folder.path))
    command = f"tare explain {result} --environment {chosen.subject.environment}"
    return (
        f"{_place(chosen)}: one knob in {counted(chosen.blocks, 'block')} takes about {format_duration(needed_s)}, "
        f"more than the budget: {command} --budget {int(1.2 * needed_s / 60) + 1}m"
    )


def _turn_by_hand(own: Explained, analysis: Analysis) -> ExitCode:
    """Turn the knobs that the user named, for all claims on the environment."""
    from tare.commands.run import run_and_show

    request = _by_hand(own, analysis)
    code = run_and_show(request)
    _say(f"continue or repeat it: tare run {request.folder.path}")
    return code


def _by_hand(own: Explained, analysis: Analysis) -> Request:
    """The request to run, with its folder; ``InputError`` says why it cannot run."""
    toggles = [Toggle(text=text) for text in dict.fromkeys(own.options.toggles)]
    subject = _chosen(subjects(analysis))
    choice = subject.choice if subject else _choice(own, analysis)
    return own.planned(choice, toggles, own.options.blocks, subject.claims if subject else ())


def _chosen(own: Sequence[Subject]) -> Subject | None:
    """The only subject with a claim; ``InputError`` where there are several."""
    if len(own) < 2:  # noqa: PLR2004 - one leaves no choice
        return own[0] if own else None
    names = {
        "--environment": dict.fromkeys(subject.environment for subject in own),
        "--layout": dict.fromkeys(subject.layout for subject in own),
    }
    option, several = next((option, list(each)) for option, each in names.items() if len(each) > 1)
    raise InputError(f"the result has claims on {', '.join(several)}; say which by {option}")


def _choice(own: Explained, analysis: Analysis) -> Choice:
    """The choice without a claim: all workloads with a verdict there."""
    options = own.options
    judged = [
        attribution.cell.workload
        for attribution in analysis.attributions
        if attribution.environment == options.environment
    ]
    return Choice(
        environment=options.environment, workloads=tuple(dict.fromkeys(judged)) or None, layout=options.layout
    )


def _print_plans(analysis: Analysis, own: Explained) -> None:
    """Print the knobs that would be turned, and the time for them."""
    if own.options.toggles:
        campaign = _by_hand(own, analysis).campaign
        for change in campaign.intervention.changes if campaign.intervention else ():
            print(f"would turn {change.knob}: {change.subject}, {change.change}")
        return
    for subject in subjects(analysis):
        tracing_s = own.tracing_s(subject)
        chosen = own.attempt(subject, own.options.budget_s - tracing_s)
        print(_said_before(chosen, tracing_s) if chosen.tries else _nothing_said(chosen, own))
        for each in chosen.tries:
            print(f"  would try {_try_said(each)}")


def _print(analysis: Analysis, *, as_json: bool, whole: bool) -> None:
    from tare.report import causes

    if as_json:
        from tare.report.shape import printed

        print(json.dumps(printed(causes.PrintedExplanations, analysis), indent=2, allow_nan=False))
        return
    from tare.commands.console import PlainConsole
    from tare.report.hosts import hosts_said

    console = PlainConsole()
    causes.print_reasons(analysis, console)
    causes.print_causes(analysis, console, whole=whole)
    for words in hosts_said(analysis):
        console.print(words, soft_wrap=True, markup=False)
    if not analysis.explanations and not analysis.interventions:
        print("nothing is slower or faster than native for certain, so there is nothing to explain")


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)
