# SPDX-License-Identifier: Apache-2.0
import io
import json
import re
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from tare.records import Analysis, Check, Effect, Estimate, Finding, Word
from tare.report import comparisons, trust
from tare.report.document import render_report
from tare.report.machine import to_json
from tare.report.table import print_tables
from tests.report.comparison_example import compared, split
from tests.report.report_example import FIGURES, example, several_cells
from tests.report.test_report_machine import DOCUMENTATION, objects

FINDING = Finding(
    check=Check.DRIFT,
    effect=Effect.QUALIFIES,
    statistic=0.8,
    limit=None,
    p=0.001,
    n=10,
    found=True,
    sentence="the overhead rose <over> the blocks",
)


def printed(analysis: Analysis, *, width: int = 80, show_all: bool = False) -> str:
    stream = io.StringIO()
    print_tables(analysis, Console(file=stream, width=width, highlight=False), show_all=show_all)
    return stream.getvalue()


@cache
def page() -> str:
    return render_report(compared(several_cells()))


def small() -> Analysis:
    """Quick to draw."""
    return compared(example(figures=(FIGURES[0], FIGURES[-1]), losing=False))


def found_on(analysis: Analysis, *, primary: bool) -> Analysis:
    """With a finding on the first verdict of that kind, and none elsewhere."""
    first = next(verdict for verdict in analysis.verdicts if verdict.overhead.summary.primary is primary)
    return replace(
        analysis,
        verdicts=tuple(
            replace(verdict, findings=(FINDING,) if verdict is first else ()) for verdict in analysis.verdicts
        ),
    )


def test_a_ranking_never_stands_without_what_its_letters_mean() -> None:
    meaning = "Environments with the same letter are not distinguished, which does not make them equal."
    assert meaning in " ".join(printed(compared(example())).split())
    assert meaning in page()


def test_every_environment_has_its_place_and_letters() -> None:
    (ranking,) = comparisons.shown_rankings(compared(example()))
    text = printed(compared(example()))
    for place in ranking.places:
        assert re.search(rf"^ {place.environment[:16]} +{place.letters}\b", text, re.MULTILINE)


def test_one_environment_needs_no_ranking() -> None:
    analysis = compared(example(environments=("docker",)))
    assert comparisons.shown_rankings(analysis) == ()
    assert comparisons.RANKING_TITLE not in printed(analysis)


def test_too_few_common_blocks_for_so_many_pairs_are_said() -> None:
    (ranking,) = comparisons.shown_rankings(compared(example()))
    assert comparisons.reach_said(ranking) == (
        "With 15 pairs, fewer than 10 common blocks may be too few to distinguish two."
    )
    (enough,) = comparisons.shown_rankings(compared(example(blocks=12, losing=False)))
    assert comparisons.reach_said(enough) == ""


def test_a_word_that_did_not_hold_together_is_named_beside_the_one_that_does() -> None:
    verdict = compared(example()).verdicts[0]
    changed = replace(verdict, word=Word.UNDECIDED, alone=Word.SLOWER)
    assert trust.alone_said(changed) == "; by itself slower"
    within = replace(verdict, word=Word.UNDECIDED, alone=Word.WITHIN)
    assert trust.alone_said(within) == "; by itself within a margin", "nobody knows that it is the campaign's"
    assert trust.alone_said(replace(verdict, alone=verdict.word)) == ""
    assert trust.alone_said(replace(verdict, alone=None)) == ""
    analysis = small()
    changed = replace(analysis.verdicts[0], word=Word.UNDECIDED, alone=Word.SLOWER)
    shown = replace(analysis, verdicts=(changed, *analysis.verdicts[1:]))
    assert "undecided; by" in " ".join(printed(shown).split())
    assert "; by itself slower" in render_report(shown)


def test_what_holds_together_is_said_once_per_family() -> None:
    primary, exploratory = trust.families_said(compared(example()))
    assert primary.startswith("The intervals of the 5 primary claims hold jointly")
    assert exploratory.startswith("60 comparisons on other metrics are exploratory")


def test_analyses_of_single_claims_say_nothing_of_families() -> None:
    assert trust.families_said(example()) == ()


@pytest.mark.parametrize("primary", [True, False])
def test_findings_are_told_with_their_place(primary: bool) -> None:
    analysis = found_on(small(), primary=primary)
    assert "the overhead rose <over> the blocks" in printed(analysis, width=200, show_all=True)
    assert "the overhead rose &lt;over&gt; the blocks" in render_report(analysis)


def test_findings_on_other_metrics_are_counted_until_all_is_asked_for() -> None:
    text = printed(found_on(compared(example()), primary=False), width=200)
    assert "1 finding on other metrics; --all shows them" in text
    assert "the overhead rose" not in text


def test_the_noise_of_each_level_is_a_deviation_with_its_interval() -> None:
    assert trust.deviation(split().between_blocks) == "1 % (0\N{EN DASH}2 %)"
    assert trust.deviation(split().between_starts) == "not seen (0\N{EN DASH}2 %)"
    assert trust.deviation(None) == "—"


@given(st.floats(0.0, 1e6))
def test_no_deviation_has_an_exponent(variance: float) -> None:
    wide = Estimate(point=variance, low=variance / 2, high=2 * variance, level=0.95, n=6)
    assert (
        re.fullmatch(r"(not seen|[\d.]+ %) \([\d.]+\N{EN DASH}[\d.]+ %\)", trust.deviation(wide))
        or variance < 1e-10
    )


def test_the_advice_on_iterations_names_the_costs_it_follows_from() -> None:
    assert trust.iterations_said(split()) == "7 (start 30 s, run 10 s)"
    assert trust.iterations_said(split(None)) == "—"


def test_the_geometric_mean_is_called_one_wherever_it_stands() -> None:
    analysis = compared(several_cells())
    assert analysis.across_workloads
    assert "Geometric mean across workloads" in printed(analysis)
    assert "Geometric mean across workloads" in page()


def test_percentiles_stand_on_the_page_and_with_all_in_the_terminal() -> None:
    analysis = compared(example())
    assert trust.SPREAD_TITLE in page()
    assert trust.SPREAD_TITLE in printed(analysis, show_all=True)
    assert trust.SPREAD_TITLE not in printed(analysis)


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    text = printed(compared(several_cells()), width=width, show_all=True)
    assert max(map(len, text.splitlines())) <= width


def test_every_key_is_documented_and_all_of_it_is_json() -> None:
    document = to_json(compared(several_cells()))
    documented = set(re.findall(r"`(\w+)`", DOCUMENTATION.read_text(encoding="utf-8")))
    keys = {key for each in objects(document) for key in each}
    assert {"standing", "findings", "rankings", "variances", "spreads", "across_workloads"} <= keys
    assert keys <= documented
    assert json.loads(json.dumps(document, allow_nan=False)) == document
