# SPDX-License-Identifier: Apache-2.0
"""Sharing experiments and helpers, as the terminal, the page and programs are told of them."""

import io
import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from tare.drawing.words import interval_percent, point_percent
from tare.records import Analysis, Cell, SharedCell, Word
from tare.report.document import render_report
from tare.report.machine import to_json
from tare.report.sharing import EXPLANATION, company_note
from tare.report.table import print_tables
from tests.report.report_example import example
from tests.report.report_page import Page
from tests.report.sharing_report import PLANTED, SETTINGS, sharing_analysis

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "json.md"


@cache
def analysis() -> Analysis:
    return sharing_analysis()


@cache
def page() -> Page:
    return Page(render_report(analysis()))


def printed(shown: Analysis, width: int = 80, *, show_all: bool = False) -> str:
    stream = io.StringIO()
    print_tables(shown, Console(file=stream, width=width, highlight=False), show_all=show_all)
    return stream.getvalue()


def flowing(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("show_all", [False, True])
def test_no_line_is_wider_than_the_terminal_and_none_is_cut(width: int, show_all: bool) -> None:
    text = printed(analysis(), width, show_all=show_all)
    assert all(cell_len(line) <= width for line in text.splitlines())
    assert "\N{HORIZONTAL ELLIPSIS}" not in text


def test_the_terminal_says_what_a_loss_is_against_and_has_each_primary_loss_with_its_verdict() -> None:
    text = printed(analysis())
    assert EXPLANATION in flowing(text)
    section = text.partition("\nSharing\n")[2]
    for loss in analysis().sharing:
        if loss.summary.primary:
            figures = (point_percent(loss.shown), interval_percent(loss.shown))
            point, interval = map(re.escape, figures)
            row = rf" {loss.summary.environment} +{point} +{interval} +. {loss.word} +10"
            assert re.search(row, section), row
    assert "docker beyond native's loss: +" in section
    assert "native beyond native" not in section


def test_other_metrics_are_hidden_and_counted_until_they_are_asked_for() -> None:
    assert "sharing by 4 other metrics hidden" in printed(analysis())
    assert re.search(
        r"hpl on 1c2p2i, wall_s \(2 instances in one node; alone: 1c1p1i\)",
        printed(analysis(), 100, show_all=True),
    )


def test_fairness_stands_only_where_several_instances_shared() -> None:
    tables = printed(analysis()).partition("\nSharing\n")[2].partition("\nSpread: ")[0]
    sections = tables.split("\nhpl on ")
    beside = next(part for part in sections if part.startswith("1c1p1i+1xstream@docker"))
    assert "Jain" not in beside
    assert sum("Jain's index" in part for part in sections) == 2


def test_no_helpers_unknown_helpers_and_measured_ones_are_told_apart() -> None:
    text = printed(analysis()).partition("own helpers on the host")[2]
    assert re.search(r" docker +\d[\d.]* ms +[\d.]+\N{EN DASH}[\d.]+ ms +0\.\d+ % +", text)
    assert re.search(r" podman +not known *\n", text)
    assert re.search(r" systemd-nspawn +none *\n", text)


def test_a_report_without_experiment_and_helpers_has_neither_section() -> None:
    plain = example()
    assert "\nSharing\n" not in printed(plain)
    assert "helpers" not in printed(plain)
    ids = Page(render_report(plain)).attributes("id")
    assert not {"sharing", "helpers"} & set(ids)


def test_where_no_trial_tells_of_helpers_there_is_no_table_of_them() -> None:
    silent = tuple(
        replace(
            cost, cpu_s=None, share=None, summary=replace(cost.summary, helpers=None, cpu_s=(), shares=())
        )
        for cost in analysis().helper_costs
    )
    assert "own helpers" not in printed(replace(analysis(), helper_costs=silent))


def test_the_page_is_whole_and_its_sections_can_be_reached() -> None:
    assert page().faults == []
    targets = {target.removeprefix("#") for target in page().attributes("href")}
    assert {"sharing", "helpers"} <= targets <= set(page().attributes("id"))


def test_the_verdict_on_a_loss_is_beside_the_name_so_that_a_small_screen_shows_it() -> None:
    html = render_report(sharing_analysis())
    heads = re.findall(r'aria-label="Losses[^>]*>.*?<thead><tr>(.*?)</tr></thead>', html, re.DOTALL)
    assert heads
    assert all(re.findall(r"<th[^>]*>(.*?)</th>", head)[:2] == ["environment", "verdict"] for head in heads)


def test_the_page_has_every_loss_with_its_interval() -> None:
    for loss in analysis().sharing:
        assert point_percent(loss.shown) in page().text
        assert interval_percent(loss.shown) in page().text
    assert EXPLANATION in page().text


def test_the_picture_tells_its_figures_to_those_who_hear_the_page() -> None:
    html = render_report(analysis())
    (match,) = re.findall(
        r"<title [^>]*>Loss by company, primary metrics</title><desc [^>]*>(.*?)</desc>", html
    )[:1]
    for setting in SETTINGS[1:]:
        for name in PLANTED:
            assert f"{name}, hpl on {setting}, hpl_flop_per_s: " in match


def test_names_cannot_break_the_page() -> None:
    evil = "</style><script>alert(1)</script>"
    losses = tuple(
        replace(loss, summary=replace(loss.summary, metric=loss.summary.metric + evil))
        for loss in analysis().sharing
    )
    costs = tuple(
        replace(cost, summary=replace(cost.summary, environment=evil)) for cost in analysis().helper_costs
    )
    shown = Page(render_report(replace(analysis(), sharing=losses, helper_costs=costs)))
    assert shown.faults == []
    assert "script" not in shown.tags


def told() -> dict[str, Any]:
    document = to_json(analysis())
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    return document


def keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value) | {key for inner in value.values() for key in keys(inner)}
    return {key for inner in value for key in keys(inner)} if isinstance(value, list) else set()


