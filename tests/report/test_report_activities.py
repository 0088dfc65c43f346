# SPDX-License-Identifier: Apache-2.0
"""Where the time goes, as the terminal, the page and programs are told of it."""

import io
import itertools
import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from tare.analyze import activity_splits, controls, verdicts
from tare.drawing.interval_chart import Frame
from tare.drawing.words import interval_percent, point_percent
from tare.records import Activity, Analysis, Estimate
from tare.report.activities import (
    LOOKS,
    NAMES,
    TITLE,
    activities_described,
    activity_chart,
    splits_by_cell,
    table,
    told_activities,
)
from tare.report.document import render_report
from tare.report.machine import to_json
from tare.report.table import print_tables
from tare.treat import activity_summaries, summaries
from tests.activity_example import COMPUTING, TALKING, profiled_outcomes
from tests.report.report_example import MARGIN, example, with_verdicts
from tests.report.report_page import Page

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "json.md"
ENVIRONMENTS = {"native": COMPUTING, "docker": TALKING, "lxc": COMPUTING}
SETTINGS = ("1c1p1i", "1c2p1i")
TOLD = (Activity.INIT, Activity.COMPUTE, Activity.COMMUNICATION)
FRAME = Frame(plot_px=400, gutter_px=100, figures_px=300, row_px=20, font_px=13)


@cache
def analysis(blocks: int = 10) -> Analysis:
    outcomes = profiled_outcomes(ENVIRONMENTS, settings=SETTINGS, blocks=blocks)
    treated = summaries(outcomes, {"hpl": ("hpl_flop_per_s",)})
    judged = verdicts(treated, MARGIN)
    return with_verdicts(
        example(),
        judged,
        outcomes=tuple(outcomes),
        planned_trials=len(outcomes),
        controls=controls(treated),
        activities=activity_splits(activity_summaries(outcomes), judged),
        skipped=(),
    )


@cache
def html() -> str:
    return render_report(analysis())


def printed(shown: Analysis, width: int = 80) -> str:
    stream = io.StringIO()
    table(shown, Console(file=stream, width=width, highlight=False), show_all=False)
    return stream.getvalue()


def section(text: str) -> str:
    match = re.search(r'<section>\s*<h2 id="activities">.*?</section>', text, re.DOTALL)
    assert match
    return match[0]


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_wider_than_the_terminal_and_none_is_cut(width: int) -> None:
    text = printed(analysis(), width)
    assert all(cell_len(line) <= width for line in text.splitlines())
    assert "\N{HORIZONTAL ELLIPSIS}" not in text


def test_the_terminal_has_each_share_and_time_with_its_interval_and_count() -> None:
    text = printed(analysis())
    for split in analysis().activities:
        for activity in split.activities[:3]:
            share, interval = (
                point_percent(activity.share).removeprefix("+"),
                interval_percent(activity.share),
            )
            row = rf" {NAMES[activity.activity]} +{re.escape(share)} +{re.escape(interval)} +[\d.]+ m?s +"
            assert re.search(row + r"[\d.]+\N{EN DASH}[\d.]+ m?s +10", text), row
    flowing = " ".join(text.split())
    assert "docker against native: init +25" in flowing
    assert "native against native" not in flowing


def test_an_activity_that_nothing_was_at_has_no_row_and_is_named() -> None:
    assert told_activities(analysis()) == TOLD
    assert "I/O" not in printed(analysis()).replace("No time at all went into I/O.", "")
    assert "No time at all went into I/O." in Page(html()).text


def test_without_a_profile_no_report_tells_of_any() -> None:
    assert printed(example()) == ""
    assert TITLE not in render_report(example())
    assert to_json(example())["activities"] == []


def test_the_tables_of_a_result_hold_the_section() -> None:
    stream = io.StringIO()
    print_tables(analysis(), Console(file=stream, width=80, highlight=False))
    assert printed(analysis()) in stream.getvalue()


def test_the_page_is_whole_and_its_section_can_be_reached() -> None:
    page = Page(html())
    assert page.faults == []
    assert "#activities" in page.attributes("href")
    for split in analysis().activities:
        for activity in split.activities[:3]:
            assert interval_percent(activity.share) in page.text
            assert activity.overhead is None or interval_percent(activity.overhead) in page.text


