# SPDX-License-Identifier: Apache-2.0
"""Where a claim is withheld no table, picture, page or JSON says otherwise, by word, mark or colour."""

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from tare.analyze import busyness, in_families, rankings, without_busy_claims
from tare.drawing.axis import overhead_axis
from tare.drawing.interval_chart import Frame
from tare.drawing.marks import PAPER, looks
from tare.records import Analysis, Word
from tare.report import arrange
from tare.report.document import render_report
from tare.report.machine import to_json
from tare.report.overhead_chart import HeadedMetric, overhead_chart
from tare.report.table import print_tables
from tests.busy_example import busy_load
from tests.report.report_example import example, with_verdicts


@pytest.fixture(scope="module")
def quiet() -> Analysis:
    shown = example(losing=False)
    return with_verdicts(shown, in_families(shown.verdicts))


@pytest.fixture(scope="module")
def busy(quiet: Analysis) -> Analysis:
    """The same figures on a machine that was busy all the time."""
    load = busy_load(1.0, "stress")
    outcomes = tuple(replace(outcome, load=load) for outcome in quiet.outcomes)
    loaded = []
    for verdict in quiet.verdicts:
        summary = verdict.overhead.summary
        loads = (load, load)
        blocks = tuple(replace(block, load=load, native_loads=loads) for block in summary.blocks)
        overhead = replace(verdict.overhead, summary=replace(summary, blocks=blocks))
        loaded.append(replace(verdict, overhead=overhead))
    verdicts = without_busy_claims(loaded)
    return with_verdicts(
        quiet,
        verdicts,
        outcomes=outcomes,
        rankings=rankings(verdicts),
        busy=busyness(outcomes, (), verdicts),
    )


def printed(analysis: Analysis) -> str:
    stream = io.StringIO()
    print_tables(analysis, Console(file=stream, width=120, force_terminal=True), show_all=True)
    return stream.getvalue()


CLAIMING = ("▲", "▼", "●", "slower by", "faster by", "within ±", "by itself slower", "tail cost")


def test_the_example_claims_something_on_a_quiet_machine(quiet: Analysis) -> None:
    assert any(verdict.word is not Word.UNDECIDED for verdict in quiet.verdicts)
    assert any(mark in printed(quiet) for mark in CLAIMING)


def test_no_table_claims_anything(busy: Analysis) -> None:
    text = printed(busy)
    assert [mark for mark in CLAIMING if mark in text] == []
    assert "○ too busy to tell" in text
    assert (
        "undecided: the machine was too busy (stress used 1.0 of 2 processors in 10 of 10 blocks)"
        in " ".join(text.split())
    )
    assert "\x1b[32m" not in text, "nothing is green"
    assert "\x1b[31m" not in text, "and nothing red"


def test_the_end_of_the_table_says_that_nothing_could_be_decided(busy: Analysis) -> None:
    text = " ".join(printed(busy).split())
    assert "The machine was too busy in 10 of 10 blocks: stress used 1.0 of 2 processors" in text
    assert "nothing could be decided" in text


def test_no_page_claims_anything(busy: Analysis) -> None:
    page = render_report(busy)
    body = page[page.index("<main>") : page.index('id="method"')]
    for name in ("slower", "faster", "within"):
        assert f'class="{name}"' not in body
        assert f'class="mark {name}"' not in body
    assert "too busy to tell" in body
    assert "nothing could be decided" in body
    assert [mark for mark in CLAIMING if mark in body] == []


def test_the_json_says_why_nothing_is_claimed(quiet: Analysis, busy: Analysis) -> None:
    document = json.loads(json.dumps(to_json(busy)))
    assert {verdict["word"] for verdict in document["verdicts"]} == {"undecided"}
    assert {verdict["withheld"] for verdict in document["verdicts"]} == {"busy"}
    assert {verdict["alone"] for verdict in document["verdicts"]} == {"undecided"}
    assert document["busy"]["programs"] == ["stress"]
    assert (document["busy"]["blocks"], document["busy"]["busy"]) == (10, 10)
    assert not any(pair["distinguished"] for ranking in document["rankings"] for pair in ranking["pairs"])
    before = to_json(quiet)
    assert before["busy"] is None
    assert {verdict["withheld"] for verdict in before["verdicts"]} == {None}


def test_pictures_leave_every_dot_hollow(busy: Analysis) -> None:
    (metric, *_) = arrange.metrics(busy)
    frame = Frame(plot_px=500, gutter_px=100, figures_px=300, row_px=20, font_px=12)
    axis = overhead_axis([-0.5, 0.5], busy.margin, 500)
    chart = overhead_chart(
        [HeadedMetric(metric)], looks(arrange.environments(busy)), axis, busy.margin, frame
    )
    text = json.dumps(chart)
    assert PAPER in text
    assert "too busy to tell" in text
    fills = {row["fill"] for row in rows_of(chart) if "fill" in row and "point" in row}
    assert fills == {PAPER}


def rows_of(value: object) -> list[dict[str, object]]:
    """Every object in what Vega-Lite is given."""
    if isinstance(value, dict):
        return [value, *(row for each in value.values() for row in rows_of(each))]
    return [row for each in value for row in rows_of(each)] if isinstance(value, list) else []