def test_every_key_is_documented() -> None:
    documented = set(re.findall(r"`(\w+)`", DOCUMENTATION.read_text(encoding="utf-8")))
    document = told()
    assert (
        keys(document["sharing"]) | keys(document["helper_cost"]) | {"sharing", "helper_cost"} <= documented
    )


def test_programs_get_each_loss_with_its_blocks() -> None:
    for ours, theirs in zip(analysis().sharing, told()["sharing"], strict=True):
        assert theirs["loss"]["point"] == ours.typical.point
        assert theirs["word"] == ours.word.name.lower()
        assert theirs["alone"] == {"workload": "hpl", "layout": "1c1p1i"}
        assert [block["block"] for block in theirs["blocks"]] == list(ours.summary.blocks)
        assert [tuple(block["log_losses"]) for block in theirs["blocks"]] == list(ours.summary.log_losses)


def test_what_does_not_exist_is_null_and_not_zero() -> None:
    document = told()
    natives = [loss for loss in document["sharing"] if loss["environment"] == "native"]
    assert all(entry["beyond_native"] is None for entry in natives)
    single = [loss for loss in document["sharing"] if "+" in loss["cell"]["layout"]]
    assert single
    assert all(entry["spread"] is entry["jain_index"] is entry["barrier_skew"] is None for entry in single)
    helpers = {
        cost["environment"]: cost for cost in document["helper_cost"] if cost["cell"]["layout"] == "1c1p1i"
    }
    assert {name: (entry["helpers"], entry["cpu_s"] is None) for name, entry in helpers.items()} == {
        "docker": (2, False),
        "lxc": (1, False),
        "podman": (1, True),
        "systemd-nspawn": (0, True),
    }
    assert helpers["docker"]["cpu_s"]["unit"] == "s"
    assert helpers["docker"]["share"]["unit"] == "1"


def test_few_blocks_have_no_interval_anywhere() -> None:
    few = sharing_analysis(blocks=4)
    assert {loss.word for loss in few.sharing} == {Word.UNDECIDED}
    assert "none (n = 4)" in printed(few)
    assert Page(render_report(few)).faults == []


@pytest.mark.parametrize(
    ("shared", "alone", "note"),
    [
        ("2c2p4i", "1c2p2i", "2 groups of 2 instances"),
        ("8c2p16i", "2c2p4i", "4 groups of 4 instances"),
        ("1c4p4i", "1c4p1i", "4 instances in one node"),
        ("2c1p2i", "1c1p1i", "2 instances in 2 nodes"),
        ("1c2p2i+1xnoise", "1c2p2i", "a group of 2 instances beside a neighbour"),
        ("1c1p1i+1xnoise", "1c1p1i", "one instance beside a neighbour"),
    ],
)
def test_it_is_said_who_keeps_whom_company(shared: str, alone: str, note: str) -> None:
    cells = SharedCell(shared=Cell(workload="hpl", layout=shared), alone=Cell(workload="hpl", layout=alone))
    assert company_note(cells) == note


def test_what_holds_together_and_what_a_group_is_compared_with_is_said_on_every_view() -> None:
    groups = tuple(
        replace(
            loss,
            summary=replace(
                loss.summary,
                cells=SharedCell(
                    shared=loss.summary.cells.shared, alone=Cell(workload="hpl", layout="1c2p2i")
                ),
            ),
        )
        for loss in analysis().sharing
    )
    shown = replace(analysis(), sharing=groups)
    for text in (flowing(printed(shown)), Page(render_report(shown)).text):
        assert "The 15 verdicts by primary metrics hold together" in text
        assert "compared with the one in its place when its group is alone" in text
    assert "in its place" not in printed(analysis())


def test_a_word_that_holds_only_by_itself_is_said_so() -> None:
    only = tuple(replace(loss, word=Word.UNDECIDED, alone=Word.SLOWER) for loss in analysis().sharing)
    shown = replace(analysis(), sharing=only)
    assert "docker by itself slower, not among all losses" in printed(shown)
    assert "undecided; by itself slower" in Page(render_report(shown)).text
