# SPDX-License-Identifier: Apache-2.0
import io
import json
import math
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from tare.drawing.marks import looks
from tare.pipeline import run_campaign
from tare.records import Analysis, CurveEstimate, Dimension, Estimate
from tare.report.curve_chart import (
    NARROW,
    WIDE,
    curve_chart,
    ratios,
)
from tare.report.curves import (
    CurveMetric,
    curve_metrics,
    ratio,
    ratio_interval,
    shown_places,
    value_interval,
)
from tare.report.document import render_report
from tare.report.machine import to_json
from tare.report.places import place_label
from tare.report.table import print_tables
from tare.units import DASH
from tests.fake_campaign import Listener, fake_campaign, fake_environment, fake_request, fake_workload
from tests.report.curve_example import ENVIRONMENTS, SIZE, SIZES, curve_analysis
from tests.report.report_page import Page
from tests.report.test_report_browser import BROWSER, measured

HOSTILE = "</svg><script>alert(1)</script> & {{ 7*7 }} \x1b[31m"
DOCUMENTATION = Path(__file__).parents[2] / "docs" / "json.md"


@cache
def analysis() -> Analysis:
    return curve_analysis()


@cache
def few_blocks() -> Analysis:
    return curve_analysis(blocks=3, environments=ENVIRONMENTS[:2])


@cache
def page() -> Page:
    return Page(render_report(analysis()))


def printed(shown: Analysis, width: int = 80, *, show_all: bool = False) -> str:
    stream = io.StringIO()
    print_tables(shown, Console(file=stream, width=width, highlight=False), show_all=show_all)
    return stream.getvalue()


def layers(metric: CurveMetric, mark: str, *, narrow: bool = False) -> list[list[dict[str, Any]]]:
    """The rows of each layer of one kind of mark."""
    drawn = curve_chart(metric, looks(ENVIRONMENTS), 0.01, NARROW if narrow else WIDE)
    return [layer["data"]["values"] for layer in drawn["layer"] if layer["mark"]["type"] == mark]


def test_curves_of_one_metric_belong_together_native_first() -> None:
    latency, bandwidth = curve_metrics(analysis())
    assert (latency.name, bandwidth.name) == ("latency_s", "bandwidth_byte_per_s")
    assert [curve.curve.environment for curve in latency.curves] == ["native", *sorted(ENVIRONMENTS)]
    assert latency.places == tuple(map(float, SIZES))
    assert latency.counted_places == "48 sizes"
    assert latency.counts == "n = 10"


@pytest.mark.parametrize("narrow", [False, True])
def test_each_environment_has_two_lines_and_native_has_one(narrow: bool) -> None:
    latency, _ = curve_metrics(analysis())
    lines = layers(latency, "line", narrow=narrow)
    assert [len(rows) for rows in lines] == [48] * (7 + 6)
    colours = [rows[0]["stroke"] for rows in lines]
    assert len(set(colours[:7])) == 7
    assert colours[1:7] == colours[7:]


def test_ratios_that_another_metric_of_the_same_runs_shows_are_not_drawn_again() -> None:
    latency, bandwidth = curve_metrics(analysis())
    assert (latency.same_ratios, bandwidth.same_ratios) == ("", "latency_s")
    assert [len(rows) for rows in layers(bandwidth, "line")] == [48] * 7
    assert layers(bandwidth, "area") == []
    assert "Its ratios to native are those of latency_s: both show the same runs." in page().text


@pytest.mark.parametrize("narrow", [False, True])
def test_everything_lies_within_the_picture_and_rises_with_the_value(narrow: bool) -> None:
    latency, _ = curve_metrics(analysis())
    specification = curve_chart(latency, looks(ENVIRONMENTS), 0.01, NARROW if narrow else WIDE)
    height = specification["height"]
    rows = [row for layer in specification["layer"] for row in layer["data"]["values"]]
    assert all(0 <= row[end] <= height for row in rows for end in ("y", "y2") if row.get(end) is not None)
    native, *_ = layers(latency, "line", narrow=narrow)
    assert [row["x"] for row in native] == sorted(math.log2(size) for size in SIZES)
    assert native[0]["y"] > native[-1]["y"]


def test_every_band_holds_its_line_unless_the_panel_cuts_it() -> None:
    latency, _ = curve_metrics(analysis())
    lines, bands = layers(latency, "line")[7:], layers(latency, "area")
    assert len(bands) == 6
    for line, band in zip(lines, bands, strict=True):
        assert len(band) == len(line)
        for point, ends in zip(line, band, strict=True):
            assert ends["y2"] <= point["y"] <= ends["y"]


def test_marks_carry_their_figures_and_never_hide_each_other() -> None:
    latency, _ = curve_metrics(analysis())
    marks = [row for rows in layers(latency, "point") for row in rows if "told" in row]
    assert len({row["told"] for row in marks}) == len(marks) >= 7 * 6
    shown = next(row["told"] for row in marks if row["told"].startswith("gvisor at 4 B: "))
    assert re.search(
        r": 4\.\d+ .s, interval .* .s; 1[12]\.\d+ times native's time, interval .*, n = 10$", shown
    )
    native = {row["x"] for row in marks if row["told"].startswith("native")}
    assert not native & {row["x"] for row in marks if row["told"].startswith("docker")}


