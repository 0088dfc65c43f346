# SPDX-License-Identifier: Apache-2.0
"""Why an environment is slower, as a reader sees it: what intervened, what is a candidate, what was counted."""

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

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
from tare.report.words import interval_percent, one_line, point_percent, quantity

TITLE = "Why"
EXPLANATION = (
    "A cause is what an intervention took away, and the overhead with it. A candidate accounts for time lost, or came "
    "beside the environment more than beside native in equal time, or varies with the overhead. Nothing else is named."
)
_STYLE = {Attributed.CAUSE: "bold", Attributed.CANDIDATE: "yellow", Attributed.UNEXPLAINED: "dim"}
_MINUTE_CHANCE = 0.001


def explained(analysis: Analysis) -> tuple[Attribution, ...]:
    """Those with something to explain, and signals to do it."""
    return tuple(one for one in analysis.attributions if one.established)


def primary_interventions(analysis: Analysis) -> tuple[InterventionVerdict, ...]:
    """Of each intervention its first verdict, which is on the primary metric."""
    found: dict[tuple[str, str, str], InterventionVerdict] = {}
    for one in analysis.interventions:
        found.setdefault((one.intervention.changed, one.cell.workload, one.cell.layout), one)
    return tuple(found.values())


def print_causes(analysis: Analysis, console: Console, *, whole: bool = False) -> None:
    """Print a sentence for each overhead that is there, and for each intervention; ``whole``: every signal too."""
    shown = analysis.attributions if whole else explained(analysis)
    interventions = primary_interventions(analysis)
    if not shown and not interventions:
        return
    console.print(Text(f"\n{TITLE}", style="bold"))
    console.print(Text(EXPLANATION))
    for verdict in interventions:
        console.print(Text(f"  {said_at(verdict, analysis)}", style=_STYLE[verdict.standing]))
    for attribution in shown:
        standing = attribution.standing or Attributed.UNEXPLAINED
        console.print(Text(f"  {said_at(attribution, analysis)}", style=_STYLE[standing]))
        if whole and attribution.clues:
            console.print(_table(attribution))


def said_at(one: Attribution | InterventionVerdict, analysis: Analysis) -> str:
    """Its sentence, with the cell where there are several."""
    several = len(arrange.cells(analysis)) > 1
    return one_line(f"{arrange.place(one.cell)}: {one.sentence}" if several else one.sentence)


def _table(attribution: Attribution) -> Table:
    """Without intervals and correlations, which the sentences have where they matter, and the report has all."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1))
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
