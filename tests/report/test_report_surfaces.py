# SPDX-License-Identifier: Apache-2.0
"""A metric over two dimensions is a map: what is decided is told from what is not."""

import io
from dataclasses import replace
from functools import cache

import pytest
from rich.cells import cell_len
from rich.console import Console

from tare.analyze import without_busy_curves
from tare.records import Analysis, HostLoad
from tare.records.busy import BusyBlocks
from tare.report.curves import curve_metrics
from tare.report.document import render_report
from tare.report.machine import to_json
from tare.report.surface_chart import NARROW, WIDE, surface_chart
from tare.report.surfaces import SurfaceMetric, rows, sentences, surface_metrics
from tare.report.table import print_tables
from tare.report.together import decided
from tests.report.report_page import Page
from tests.report.surface_example import RECORDS, SIZES, surface_analysis


@cache
def analysis() -> Analysis:
    return surface_analysis()


def surface() -> SurfaceMetric:
    (metric,) = surface_metrics(analysis())
    return metric


def printed(shown: Analysis, width: int = 80, *, show_all: bool = False) -> str:
    stream = io.StringIO()
    print_tables(shown, Console(file=stream, width=width, highlight=False), show_all=show_all)
    return stream.getvalue()


def test_a_planted_loss_is_found_where_it_is_and_nowhere_else() -> None:
    docker, gvisor = surface().environments
    slower = {point.at for point in docker.points if decided(point) == 1}
    assert slower == {(float(size), float(RECORDS[0])) for size in SIZES}
    assert not any(map(decided, gvisor.points))


def test_each_surface_has_a_sentence_with_places_extent_and_count() -> None:
    docker, gvisor = sentences(surface())
    assert docker.startswith("docker: slower at 4 of 20 places, most at size ")
    assert "record 4 KiB (1.2" in docker
    assert docker.endswith("(typical overhead, all together at ≥ 95 %, n = 8)")
    assert gvisor.startswith("gvisor: no difference shown at any of 20 places; everywhere within 0.9")


def test_too_few_blocks_decide_no_place_and_say_so() -> None:
    (metric,) = surface_metrics(surface_analysis(blocks=4))
    assert sentences(metric)[0] == "docker: too few blocks to decide any place"
    assert not any(decided(point) for each in metric.surfaces for point in each.points)


def test_a_table_has_a_row_for_each_place_of_the_second_dimension() -> None:
    metric = surface()
    table = rows(metric, metric.environments[0])
    assert [label for label, _ in table] == ["4 KiB", "8 KiB", "16 KiB", "32 KiB", "64 KiB"]
    assert metric.labels(0) == ("64 KiB", "128 KiB", "256 KiB", "512 KiB")
    assert [{entry.word for entry in entries} for _, entries in table] == [{"slower"}, *[{"undecided"}] * 4]


@pytest.mark.parametrize("frame", [WIDE, NARROW])
def test_every_place_is_a_field_within_the_picture_and_the_undecided_are_hatched(frame: object) -> None:
    metric = surface()
    drawn = surface_chart(metric, WIDE if frame is WIDE else NARROW)
    fields = [
        row for layer in drawn["layer"] if layer["mark"]["type"] == "rect" for row in layer["data"]["values"]
    ]
    hatches = [
        row for layer in drawn["layer"] if layer["mark"]["type"] == "rule" for row in layer["data"]["values"]
    ]
    assert len(fields) == 2 * 20
    assert len(hatches) == 2 * sum(row["undecided"] for row in fields) == 2 * 36
    assert all(0 <= row["y"] < row["y2"] <= drawn["height"] and 0 < row["opacity"] <= 1 for row in fields)
    assert max(fields, key=lambda row: row["opacity"])["told"].startswith(
        "docker at 256 KiB, 4 KiB: "
    ) or max(row["opacity"] for row in fields) == pytest.approx(1)


def test_a_third_dimension_has_a_map_for_each_of_its_places() -> None:
    metrics = surface_metrics(surface_analysis(ranks=(2, 4), blocks=6))
    assert [metric.name for metric in metrics] == ["write_s, ranks 2", "write_s, ranks 4"]
    assert {metric.said for metric in metrics} == {"20 places, size by record"}


def test_what_varies_in_one_dimension_alone_is_a_curve() -> None:
    def at_one_record(shown: Analysis) -> Analysis:
        cut = tuple(
            replace(
                each,
                points=tuple(point for point in each.points if point.at[1] == RECORDS[0]),
                curve=replace(
                    each.curve,
                    points=tuple(point for point in each.curve.points if point.at[1] == RECORDS[0]),
                ),
            )
            for each in shown.curves
        )
        return replace(shown, curves=cut)

    flat = at_one_record(analysis())
    assert surface_metrics(flat) == ()
    (curve,) = curve_metrics(flat)
    assert curve.name == "write_s, record 4 KiB"
    assert curve.places == tuple(map(float, SIZES))
    assert "write_s, record 4 KiB" in printed(flat)


def test_the_page_with_surfaces_is_whole_and_can_be_heard() -> None:
    page = Page(render_report(analysis()))
    assert page.faults == []
    assert "docker: slower at 4 of 20 places" in page.text
    assert "hatched: undecided with all places in mind" in page.text
    assert page.attributes("class").count("chart wide") >= 2


@pytest.mark.parametrize("width", [80, 120])
def test_the_terminal_has_the_sentences_and_with_all_the_tables(width: int) -> None:
    short, long = printed(analysis(), width), printed(analysis(), width, show_all=True)
    assert "docker: slower at 4 of 20 places" in short
    assert "record \\ size" not in short
    assert "record \\ size" in long
    assert all(cell_len(line) <= width for line in long.splitlines())


def test_programs_get_dimensions_coordinates_and_the_band() -> None:
    (native, docker, _) = to_json(analysis())["curves"]
    assert docker["dimensions"] == [{"name": "size", "unit": "B"}, {"name": "record", "unit": "B"}]
    assert (docker["x_unit"], docker["points"][0]["x"]) == (None, None)
    assert docker["points"][0]["at"] == [65536.0, 4096.0]
    assert docker["points"][0]["together"]["low"] > 0
    assert native["points"][0]["together"] is None


def test_a_busy_host_decides_no_place_and_says_so() -> None:
    shown = analysis()
    busy = BusyBlocks(
        blocks=tuple(range(1, 9)), loads=8 * (HostLoad(processors=2, foreign=1.0),), left_out=False
    )
    loaded = [
        replace(each, curve=replace(each.curve, busy=busy)) if each.curve.environment == "docker" else each
        for each in shown.curves
    ]
    (metric,) = surface_metrics(replace(shown, curves=without_busy_curves(loaded)))
    docker, gvisor = sentences(metric)
    assert docker == "docker: too busy to tell what holds for all of 20 places"
    assert not any(map(decided, metric.environments[0].points))
    assert gvisor.startswith("gvisor: no difference shown")
