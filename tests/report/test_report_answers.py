# SPDX-License-Identifier: Apache-2.0
"""The answer at the top, in the terminal, on the page and for programs."""

import io
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from tare.analyze import verdicts
from tare.drawing.artist import Artist
from tare.drawing.axis import overhead_axis
from tare.drawing.interval_chart import Frame
from tare.drawing.marks import PAPER, looks
from tare.records import Analysis, Direction, Estimate, Verdict, Withheld, Word
from tare.report import arrange
from tare.report.answers import cell_said, noise_said, print_answer_table
from tare.report.cells import headline
from tare.report.document import render_report
from tare.report.machine import to_json
from tare.report.overhead_chart import HeadedMetric, answer_chart
from tare.report.table import print_tables
from tests.report.answer_example import PRIMARIES, QUICK, quick
from tests.report.report_example import Figure, example, several_cells, with_verdicts
from tests.report.report_page import Page

MINUS = "\N{MINUS SIGN}"


@cache
def campaign() -> Analysis:
    return quick()


@cache
def page() -> Page:
    return Page(render_report(campaign()))


def printed(analysis: Analysis, width: int = 80) -> str:
    stream = io.StringIO()
    print_tables(analysis, Console(file=stream, width=width, highlight=False))
    return stream.getvalue()


def table_of(analysis: Analysis, width: int) -> str:
    stream = io.StringIO()
    print_answer_table(analysis, Console(file=stream, width=width, highlight=False))
    return stream.getvalue()


def flowing(text: str) -> str:
    return " ".join(text.split())


def many(environments: int, primaries: int) -> Analysis:
    """So many of each, the last environment undecided on everything."""
    names = tuple(f"environment-{number}" for number in range(environments))
    figures = [
        Figure(f"primary {number}", 1.0, "s", Direction.LESS, 0.01, (0.0, 0.02, 0.3, 0.0, 0.0))
        for number in range(primaries)
    ]
    plain = example(figures=figures, environments=names, losing=False)
    summaries = [replace(each.overhead.summary, primary=True) for each in plain.verdicts]
    judged = [
        replace(each, word=Word.UNDECIDED) if each.overhead.summary.environment == names[-1] else each
        for each in verdicts(summaries, plain.margin)
    ]
    controls = tuple(replace(each, summary=replace(each.summary, primary=True)) for each in plain.controls)
    return with_verdicts(plain, judged, controls=controls)


def test_the_terminal_says_the_answer_before_any_figure() -> None:
    text = printed(campaign())
    assert text.index("docker: message bandwidth") < text.index("native again, up to")
    assert text.index("native again, up to") < text.index("* primary")
    for answer in campaign().answers:
        assert flowing(text).count(answer.sentence) == 1


@pytest.mark.parametrize("width", [80, 100, 200])
@pytest.mark.parametrize("size", [(4, 7), (12, 12)])
def test_the_table_fits_the_terminal_and_has_every_primary_metric(width: int, size: tuple[int, int]) -> None:
    analysis = many(*size)
    text = table_of(analysis, width)
    assert all(cell_len(line) <= width for line in text.splitlines())
    assert flowing(text).count("primary") == size[1]
    pieces = text.count("native again, up to")
    assert all(text.count(f"environment-{number} ") == pieces for number in range(size[0]))


def test_a_row_of_the_table_has_a_cell_for_each_primary_metric() -> None:
    (docker,) = re.findall(r"^ docker +(.*?) *$", table_of(campaign(), 200), re.MULTILINE)
    cells = re.split(r" {2,}", docker)
    assert len(cells) == len(PRIMARIES)
    by_name = dict(zip([name for name, _ in arrange.primaries(campaign())], cells, strict=True))
    assert by_name["compute"] == "±1 %"
    assert by_name["random access"] == "?"
    assert re.fullmatch(rf"{MINUS}\d+ to {MINUS}\d+ %", by_name["message bandwidth"])


def test_a_single_primary_metric_needs_no_table_of_its_own() -> None:
    assert table_of(example(), 80) == ""
    assert flowing(printed(example())).count("native again") == 13


