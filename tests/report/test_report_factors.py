# SPDX-License-Identifier: Apache-2.0
"""Factors, as the terminal, the page, programs and the short answer tell of them."""

import io
import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from rich.console import Console

from tare.analyze import dependences
from tare.records import Analysis, Cell, Level
from tare.report.arrange import layout_of
from tare.report.brief import _varied, print_brief
from tare.report.document import render_report
from tare.report.factors import EXPLANATION
from tare.report.machine import to_json
from tare.report.table import print_tables
from tests.analyze.factor_example import MEMORY, STORAGE, at_levels, cells_of
from tests.report.report_example import example, with_verdicts
from tests.report.report_page import Page

OVERHEADS = {"docker": (0.02, 0.04, 0.07), "lxc": (0.05, 0.05, 0.05)}


def analysis(levels: tuple[Level, ...] = MEMORY) -> Analysis:
    judged = at_levels({name: own[: len(levels)] for name, own in OVERHEADS.items()}, levels)
    return with_verdicts(
        example(environments=("docker", "lxc"), losing=False),
        tuple(judged),
        campaign="varied",
        controls=(),
        outcomes=(),
        dependences=dependences(judged, [cells_of(levels)]),
    )


@cache
def page(levels: tuple[Level, ...]) -> Page:
    return Page(render_report(analysis(levels)))


def printed(width: int) -> str:
    stream = io.StringIO()
    print_tables(analysis(), Console(file=stream, width=width, highlight=False), show_all=False)
    return stream.getvalue()


@pytest.mark.parametrize("width", [80, 120])
def test_the_terminal_shows_every_level_and_a_sentence_for_each_environment(width: int) -> None:
    text = printed(width)
    section = text[text.index("work on 1c1p1i by memory, wall_s") :]
    assert " ".join(EXPLANATION.split()[:6]) in text
    for name in OVERHEADS:
        rows = section[section.index(f"\n {name} ") + 1 :].splitlines()[1:4]
        assert [row.split()[:2] for row in rows] == [level.text.split() for level in MEMORY]
        assert [row.count("%") for row in rows] == [2, 4, 4]
    said = " ".join(section.split())
    assert "docker: costs more with less memory: " in said
    assert "lxc: does not show a dependence on memory; " in said


def test_programs_get_the_levels_as_numbers_and_the_verdict_by_name() -> None:
    docker, lxc = to_json(analysis())["dependences"]
    assert (docker["factor"], docker["setting"], docker["word"]) == ("memory", "1c1p1i", "depends")
    assert lxc["word"] == "not_shown"
    assert [(level["number"], level["unit"]) for level in docker["levels"]] == [
        (level.number, level.unit) for level in MEMORY
    ]
    assert docker["levels"][0]["beyond_first"] is None
    assert docker["adjusted_p"] >= docker["p"] > 0
    json.dumps(docker, allow_nan=False)


@pytest.mark.parametrize(("levels", "pictures"), [(MEMORY, 0), (STORAGE, 2)])
def test_the_page_draws_names_in_rows_and_refers_numbers_to_their_curve(
    levels: tuple[Level, ...], pictures: int
) -> None:
    text = render_report(analysis(levels))
    section = text[text.index('id="factors"') :]
    section = section[: section.index("</section>")]
    assert section.count("<svg") - section.count('class="glyph"') == pictures
    assert ("The picture is in the section of work on 1c1p1i" in section) is (levels is MEMORY)
    assert "docker: " in section


def test_the_short_answer_names_what_the_overhead_depends_on() -> None:
    stream = io.StringIO()
    print_brief(analysis(), Path("r.html"), Console(file=stream, width=200, highlight=False))
    lines = stream.getvalue().splitlines()
    assert len(lines) <= 6
    docker = next(line for line in lines if " docker: " in line)
    assert "docker: costs more with less memory: " in docker
    assert docker.count("[memory=") == 1
    assert all("dependence" not in line for line in lines)


def test_alike_dependences_of_several_workloads_share_their_words_and_each_is_named() -> None:
    (own,) = [each for each in analysis().dependences if each.environment == "docker"]
    cell = own.cells.cells[0][0]
    further = replace(cell, workload="further")
    other = replace(own, cells=replace(own.cells, workload="further", cells=((further,),)))
    names = {(cell, own.metric): "work", (further, own.metric): "further"}
    (said,) = _varied(replace(analysis(), dependences=(own, other)), "docker", names)
    size = own.claim.partition(" (")[0].partition(": ")[2]
    assert said == f"costs more with less memory: work {size}, further {size}"


def test_a_layout_is_read_from_a_setting_with_levels_and_a_neighbour() -> None:
    for text in ("1c2p1i[memory=1 GiB]", "1c2p1i+1xburn[memory=1 GiB]", "1c2p1i~ascending", "1c2p1i"):
        assert str(layout_of(Cell(workload="w", layout=text))) == "1c2p1i"
