# SPDX-License-Identifier: Apache-2.0
"""Environments and workloads against each other: rankings and geometric means, for every output."""

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup
from rich.console import Console
from rich.text import Text

from tare.drawing.artist import Artist
from tare.drawing.table import figures_table, print_heading
from tare.drawing.words import interval_percent, point_percent
from tare.foreign import one_line
from tare.records import Analysis, PairDifference, Ranked, Ranking
from tare.report import in_json, trust
from tare.report.arrange import place
from tare.report.page import PageSection, rendered

RANKING_TITLE = "Ranking on the primary metric"
SAME_LETTER = "Same letter: not distinguished, not equal."
RANKING_EXPLANATION = (
    f"{SAME_LETTER} All pairs of a table are compared within blocks and hold together (Holm, 5 %); overlapping "
    "intervals are not what decides."
)
ACROSS_TITLE = "Geometric mean across workloads"
ACROSS_EXPLANATION = (
    "Of the primary metrics' overheads in one layout, each workload counting alike: a mix that nobody runs. The "
    "interval is over blocks, by itself."
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
    return f"Among {len(ranking.pairs)} pairs fewer than {needed} common blocks may be too few to tell two apart."


def shown_rankings(analysis: Analysis) -> tuple[Ranking, ...]:
    """Rankings with two environments or more beside native; of one its verdict says the same."""
    return tuple(ranking for ranking in analysis.rankings if len(ranking.places) > 2)  # noqa: PLR2004


def json(analysis: Analysis) -> dict[str, Any]:
    """Comparisons and spreads in ``tare show --json``, as docs/json.md describes them."""
    return {
        "rankings": [_ranking(ranking) for ranking in analysis.rankings],
        "across_workloads": [
            {
                "environment": each.environment,
                "layout": each.layout,
                "workloads": list(each.workloads),
                "overhead": in_json.estimate(each.overhead),
            }
            for each in analysis.across_workloads
        ],
        **trust.json(analysis),
    }


def _ranking(ranking: Ranking) -> dict[str, Any]:
    return {
        "cell": in_json.cell(ranking.cell),
        "metric": ranking.metric,
        "places": [
            {
                "environment": ranked.environment,
                "letters": ranked.letters,
                "overhead": ranked.overhead and in_json.estimate(ranked.overhead),
            }
            for ranked in ranking.places
        ],
        "pairs": [_pair(pair) for pair in ranking.pairs],
    }


def _pair(pair: PairDifference) -> dict[str, Any]:
    return {
        "first": pair.first,
        "second": pair.second,
        "difference": in_json.estimate(pair.difference),
        "adjusted_p": pair.adjusted_p,
        "adjusted_equivalence_p": pair.adjusted_equivalence_p,
        "distinguished": pair.distinguished,
        "equal": pair.equal,
    }


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
