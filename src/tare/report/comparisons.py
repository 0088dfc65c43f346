# SPDX-License-Identifier: Apache-2.0
"""Environments and workloads against each other: rankings and geometric means, for every output."""

from collections.abc import Sequence

from markupsafe import Markup
from rich.console import Console
from rich.text import Text

from tare.drawing.artist import Artist
from tare.drawing.table import figures_table, print_heading
from tare.drawing.words import interval_percent, point_percent
from tare.foreign import one_line
from tare.records import Analysis, Direction, Ranked, Ranking
from tare.report import trust
from tare.report.arrange import place
from tare.report.page import PageSection, rendered
from tare.report.shape import ByName, CellShape, EstimateShape, JsonShape, MetricShape, Number, in_unit, key

RANKING_TITLE = "Ranking on the primary metric"
SAME_LETTER = "Environments with the same letter are not distinguished, which does not make them equal."
RANKING_EXPLANATION = (
    f"{SAME_LETTER} All pairs of a table are compared within blocks, and their intervals hold jointly at 95 %; "
    "whether two environments' own intervals overlap decides nothing. Overheads are time per unit of work."
)
ACROSS_TITLE = "Geometric mean across workloads"
ACROSS_EXPLANATION = (
    "Over the primary metrics' overheads in one layout, each workload with the same weight: a mix that nobody runs. "
    "The interval is over blocks, and holds individually."
)


def equals_said(ranking: Ranking) -> str:
    """Such as "Within the margin of each other: docker and lxc."; empty when no pair was shown to be."""
    pairs = [f"{one_line(pair.first)} and {one_line(pair.second)}" for pair in ranking.pairs if pair.equal]
    return f"Shown to be within the margin of each other: {', '.join(pairs)}." if pairs else ""


def reach_said(ranking: Ranking) -> str:
    """Whether some pairs have so few blocks that they may not be told apart whatever they show; else empty."""
    needed = ranking.fewest_blocks
    if all(pair.difference.n >= needed for pair in ranking.pairs):
        return ""
    return f"With {len(ranking.pairs)} pairs, fewer than {needed} common blocks may be too few to distinguish two."


def shown_rankings(analysis: Analysis) -> tuple[Ranking, ...]:
    """Rankings with two environments or more beside native; of one its verdict says the same."""
    return tuple(ranking for ranking in analysis.rankings if len(ranking.places) > 2)  # noqa: PLR2004


class PlaceShape(JsonShape):
    """An environment's place in a ranking."""

    environment: str = key("its name in the campaign, or `native`")
    letters: str = key("two that share one are not distinguished, which does not make them equal")
    overhead: EstimateShape | None = key("against native; `null` for native")


class PairShape(JsonShape):
    """Two environments of a ranking."""

    first: str = key("an environment")
    second: str = key("another")
    difference: EstimateShape = key(
        "how much more time the second takes; the intervals of all pairs hold jointly"
    )
    adjusted_p: float = key('p-value of "no difference" among all pairs of the ranking')
    adjusted_equivalence_p: float = key('p-value of "not within the margin" among all pairs of the ranking')
    distinguished: bool = key("whether they differ")
    equal: bool = key("shown to lie within the margin of each other")


class RankingShape(JsonShape):
    """One object per cell with an environment, on its primary metric."""

    cell: CellShape = key("the cell")
    metric: str = key("as in a verdict")
    places: list[PlaceShape] = key("the fastest first, native included")
    pairs: list[PairShape] = key("every pair of them")


class AcrossShape(JsonShape):
    """One object per environment and layout with several workloads."""

    environment: str = key("as in a verdict")
    layout: str = key("the layout")
    workloads: list[str] = key("their names")
    overhead: EstimateShape = key(
        "geometric mean of the primary metrics' overheads; its `n` counts blocks that are complete for all of them"
    )


