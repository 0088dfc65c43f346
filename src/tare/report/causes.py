# SPDX-License-Identifier: Apache-2.0
"""Why an environment is slower: causes by intervention, candidates, signals; for programs, a terminal and the page."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.drawing.artist import Artist
from tare.drawing.table import LEAST_NAME, add_name_column, name_cell, ruled_table
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
    Role,
    Scope,
    Shift,
    Strength,
)
from tare.report import arrange
from tare.report.page import MISSING, PageSection, section
from tare.report.reasons import reasons
from tare.report.shape import (
    ByName,
    CampaignShape,
    CellShape,
    EstimateShape,
    JsonShape,
    MetricShape,
    Number,
    Seconds,
    in_unit,
    key,
)

TITLE = "Why"
EXPLANATION = (
    "A cause was removed by an intervention, and the difference went with it. A candidate accounts for lost time, or "
    "is more frequent in the environment than in native runs of equal time, or varies with the overhead. Nothing else "
    "is named."
)
STYLE = {Attributed.CAUSE: "bold", Attributed.CANDIDATE: "yellow", Attributed.UNEXPLAINED: "dim"}
_MINUTE_CHANCE = 0.001


def explained(analysis: Analysis) -> tuple[Attribution, ...]:
    """Attributions with a difference to explain, and signals that may explain it."""
    return tuple(each for each in analysis.attributions if each.established)


class ExplanationShape(MetricShape):
    """One object per claim (slower or faster, beyond the noise floor), on primary metrics or not.

    [causes.md](causes.md) explains the words.
    """

    primary: bool = key("as in a verdict")
    claim: str = key('such as `"25 to 28 % slower"`')
    standing: Attributed = key("what is known; cause: confirmed by an intervention; candidate: suspected")
    cause: str | None = key(
        "name of the known cause, or of the knob that was turned by hand; `null` if none is known"
    )
    title: str | None = key("the cause in words", lambda of: of.title or None)
    grounds: str | None = key("why it is suspected, in words", lambda of: of.grounds or None)
    cure: str | None = key(
        "what the technology's user writes; for a gain, how native gets it too", lambda of: of.cure or None
    )
    knob: str | None = key("the knob that confirmed it")
    before: EstimateShape | None = key("the overhead as it is, in the intervention's own blocks")
    after: EstimateShape | None = key("the overhead with the knob turned, in the intervention's own blocks")
    further: list[str] = key("other causes of the same claim, in words")
    tried: list[str] = key("what was turned and is no cause of it, in words")
    undecided: list[str] = key("what was turned without a decision, in words")
    absent: bool = key(
        "whether the difference was not seen again in the blocks of an intervention", "is_absent"
    )


class SuspicionShape(MetricShape):
    """A known cause of a claim that has evidence; claim by claim, the strongest first."""

    cause: str = key("name of the known cause")
    strength: ByName[Strength] = key("how much speaks for it")
    grounds: str = key("why it is suspected, in words")


class CorrelationShape(JsonShape):
    """Spearman's correlation of the overhead and a signal over blocks."""

    r: Number = key("the coefficient")
    chance: Number = key("probability of so large a value for any signal if all were unrelated")
    n: int = key("how many blocks")


class ClueShape(JsonShape):
    """What one signal says about one overhead."""

    rank: int = key("from 1, candidates first")
    signal: str = key("its name ([signals.md](signals.md))")
    title: str = key("the signal in words")
    scope: Scope = key("where it was counted: in the nodes, or on the whole host")
    standing: Attributed = key("whether it is a candidate")
    grounds: list[ByName[Ground]] = key("why it is a candidate; empty if it is none")
    after: str | None = key("the signal that it contains or follows from")
    excess: EstimateShape = key(
        "how much more than natively, per trial", lambda of: in_unit(of.excess, of.unit)
    )
    native: Number = key("native's median per trial, in the same unit")
    share: EstimateShape | None = key(
        "share of the time lost; `null` if the signal is neither seconds of waiting nor events of a known cost"
    )
    chance: Number = key("probability of such an excess by chance, adjusted for all signals")
    correlation: CorrelationShape | None = key(
        "with the overhead; `null` below 10 blocks, or for a signal that never changes"
    )


class AttributionShape(MetricShape):
    """One object per environment, cell and metric, for primary metrics and claims.

    [causes.md](causes.md) explains the words.
    """

    n: int = key("the number of blocks")
    standing: Attributed | None = key(
        "whether any signal is a candidate; `null` if there is no overhead to explain"
    )
    lost: Seconds | None = key("wall time per trial beyond native", "lost_s")
    unexplained: EstimateShape | None = key(
        "the share of it that no candidate accounts for; `null` if it is not certain that wall time is lost"
    )
    signals: list[ClueShape] = key(
        "the signals by rank",
        lambda of: [ClueShape.taken(clue, rank=rank) for rank, clue in enumerate(of.clues, start=1)],
    )
    missing: dict[str, str] = key(
        "signal \N{RIGHTWARDS ARROW} why the trials lack it", lambda of: dict(of.missing)
    )
    sentence: str = key("the same in words")