def test_without_intervals_nothing_is_drawn_around_a_line() -> None:
    for metric in curve_metrics(few_blocks()):
        assert not metric.banded
        assert not any(layers(metric, "area"))
        assert all(row["y2"] is not None for rows in layers(metric, "rule") for row in rows)
    assert "There are too few blocks for intervals (n = 3 blocks)" in Page(render_report(few_blocks())).text


def test_where_only_some_places_have_intervals_the_band_has_gaps() -> None:
    latency, _ = curve_metrics(analysis())

    def without(estimate: CurveEstimate) -> CurveEstimate:
        points = tuple(
            replace(point, overhead=replace(point.overhead, low=None, high=None))
            if point.overhead and point.at == (1024,)
            else point
            for point in estimate.points
        )
        return replace(estimate, points=points)

    broken = replace(latency, curves=tuple(map(without, latency.curves)))
    for band in layers(broken, "area"):
        assert len(band) == 47
        assert len({row["series"] for row in band}) == 2


def test_few_environments_get_more_room_for_their_ratios() -> None:
    heights = []
    for count in (1, 2, 6):
        latency, _ = curve_metrics(curve_analysis(blocks=3, environments=ENVIRONMENTS[:count]))
        uprights = [row for row in layers(latency, "rule")[0] if row["x"] == row["x2"]]
        heights.append(uprights[-1]["y2"] - uprights[-1]["y"])
    assert heights == sorted(heights, reverse=True)
    assert len(set(heights)) == 3


def test_native_alone_is_drawn_without_ratios() -> None:
    latency, _ = curve_metrics(analysis())
    alone = replace(latency, curves=latency.curves[:1])
    assert ratios(alone, 0.01, WIDE) is None
    assert len(layers(alone, "line")) == 1


@pytest.mark.parametrize(
    ("overhead", "words"),
    [
        (0.0, "1.000"),
        (0.0529, "1.053"),
        (-0.048, "0.952"),
        (10.77, "11.77"),
        (301.06, "302.1"),
        (-0.9997, "0.000300"),
    ],
)
def test_a_ratio_has_its_digits(overhead: float, words: str) -> None:
    assert ratio(overhead) == words


def test_intervals_of_curves_have_one_unit_and_equal_digits() -> None:
    estimate = Estimate(point=3.9e-7, low=3.8e-7, high=4.021e-7, level=0.95, n=10)
    assert value_interval(estimate, "s") == f"380.0{DASH}402.1 ns"
    assert ratio_interval(replace(estimate, low=-0.05, high=0.2)) == f"0.950{DASH}1.200"
    missing = replace(estimate, low=None, high=None, n=4)
    assert value_interval(missing, "s") == ratio_interval(missing) == "none (n = 4)"


@pytest.mark.parametrize(
    ("size", "words"),
    [(1, "1 B"), (1000, "1000 B"), (1536, "1.5 KiB"), (1 << 20, "1 MiB"), ((1 << 20) + 3, "1048579 B")],
)
def test_a_size_is_never_rounded(size: int, words: str) -> None:
    assert place_label(size, SIZE) == words


def test_a_table_shows_the_ends_and_the_well_known_sizes() -> None:
    latency, _ = curve_metrics(analysis())
    assert shown_places(latency) == (1, 1 << 10, 1 << 16, 1 << 20, 1 << 24)
    others, _ = curve_metrics(
        curve_analysis(blocks=1, sizes=range(10, 100), dimension=Dimension("rate", "Hz"))
    )
    assert shown_places(others) == (10, 32, 54, 77, 99)


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("show_all", [False, True])
def test_no_line_of_the_terminal_is_too_wide(width: int, show_all: bool) -> None:
    for shown in (analysis(), few_blocks()):
        lines = printed(shown, width, show_all=show_all).splitlines()
        assert all(cell_len(line) <= width for line in lines)


def test_the_terminal_has_a_row_for_each_environment_and_size_with_value_and_ratio() -> None:
    text = printed(analysis())
    assert "latency_s (less is better; 48 sizes, of which these; n = 10)" in text
    span = rf"[\d.]+{DASH}[\d.]+"
    value = rf"[\d.]+ [nµm]?s +{span} [nµm]?s"
    for name in ENVIRONMENTS:
        assert len(re.findall(rf"^ +{name} +{value} +[\d.]+ +{span} *$", text, re.MULTILINE)) == 5
    assert len(re.findall(rf"^ +native +{value} *$", text, re.MULTILINE)) == 5
    assert "Each interval holds for its own point only" in text