class VarianceShape(MetricShape):
    """Variances of ln(time per unit of work): one object per cell and environment, on the primary metric.

    A point below 0 means that nothing was seen.
    """

    between_blocks: EstimateShape = key("common to all arms of a block")
    between_starts: EstimateShape = key("from start to start")
    between_iterations: EstimateShape | None = key("within a start; `null` when each start had one")
    iterations: float = key("per start, harmonic mean")
    best_iterations: int | None = key("the number per start that uses the time best; `null`: not known")
    start_cost_s: Number = key("seconds of a start with its stop; `null`: not known")
    iteration_cost_s: Number = key("seconds of one iteration; `null`: not known")


class SpreadShape(MetricShape):
    """One object per cell, metric and arm, native included."""

    unit: str = key("as in a verdict")
    direction: ByName[Direction] = key("as in a verdict")
    primary: bool = key("as in a verdict")
    p50: EstimateShape = key("the median", lambda of: in_unit(of.p50, of.unit))
    p95: Number = key("the 95th percentile of time per unit of work, in `unit`; `null` below 20 runs")
    slowest: Number = key("the slowest run, in `unit`")
    n: int = key("how many runs")


class ComparisonsJson(JsonShape):
    rankings: list[RankingShape] = key("the environments of each cell against each other")
    across_workloads: list[AcrossShape] = key(
        "geometric means over the workloads of a layout; empty with one workload"
    )
    variances: list[VarianceShape] = key("at which level the noise arises")
    spreads: list[SpreadShape] = key("how single runs spread")


def table(analysis: Analysis, console: Console, *, show_all: bool) -> None:
    """Print rankings and means over workloads, then how far intervals can be trusted."""
    _print_rankings(analysis, console)
    _print_across(analysis, console)
    trust.table(analysis, console, show_all=show_all)


def _print_rankings(analysis: Analysis, console: Console) -> None:
    if rankings := shown_rankings(analysis):
        print_heading(RANKING_TITLE, RANKING_EXPLANATION, console)
        for ranking in rankings:
            console.print(Text(f"\n{place(ranking.cell)}: {one_line(ranking.metric)}", style="bold"))
            rows = [(one_line(ranked.environment), *_ranked(ranked)) for ranked in ranking.places]
            console.print(figures_table(("environment", "letters", "overhead", "interval", "n"), rows))
            for said in filter(None, (equals_said(ranking), reach_said(ranking))):
                console.print(Text(said))


def _ranked(ranked: Ranked) -> Sequence[str]:
    if ranked.overhead is None:
        return ranked.letters, "", "", ""
    overhead = ranked.overhead
    return ranked.letters, point_percent(overhead), interval_percent(overhead), str(overhead.n)


def _print_across(analysis: Analysis, console: Console) -> None:
    if not analysis.across_workloads:
        return
    print_heading(ACROSS_TITLE, ACROSS_EXPLANATION, console)
    rows = [
        (
            one_line(each.environment),
            one_line(each.layout),
            str(len(each.workloads)),
            point_percent(each.overhead),
            interval_percent(each.overhead),
            str(each.overhead.n),
        )
        for each in analysis.across_workloads
    ]
    console.print(figures_table(("environment", "layout", "workloads", "overhead", "interval", "n"), rows))


def html(analysis: Analysis, artist: Artist) -> Sequence[PageSection]:  # noqa: ARG001 - as every topic's
    """All of it as one section, which only rankings bring into the navigation."""
    rankings = shown_rankings(analysis)
    text = rendered(
        "comparisons",
        ranking_title=RANKING_TITLE,
        ranking_explanation=RANKING_EXPLANATION,
        rankings=rankings,
        equals_said=equals_said,
        reach_said=reach_said,
        across_title=ACROSS_TITLE,
        across_explanation=ACROSS_EXPLANATION,
        across_workloads=analysis.across_workloads,
        **trust.page_values(analysis),
    )
    label = "Ranking" if rankings else ""
    return [PageSection(anchor="ranking", label=label, text=Markup(text))]  # noqa: S704 - escaped by Jinja