def test_each_layout_has_its_table() -> None:
    several = quick(environments=QUICK[:2])
    moved = [
        replace(each, overhead=replace(each.overhead, summary=replace(summary, cell=cell)))
        for each in several.verdicts
        for summary in [each.overhead.summary]
        for cell in [replace(summary.cell, layout="2c1p1i")]
    ]
    text = table_of(with_verdicts(several, [*several.verdicts, *moved]), 200)
    assert re.findall(r"^ (\dc\dp\di) ", text, re.MULTILINE) == ["1c2p1i", "2c1p1i"]


def test_a_result_that_an_environment_lacks_is_a_dash() -> None:
    lacking = [
        each
        for each in campaign().verdicts
        if (each.overhead.summary.environment, each.overhead.summary.metric) != ("lxc", "compute")
    ]
    analysis = with_verdicts(campaign(), lacking)
    (lxc,) = re.findall(r"^ lxc +(\S+)", table_of(analysis, 200), re.MULTILINE)
    assert lxc == "\N{EM DASH}"
    assert "no result: compute" in flowing(printed(analysis))


def judged(
    word: Word,
    low: float | None,
    high: float | None,
    direction: Direction = Direction.LESS,
    **others: Any,
) -> Verdict:
    verdict = campaign().verdicts[0]
    typical = Estimate(point=low or 0.0, low=low, high=high, level=0.95, n=16)
    summary = replace(verdict.overhead.summary, direction=direction)
    plain = {"within": None, "at_most": None, "withheld": None, "standing": None} | others
    return replace(
        verdict, overhead=replace(verdict.overhead, summary=summary, typical=typical), word=word, **plain
    )


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (judged(Word.SLOWER, 0.312, 0.37), "+31 to +37 %"),
        (judged(Word.SLOWER, 9.4, 20.0), "\N{MULTIPLICATION SIGN}10\N{EN DASH}21"),
        (judged(Word.FASTER, -0.565, -0.523, Direction.MORE), "\N{MULTIPLICATION SIGN}2.0\N{EN DASH}2.3"),
        (judged(Word.SLOWER, 0.25, 0.35, Direction.MORE), f"{MINUS}26 to {MINUS}20 %"),
        (judged(Word.FASTER, -0.05, -0.031), f"{MINUS}5.0 to {MINUS}3.1 %"),
        (judged(Word.WITHIN, -0.01, 0.01, within=0.02), "±2 %"),
        (judged(Word.BOUNDED, -0.03, 0.07, at_most=0.07), "\N{LESS-THAN OR EQUAL TO} 7 %"),
        (judged(Word.UNDECIDED, -0.03, 0.14), "?"),
        (judged(Word.UNDECIDED, None, None), "?"),
        (judged(Word.UNDECIDED, 0.1, 0.2, withheld=Withheld.BUSY), "busy"),
    ],
)
def test_a_cell_of_the_table_says_the_verdict_as_short_as_it_goes(verdict: Verdict, said: str) -> None:
    assert cell_said(verdict) == said


def test_the_noise_is_how_far_native_may_lie_from_itself() -> None:
    control = judged(Word.WITHIN, -0.031, 0.012).overhead
    assert noise_said(control) == "±3.1 %"
    assert noise_said(judged(Word.SLOWER, 0.2, 1.304).overhead) == "±131 %"
    assert noise_said(judged(Word.WITHIN, None, None).overhead) == "\N{EM DASH}"
    assert noise_said(None) == "\N{EM DASH}"


def test_the_key_below_the_table_explains_what_stands_in_it_and_nothing_else() -> None:
    text = table_of(campaign(), 100)
    assert "±: within this much of native" in text
    assert "?: undecided" in text
    assert "busy" not in text


def test_what_is_undecided_says_why_and_what_would_help() -> None:
    shown = arrange.open_claims(campaign())
    undecided = [each for each in campaign().verdicts if each.word is Word.UNDECIDED]
    assert len(shown) == len(undecided) > 0
    assert all("would help" in each for each in shown)
    for each in shown:
        assert each in flowing(printed(campaign()))
        assert each in page().text


def test_an_undecided_primary_metric_is_never_hidden() -> None:
    shown = printed(campaign())
    assert all(f"{name} * primary" in shown for name in PRIMARIES)
    assert "hidden" not in shown


