# SPDX-License-Identifier: Apache-2.0
"""Why an environment is slower: causes by intervention, candidates, signals; for programs, a terminal and the page."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.drawing.artist import Artist
from tare.drawing.table import ruled_table
from tare.drawing.words import interval_percent, point_percent, quantity
from tare.foreign import one_line
from tare.records import (
    Analysis,
    Attributed,
    Attribution,
    Clue,
    Estimate,
    Explanation,
    Ground,
    InterventionVerdict,
    Suspicion,
)
from tare.report import arrange, in_json
from tare.report.page import MISSING, PageSection, section
from tare.report.reasons import reasons

TITLE = "Why"
EXPLANATION = (
    "A cause is what an intervention took away, and the difference with it. A candidate accounts for time lost, or "
    "came beside the environment more than beside native in equal time, or varies with the overhead. Nothing else is "
    "named."
)
STYLE = {Attributed.CAUSE: "bold", Attributed.CANDIDATE: "yellow", Attributed.UNEXPLAINED: "dim"}
_MINUTE_CHANCE = 0.001


def explained(analysis: Analysis) -> tuple[Attribution, ...]:
    """Attributions with a difference to explain, and signals that may explain it."""
    return tuple(each for each in analysis.attributions if each.established)


def json(analysis: Analysis) -> dict[str, Any]:
    """What ``tare show --json`` and ``tare explain --json`` have about causes, as docs/json.md describes it."""
    return {
        "explanations": [_explanation(explanation) for explanation in analysis.explanations],
        "suspicions": [_suspicion(suspicion) for suspicion in analysis.suspicions],
        "attributions": [_attribution(attribution) for attribution in analysis.attributions],
        "interventions": [_intervention(verdict) for verdict in analysis.interventions],
    }


def _explanation(explanation: Explanation) -> dict[str, Any]:
    return {
        "cell": in_json.cell(explanation.cell),
        "environment": explanation.environment,
        "metric": explanation.metric,
        "primary": explanation.primary,
        "claim": explanation.claim,
        "standing": explanation.standing.value,
        "cause": explanation.cause,
        "title": explanation.title or None,
        "grounds": explanation.grounds or None,
        "cure": explanation.cure or None,
        "knob": explanation.knob,
        "before": explanation.before and in_json.estimate(explanation.before),
        "after": explanation.after and in_json.estimate(explanation.after),
        "further": list(explanation.further),
        "tried": list(explanation.tried),
        "undecided": list(explanation.undecided),
        "absent": explanation.is_absent,
    }


def _suspicion(suspicion: Suspicion) -> dict[str, Any]:
    return {
        "cell": in_json.cell(suspicion.cell),
        "environment": suspicion.environment,
        "metric": suspicion.metric,
        "cause": suspicion.cause,
        "strength": suspicion.strength.name.lower(),
        "grounds": suspicion.grounds,
    }


def _attribution(attribution: Attribution) -> dict[str, Any]:
    return {
        "cell": in_json.cell(attribution.cell),
        "environment": attribution.environment,
        "metric": attribution.metric,
        "n": attribution.n,
        "standing": attribution.standing and attribution.standing.value,
        "lost": attribution.lost_s and in_json.estimate(attribution.lost_s, "s"),
        "unexplained": attribution.unexplained and in_json.estimate(attribution.unexplained),
        "signals": [_clue(rank, clue) for rank, clue in enumerate(attribution.clues, start=1)],
        "missing": dict(attribution.missing),
        "sentence": attribution.sentence,
    }


def _intervention(verdict: InterventionVerdict) -> dict[str, Any]:
    own = verdict.intervention
    return {
        "cell": in_json.cell(verdict.cell),
        "environment": own.environment,
        "changed": verdict.turned.changed,
        "knob": verdict.turned.knob,
        "cause": verdict.turned.cause,
        "metric": verdict.metric,
        "standing": verdict.standing.value,
        "role": verdict.role.name.lower(),
        "shift": verdict.shift.name.lower(),
        "before": in_json.estimate(verdict.before),
        "after": in_json.estimate(verdict.after),
        "change": in_json.estimate(verdict.change),
        "chance": in_json.number(verdict.chance),
        "parent": {"path": own.parent, "campaign": own.parent_campaign, "session": own.parent_session},
        "sentence": verdict.sentence,
    }


def _clue(rank: int, clue: Clue) -> dict[str, Any]:
    return {
        "rank": rank,
        "signal": clue.signal,
        "title": clue.title,
        "scope": clue.scope.value,
        "standing": clue.standing.value,
        "grounds": [ground.name.lower() for ground in clue.grounds],
        "after": clue.after,
        "excess": in_json.estimate(clue.excess, clue.unit),
        "native": in_json.number(clue.native),
        "share": clue.share and in_json.estimate(clue.share),
        "chance": in_json.number(clue.chance),
        "correlation": clue.correlation
        and {
            "r": in_json.number(clue.correlation.r),
            "chance": in_json.number(clue.correlation.chance),
            "n": clue.correlation.n,
        },
    }


def table(analysis: Analysis, console: Console, *, show_all: bool) -> None:  # noqa: ARG001 - as every topic's
    """Print the reasons of claims on other metrics, and what interventions showed."""
    print_causes(analysis, console)


def print_reasons(analysis: Analysis, console: Console, *, primary: bool = True) -> None:
    """Print a line for each cause of the primary metrics' claims, or of all others'."""
    for reason in reasons(analysis, primary=primary):
        console.print(Text(f"{reason.subject}: {reason.text}", style=STYLE[reason.standing]))
        if reason.command:
            console.print(Text(f"  to find out: {reason.command}", style="dim"), soft_wrap=True)


def print_causes(analysis: Analysis, console: Console, *, whole: bool = False) -> None:
    """Print interventions and the reasons of other metrics; with ``whole`` every signal too."""
    tried = _tried(analysis)
    others = reasons(analysis, primary=False)
    if tried is None and not others and not (whole and explained(analysis)):
        return
    console.print(Text(f"\n{TITLE}", style="bold"))
    print_reasons(analysis, console, primary=False)
    if tried is not None:
        console.print(tried)
    if whole:
        console.print(Text(EXPLANATION))
        for attribution in explained(analysis):
            _print_signals(attribution, analysis, console)


def _print_signals(attribution: Attribution, analysis: Analysis, console: Console) -> None:
    standing = attribution.standing or Attributed.UNEXPLAINED
    console.print(Text(f"  {said_at(attribution, analysis)}", style=STYLE[standing]))
    if attribution.clues:
        console.print(_clues(attribution))


def _tried(analysis: Analysis) -> Table | None:
    """Each knob and metric: the overhead as it is and with the knob turned."""
    if not analysis.interventions:
        return None
    printed = ruled_table()
    for title in ("turned", "metric"):
        printed.add_column(title, overflow="fold", min_width=12)
    for title in ("as it is", "turned", "so it is"):
        printed.add_column(title, justify="right", overflow="fold")
    for verdict in analysis.interventions:
        printed.add_row(*map(one_line, tried_row(verdict, analysis)), style=STYLE[verdict.standing])
    return printed


def tried_row(verdict: InterventionVerdict, analysis: Analysis) -> tuple[str, ...]:
    """Environment with the knob, metric, overhead before and after, and what that shows."""
    names = {(each.cell, each.metric): each.name for each in analysis.explanations}
    metric = names.get((verdict.cell, verdict.metric), f"{verdict.cell.workload} {verdict.metric}")
    before, after = (
        f"{point_percent(overhead)} {interval_percent(overhead)}"
        for overhead in (verdict.before, verdict.after)
    )
    return verdict.turned.changed, metric, before, after, verdict.role.value


def said_at(attribution: Attribution, analysis: Analysis) -> str:
    """The attribution's sentence, with the cell and the metric where there are several."""
    several = len(arrange.cells(analysis)) > 1
    cell, metric, sentence = attribution.cell, attribution.metric, attribution.sentence
    metrics = {each.metric for each in analysis.attributions if each.cell == cell}
    place = ", ".join(([arrange.place(cell)] if several else []) + ([metric] if len(metrics) > 1 else []))
    return one_line(f"{place}: {sentence}" if place else sentence)