class ParentShape(JsonShape):
    """The result that an intervention explains."""

    path: str = key("its folder, from the folder of the intervention", "parent")
    campaign: str = key("its campaign's name", "parent_campaign")
    session: str = key("identity of its first session", "parent_session")


class InterventionShape(JsonShape):
    """One object per knob and metric.

    A result that was explained contains the interventions of the results below it, for primary metrics and claims.
    """

    cell: CellShape = key("the cell")
    environment: str = key("as in a verdict", "intervention.environment")
    changed: str = key("the environment with the knob turned", "turned.changed")
    knob: str = key("the knob's name", "turned.knob")
    cause: str | None = key(
        "the known cause that it tests; `null` if the knob was chosen by hand", "turned.cause"
    )
    metric: str = key("as in a verdict")
    standing: Attributed = key("whether the knob is a cause")
    role: ByName[Role] = key(
        "the knob's part in the difference; absent: there was none in the intervention's own blocks"
    )
    shift: ByName[Shift] = key("how the overhead changes; same: by less than the margin")
    before: EstimateShape = key("the overhead as it is")
    after: EstimateShape = key("the overhead with the knob turned")
    change: EstimateShape = key("change of the time per unit of work; below 0 is time gained")
    chance: Number = key(
        "the probability of such a change by chance, for all knobs and claimed metrics together"
    )
    parent: ParentShape = key("the result that it explains", "intervention")
    sentence: str = key("the same in words")


class CausesJson(JsonShape):
    explanations: list[ExplanationShape] = key(
        "why each claim is true: cause, suspicion or neither, and the cure"
    )
    suspicions: list[SuspicionShape] = key("the known causes that have evidence")
    attributions: list[AttributionShape] = key("why an environment is slower, as far as signals show")
    interventions: list[InterventionShape] = key("what turning one knob did to an overhead")


class PrintedExplanations(CausesJson, CampaignShape):
    """The object that `tare explain RESULT --json` prints."""


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
    if not _is_contradicted(attribution, analysis):
        console.print(Text(f"  {said_at(attribution, analysis)}", style=STYLE[standing]))
    if attribution.clues:
        console.print(_clues(attribution))


def _tried(analysis: Analysis) -> Table | None:
    """Each knob and metric: the overhead as it is and with the knob turned."""
    if not analysis.interventions:
        return None
    printed = ruled_table()
    add_name_column(printed, "changed", LEAST_NAME)
    printed.add_column("metric", overflow="fold")
    for title in ("before", "after"):
        printed.add_column(title, justify="right", no_wrap=True)
    printed.add_column("conclusion", overflow="fold")
    for verdict in analysis.interventions:
        changed, metric, _, _, conclusion = tried_row(verdict, analysis)
        figures = (_overhead_said(overhead, "\n") for overhead in (verdict.before, verdict.after))
        row = (one_line(metric), *figures, conclusion)
        printed.add_row(name_cell(changed, LEAST_NAME), *row, style=STYLE[verdict.standing])
    return printed


def _overhead_said(overhead: Estimate, between: str) -> str:
    return f"{point_percent(overhead)}{between}{interval_percent(overhead)}"


def tried_row(verdict: InterventionVerdict, analysis: Analysis) -> tuple[str, ...]:
    """Environment with the knob, metric, overhead before and after, and what that shows."""
    names = {(each.cell, each.metric): each.name for each in analysis.explanations}
    metric = names.get((verdict.cell, verdict.metric), f"{verdict.cell.workload} {verdict.metric}")
    before, after = (
        f"{point_percent(overhead)} [{interval_percent(overhead)}]"
        for overhead in (verdict.before, verdict.after)
    )
    return verdict.turned.changed, metric, before, after, verdict.role.value


def _is_contradicted(attribution: Attribution, analysis: Analysis) -> bool:
    """Whether it says "unexplained" where an intervention showed a cause."""
    return attribution.standing is Attributed.UNEXPLAINED and any(
        verdict.role is Role.CAUSE
        and (verdict.intervention.environment, verdict.cell, verdict.metric)
        == (attribution.environment, attribution.cell, attribution.metric)
        for verdict in analysis.interventions
    )


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
        tried=[(*tried_row(verdict, analysis)[:-1], verdict.sentence) for verdict in analysis.interventions],
        attributions=[
            (each, "" if _is_contradicted(each, analysis) else said_at(each, analysis))
            for each in attributions
            if each.clues
        ],
        figures=figures,
        grounds=grounds,
    )
    return [shown]