def test_the_picture_is_drawn_wide_and_narrow_and_told_in_words() -> None:
    drawn = section(html())
    assert len(re.findall(r'class="chart (?:wide|narrow)"', drawn)) == 2
    described = activities_described(splits_by_cell(analysis()), TOLD)
    assert "docker, hpl on 1c1p1i: init 9.87 %, compute 59.2 %, communication 30.9 %, n = 10" in described
    assert drawn.count(described) == 2


def test_every_part_of_every_bar_is_drawn_in_its_colour_with_a_tooltip() -> None:
    drawn = section(html())
    for activity in TOLD:
        assert drawn.count(f'fill="{LOOKS[activity].colour}"') >= 2 * len(analysis().activities)
    assert drawn.count(", n = 10</title>") == 2 * len(TOLD) * len(analysis().activities)


def layers(shown: Analysis) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The bars and the lines over them."""
    marks = activity_chart(splits_by_cell(shown), TOLD, FRAME)["layer"]
    (bars,) = (each for each in marks if each["mark"]["type"] == "rect")
    whiskers = marks[marks.index(bars) + 2]
    return bars["data"]["values"], whiskers["data"]["values"]


def test_parts_begin_where_the_one_before_ends_and_a_whole_bar_ends_at_one() -> None:
    bars, _ = layers(analysis())
    for number in range(0, len(bars), len(TOLD)):
        own = bars[number : number + len(TOLD)]
        assert own[0]["x"] == 0
        assert all(left["x2"] == right["x"] for left, right in itertools.pairwise(own))
        assert own[-1]["x2"] == pytest.approx(1, abs=1e-3)
        assert len({(bar["y"], bar["y2"]) for bar in own}) == 1


def test_each_interval_is_a_line_of_its_own_height_around_the_end_of_its_part() -> None:
    bars, whiskers = layers(analysis())
    assert len(whiskers) == len(bars)
    for bar, line in zip(bars, whiskers, strict=True):
        assert line["x"] <= bar["x2"] + 1e-12
        assert line["x2"] >= bar["x2"] - 1e-12
        assert bar["y"] < line["y"] < bar["y2"]
    assert len({line["y"] for line in whiskers}) == len(whiskers)


def test_without_an_interval_there_is_no_line_and_the_tables_say_so() -> None:
    few = analysis(blocks=4)
    assert layers(few)[1] == []
    assert "none (n = 4)" in printed(few)
    assert Page(render_report(few)).faults == []


def test_programs_get_every_activity_with_its_blocks() -> None:
    document = to_json(analysis())["activities"]
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    for ours, theirs in zip(analysis().activities, document, strict=True):
        assert [activity["activity"] for activity in theirs["activities"]] == list(Activity)
        assert theirs["activities"][3]["share"]["point"] == 0
        assert theirs["whole_s"]["unit"] == "s"
        assert [block["block"] for block in theirs["blocks"]] == list(ours.summary.blocks)
        for place, block in enumerate(theirs["blocks"]):
            assert block["times_s"] == [ours.summary.times_s[activity][place] for activity in Activity]
        if ours.summary.environment == "native":
            assert all(activity["overhead"] is None for activity in theirs["activities"])


def keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value) | {key for inner in value.values() for key in keys(inner)}
    return {key for inner in value for key in keys(inner)} if isinstance(value, list) else set()


def test_every_key_is_documented() -> None:
    documented = set(re.findall(r"`(\w+)`", DOCUMENTATION.read_text(encoding="utf-8")))
    assert keys(to_json(analysis())["activities"]) | {"activities"} <= documented


def test_names_cannot_break_the_page() -> None:
    evil = "</style><script>alert(1)</script>"
    renamed = tuple(
        replace(split, summary=replace(split.summary, environment=evil)) for split in analysis().activities
    )
    shown = Page(render_report(replace(analysis(), activities=renamed)))
    assert shown.faults == []
    assert "script" not in shown.tags


def test_a_share_far_beyond_the_others_stays_within_the_picture() -> None:
    wide = Estimate(point=0.5, low=0.1, high=1.0, level=0.95, n=6)
    (split, *_) = analysis().activities
    activities = tuple(replace(activity, share=wide) for activity in split.activities)
    cells = {split.summary.cell: [replace(split, activities=activities)]}
    chart = activity_chart(cells, TOLD, FRAME)
    (bars,) = (each for each in chart["layer"] if each["mark"]["type"] == "rect")
    low, high = bars["encoding"]["x"]["scale"]["domain"]
    assert (low, high) == (0, 2.0)