def _clues(attribution: Attribution) -> Table:
    """Without intervals and correlations, which the sentences have where they matter, and the report has all."""
    printed = ruled_table()
    printed.add_column("signal", overflow="fold", min_width=20)
    for title in ("more per trial", "native", "of the loss", "chance"):
        printed.add_column(title, justify="right", no_wrap=True)
    printed.add_column("says", overflow="fold", min_width=10)
    for clue in attribution.clues:
        more, native, share, _, _, rare = figures(clue)
        said = ("candidate" if clue.after is None else f"with {clue.after}") if clue.grounds else ""
        row = (one_line(clue.signal), more, native, share, rare, said)
        printed.add_row(*row, style=None if clue.grounds else "dim")
    return printed


def figures(clue: Clue) -> tuple[str, ...]:
    """Excess, native's, share with its interval, correlation, chance: each as text, empty where there is none."""
    share = (
        ("", "")
        if clue.share is None
        else (point_percent(clue.share).lstrip("+"), interval_percent(clue.share))
    )
    r = "" if clue.correlation is None else f"{clue.correlation.r:+.2f}".replace("-", "\N{MINUS SIGN}")
    return amount(clue.excess, clue.unit), _unsigned(clue.native, clue.unit), *share, r, chance(clue.chance)


def grounds(clue: Clue) -> str:
    """Why the signal is a candidate; empty where it is none."""
    if not clue.grounds:
        return ""
    words = {
        Ground.TIME: "time lost",
        Ground.EVENTS: "more than native",
        Ground.SPREAD: "varies with it",
    }
    said = ", ".join(words[ground] for ground in clue.grounds)
    return f"candidate: {said}" if clue.after is None else f"with {clue.after}: {said}"


def amount(estimate: Estimate, unit: str) -> str:
    sign = "+" if estimate.point > 0 else ""
    return sign + _unsigned(estimate.point, unit)


def _unsigned(value: float, unit: str) -> str:
    if unit == "1":
        return f"{value:.4g}".replace("-", "\N{MINUS SIGN}")
    return quantity(value, {"byte": "B"}.get(unit, unit))


def chance(value: float) -> str:
    return f"< {_MINUTE_CHANCE}" if value < _MINUTE_CHANCE else f"{value:.3f}"


def html(analysis: Analysis, artist: Artist) -> Sequence[PageSection]:  # noqa: ARG001 - as every topic's
    """One section: reasons, interventions, and the signals of each attribution."""
    attributions = explained(analysis)
    if not (attributions or analysis.explanations or analysis.interventions):
        return [MISSING]
    shown = section(
        "causes",
        TITLE,
        explanation=EXPLANATION,
        reasons=reasons(analysis),
        other_reasons=reasons(analysis, primary=False),
        tried=[(*tried_row(verdict, analysis), verdict.sentence) for verdict in analysis.interventions],
        attributions=[(each, said_at(each, analysis)) for each in attributions if each.clues],
        figures=figures,
        grounds=grounds,
    )
    return [shown]