def test_the_page_begins_with_the_sentences_and_one_picture() -> None:
    text = page().text
    sentences = [answer.sentence for answer in campaign().answers]
    assert all(text.count(sentence) == 1 for sentence in sentences)
    (title,) = re.findall("Overhead of every environment by primary metric", text)[:1]
    assert max(map(text.index, sentences)) < text.index(title) < text.index("Primary metric:")
    assert page().faults == []


def rows_of(value: object) -> list[dict[str, Any]]:
    """Every object in what Vega-Lite is given."""
    if isinstance(value, dict):
        return [value, *(row for each in value.values() for row in rows_of(each))]
    return [row for each in value for row in rows_of(each)] if isinstance(value, list) else []


def drawn(analysis: Analysis) -> Mapping[str, Any]:
    groups = [HeadedMetric(metric, name) for name, metric in arrange.primaries(analysis)]
    frame = Frame(plot_px=500, gutter_px=100, figures_px=300, row_px=20, font_px=12)
    axis = overhead_axis([-0.5, 0.5], analysis.margin, 500)
    return answer_chart(groups, looks(arrange.environments(analysis)), axis, analysis.margin, frame)


@pytest.mark.parametrize(("environments", "primaries"), [(1, 1), (4, 7), (12, 12)])
def test_the_picture_has_one_interval_for_each_environment_and_primary_metric(
    environments: int, primaries: int
) -> None:
    analysis = many(environments, primaries)
    dots = [row for row in rows_of(drawn(analysis)) if "point" in row and row.get("x") == row["point"]]
    assert len(dots) == (environments + 1) * primaries
    hollow = {row["name"] for row in dots if row["fill"] == PAPER}
    assert hollow == {f"environment-{environments - 1}", "native again"}


def test_the_picture_shades_the_margin_behind_each_primary_metric() -> None:
    bands = [
        row
        for row in rows_of(drawn(campaign()))
        if set(row) == {"x", "x2", "y", "y2"} and (row["x"], row["x2"]) == (-0.01, 0.01)
    ]
    assert len(bands) == len(PRIMARIES)


@pytest.mark.parametrize(("environments", "primaries"), [(1, 1), (12, 12)])
def test_the_picture_is_text_and_shapes_in_the_pages_own_colours(environments: int, primaries: int) -> None:
    analysis = many(environments, primaries)
    figure = headline(Artist(arrange.environments(analysis), analysis.margin, arrange.CONTROL), analysis)
    assert figure
    for picture in (figure.wide, figure.narrow):
        assert not re.search(r"#[0-9a-fA-F]{3,6}|rgb\(|<image", picture)
        assert len(re.findall(r"<text[^>]*>environment-\d+</text>", picture)) == environments * primaries
        for number in range(primaries):
            assert f">primary {number}</text>" in picture


def test_a_picture_of_many_rows_is_no_taller_than_its_rows_need() -> None:
    def height(analysis: Analysis) -> float:
        figure = headline(Artist(arrange.environments(analysis), analysis.margin, arrange.CONTROL), analysis)
        assert figure
        (match,) = re.findall(r'viewBox="0 0 [\d.]+ ([\d.]+)"', figure.wide)
        return float(match)

    assert height(many(1, 1)) < 120
    assert height(many(12, 12)) < 12 * 13 * 20


def test_without_any_primary_metric_there_is_no_picture() -> None:
    analysis = with_verdicts(example(), [], controls=())
    assert (
        headline(Artist(arrange.environments(analysis), analysis.margin, arrange.CONTROL), analysis) is None
    )


def test_programs_get_the_same_answers() -> None:
    document = json.loads(json.dumps(to_json(campaign()), allow_nan=False))["answers"]
    assert [each["sentence"] for each in document] == [each.sentence for each in campaign().answers]
    assert {each["environment"] for each in document} == set(QUICK)
    (docker,) = (each for each in document if each["environment"] == "docker")
    assert docker["parts"][0]["word"] == "slower"
    assert docker["parts"][0]["metrics"] == ["message bandwidth"]


def test_an_answer_of_several_layouts_names_each() -> None:
    subjects = [answer.subject for answer in arrange.answers(several_cells())]
    assert "docker on 1c2p1i" in subjects
    assert "docker on 1c2p2i" in subjects
