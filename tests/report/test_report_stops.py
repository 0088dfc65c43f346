# SPDX-License-Identifier: Apache-2.0
"""Early stops and answers to ``--fail-if`` are told in the terminal, on the page and to programs."""

from dataclasses import replace
from io import StringIO

from rich.console import Console

from tare.analyze import courses, decisions, verdicts
from tare.records import Analysis, Design, FailIf
from tare.report.document import render_report
from tare.report.machine import to_json
from tare.report.stops import decisions_said, stops_said
from tare.report.table import print_tables
from tare.treat import finished_blocks, summaries
from tests.report.report_example import FIGURES, MARGIN, example, with_verdicts

DESIGN = Design(
    looks=(8, 12), margin=MARGIN, fail_if=(FailIf(text="fake <i> overhead > 2%", threshold=0.02),)
)


def stopped(design: Design = DESIGN) -> Analysis:
    """The example, its blocks counted from 0 as the runner does."""
    whole = example(blocks=12, losing=False)
    outcomes = tuple(
        replace(outcome, trial=replace(outcome.trial, block=outcome.trial.block - 1))
        for outcome in whole.outcomes
    )
    treated = summaries(outcomes, {"hpcc": (FIGURES[0].name,)})
    looked = courses(treated, finished_blocks(outcomes), design, ended=False)
    return with_verdicts(
        whole,
        verdicts(treated, MARGIN, looked),
        outcomes=outcomes,
        decisions=decisions(treated, looked, design),
        spared_trials=12,
    )


def test_who_stopped_early_is_said_once_with_the_reason() -> None:
    said = stops_said(stopped())
    assert "fake (hpcc on 1c2p1i) was stopped after 8 blocks: decided for --fail-if" in said
    assert said[-1].startswith("12 trials of the plan were not needed")
    assert len(said) == 5
    assert not any("systemd-nspawn" in sentence for sentence in said), "2.1 % are not told from 2 %"


def test_a_campaign_without_looks_says_nothing() -> None:
    assert stops_said(example()) == decisions_said(example()) == ()


def test_the_terminal_and_the_page_show_stops_and_answers() -> None:
    text = StringIO()
    print_tables(stopped(), Console(file=text, width=200))
    page = render_report(stopped())
    for shown in (text.getvalue(), page):
        assert "was stopped after 8" in shown.replace("\N{NO-BREAK SPACE}", " ")
    assert "fail if fake <i> overhead > 2%: fail: fake" in text.getvalue()
    assert "fail if fake &lt;i&gt; overhead" in page.replace("\N{NO-BREAK SPACE}", " ")


def test_programs_get_every_look() -> None:
    document = to_json(stopped())
    (fake,) = [
        verdict for verdict in document["verdicts"] if verdict["primary"] and verdict["environment"] == "fake"
    ]
    assert fake["stopped"] == "decided"
    (look,) = fake["looks"]
    assert (look["blocks"], look["n"]) == (8, 8)
    assert look["interval"] == fake["typical"]
    assert {decision["ruling"] for decision in document["decisions"]} <= {"exceeded", "kept", "undecided"}
    assert document["trials"]["spared"] == 12


def test_the_series_of_looks_is_told_when_there_were_several() -> None:
    careful = replace(DESIGN, fail_if=(), looks=(6, 8, 10, 12))
    said = stops_said(stopped(careful))
    assert any("; after 8 blocks " in sentence for sentence in said)