@pytest.mark.parametrize("name", ["qemu-paravirtual", "qemu-emulated"])
def test_a_usual_name_stands_whole_on_its_line_at_80_columns(name: str) -> None:
    text = printed(curve_analysis(blocks=6, environments=(name,)), show_all=True)
    assert len(re.findall(rf"^ {name} +[\d.]+ \S+ .*$", text, re.MULTILINE)) == 2 * 5


def test_the_terminal_hides_all_but_the_first_curve_unless_asked() -> None:
    assert "1 further curve hidden; --all shows every one" in printed(analysis())
    assert "bandwidth_byte_per_s (" not in printed(analysis())
    assert "bandwidth_byte_per_s (more is better" in printed(analysis(), show_all=True)


def test_an_environment_without_a_place_has_a_row_that_says_so() -> None:
    full = curve_analysis(blocks=6, environments=("docker",), sizes=(1, 1024))
    cut = tuple(
        replace(curve, points=curve.points[:1]) if curve.curve.environment == "docker" else curve
        for curve in full.curves
    )
    assert re.search(r"^ +docker +— *$", printed(replace(full, curves=cut)), re.MULTILINE)


def test_the_page_with_curves_is_whole_and_can_be_heard() -> None:
    assert page().faults == []
    identities = page().attributes("id")
    assert len(set(identities)) == len(identities)
    assert not page().tags & {"script", "link", "img"}
    for text in ("latency_s over 48 sizes", "gvisor at 1 MiB: ", "times native's time, interval"):
        assert text in page().text
    classes = page().attributes("class")
    assert classes.count("chart wide") == classes.count("chart narrow") == 3


def test_an_analysis_without_curves_has_no_section_for_them() -> None:
    without = replace(few_blocks(), curves=())
    assert "Curves" not in Page(render_report(without)).text
    assert "sizes" not in printed(without)
    assert to_json(without)["curves"] == []


def test_foreign_text_in_curves_is_shown_as_text() -> None:
    full = curve_analysis(blocks=1, environments=("docker",), sizes=(1, 8, 1024))
    hostile_dimensions = (Dimension(HOSTILE, HOSTILE),)
    hostile = tuple(
        replace(
            curve, curve=replace(curve.curve, metric=HOSTILE, unit=HOSTILE, dimensions=hostile_dimensions)
        )
        for curve in full.curves
    )
    changed = replace(full, curves=hostile)
    shown = Page(render_report(changed))
    assert shown.faults == []
    assert "script" not in shown.tags
    assert "\x1b" not in printed(changed)


def test_programs_get_every_point_with_unit_count_and_interval() -> None:
    document = to_json(analysis())["curves"]
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert len(document) == 14
    for ours, theirs in zip(analysis().curves, document, strict=True):
        assert theirs["environment"] == ours.curve.environment
        assert theirs["x_unit"] == "B"
        assert [point["x"] for point in theirs["points"]] == list(map(float, SIZES))
        for point in theirs["points"]:
            assert point["value"]["unit"] == ours.curve.unit
            assert point["value"]["n"] == 10
            assert (point["overhead"] is None) == (ours.curve.environment == "native")
    assert all(
        point["value"]["low"] is None
        for curve in to_json(few_blocks())["curves"]
        for point in curve["points"]
    )


def test_every_key_of_a_curve_is_documented() -> None:
    section = DOCUMENTATION.read_text(encoding="utf-8").split("### `curves[]`")[1].split("\n### ")[0]
    (first, *_) = to_json(analysis())["curves"]
    keys = set(first) | set(first["points"][0])
    assert keys <= set(re.findall(r"`(\w+)`", section))


@pytest.mark.usefixtures("fake_image")
def test_a_planted_slowdown_is_found_at_every_place_of_a_campaign(tmp_path: Path) -> None:
    workload = fake_workload(value=1e-6, noise=0.001, curve=30)
    campaign = fake_campaign(fake_environment(slowdown=0.2), workload=workload, blocks=6)
    shown = run_campaign(fake_request(campaign, tmp_path / "result"), Listener())
    assert {verdict.overhead.summary.metric for verdict in shown.verdicts} == {"time_s", "wall_s"}
    for metric in curve_metrics(shown):
        (slow,) = metric.environments
        assert len(slow.points) == 30
        for point in slow.points:
            assert point.overhead is not None
            assert point.overhead.point == pytest.approx(0.2, abs=0.01)
            assert point.overhead.n == 6
    assert "latency_s over 30 sizes" in Page(render_report(shown)).text


@pytest.mark.skipif(BROWSER is None, reason="no Chromium on PATH; apt install chromium")
@pytest.mark.parametrize("width_px", [400, 1280])
def test_a_browser_shows_the_pictures_of_its_width_and_never_scrolls_sideways(
    tmp_path: Path, width_px: int
) -> None:
    shown = measured(render_report(few_blocks()), tmp_path, width_px, dark=False)
    assert shown["needed"] <= width_px
    assert (shown["wide"], shown["narrow"]) == ((0, 3) if width_px == 400 else (3, 0))
