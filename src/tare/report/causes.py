# SPDX-License-Identifier: Apache-2.0
"""Why an environment is slower, as a reader sees it: what intervened, what is a candidate, what was counted."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.drawing.table import ruled_table
from tare.drawing.words import interval_percent, point_percent, quantity
from tare.foreign import one_line
from tare.records import (
    Analysis,
    Attributed,
    Attribution,
    Clue,
    Estimate,
    Ground,
    InterventionVerdict,
)
from tare.report import arrange
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
    """Those with something to explain, and signals to do it."""
    return tuple(one for one in analysis.attributions if one.established)


def print_reasons(analysis: Analysis, console: Console, *, primary: bool = True) -> None:
    """Print a line for each cause of the primary metrics' claims, or of all others'."""
    for reason in reasons(analysis, primary=primary):
        console.print(Text(f"{reason.subject}: {reason.text}", style=STYLE[reason.standing]))
        if reason.command:
            console.print(Text(f"  to find out: {reason.command}", style="dim"), soft_wrap=True)


def print_causes(analysis: Analysis, console: Console, *, whole: bool = False) -> None:
    """Print what was tried, beside the reasons that come first; ``whole``: every signal too."""
    table = _tried(analysis)
    others = reasons(analysis, primary=False)
    if table is None and not others and not (whole and explained(analysis)):
        return
    console.print(Text(f"\n{TITLE}", style="bold"))
    print_reasons(analysis, console, primary=False)
    if table is not None:
        console.print(table)
    if whole:
        console.print(Text(EXPLANATION))
        for attribution in explained(analysis):
            _print_signals(attribution, analysis, console)


def _print_signals(attribution: Attribution, analysis: Analysis, console: Console) -> None:
    standing = attribution.standing or Attributed.UNEXPLAINED
    console.print(Text(f"  {said_at(attribution, analysis)}", style=STYLE[standing]))
    if attribution.clues:
        console.print(_table(attribution))


def _tried(analysis: Analysis) -> Table | None:
    """Each knob and metric: the overhead as it is and with the knob turned."""
    if not analysis.interventions:
        return None
    table = ruled_table()
    for title in ("turned", "metric"):
        table.add_column(title, overflow="fold", min_width=12)
    for title in ("as it is", "turned", "so it is"):
        table.add_column(title, justify="right", overflow="fold")
    for verdict in analysis.interventions:
        table.add_row(*map(one_line, tried_row(verdict, analysis)), style=STYLE[verdict.standing])
    return table


def tried_row(verdict: InterventionVerdict, analysis: Analysis) -> tuple[str, ...]:
    """Environment with the knob, metric, both overheads, and what that says."""
    names = {(one.cell, one.metric): one.name for one in analysis.explanations}
    metric = names.get((verdict.cell, verdict.metric), f"{verdict.cell.workload} {verdict.metric}")
    before, after = (
        f"{point_percent(one)} {interval_percent(one)}" for one in (verdict.before, verdict.after)
    )
    return verdict.turned.changed, metric, before, after, verdict.role.value


def said_at(one: Attribution, analysis: Analysis) -> str:
    """Its sentence, with the cell and the metric where there are several."""
    several = len(arrange.cells(analysis)) > 1
    metrics = {each.metric for each in analysis.attributions if each.cell == one.cell}
    place = ", ".join(
        ([arrange.place(one.cell)] if several else []) + ([one.metric] if len(metrics) > 1 else [])
    )
    return one_line(f"{place}: {one.sentence}" if place else one.sentence)


def _table(attribution: Attribution) -> Table:
    """Without intervals and correlations, which the sentences have where they matter, and the report has all."""
    table = ruled_table()
    table.add_column("signal", overflow="fold", min_width=20)
    for title in ("more per trial", "native", "of the loss", "chance"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("says", overflow="fold", min_width=10)
    for clue in attribution.clues:
        more, native, share, _, _, rare = figures(clue)
        said = ("candidate" if clue.after is None else f"with {clue.after}") if clue.grounds else ""
        row = (one_line(clue.signal), more, native, share, rare, said)
        table.add_row(*row, style=None if clue.grounds else "dim")
    return table


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
    """Why it is a candidate; empty for one that is none."""
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
