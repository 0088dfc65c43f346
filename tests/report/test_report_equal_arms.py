# SPDX-License-Identifier: Apache-2.0
"""Under what the commands ran: one table of all environments, with differences marked, for people and programs."""

import io
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from tare.records import Analysis, Outcome, Parity, Status
from tare.report import equal_arms, shape
from tare.report.document import render_report
from tare.report.equal_arms import capabilities_said, parity_table
from tests.report.report_example import example

NATIVE = Parity(
    own={"system call filter": "none", "capabilities": "000001ffffffffff"},
    host={"nice": "0", "scheduler": "other"},
)
DOCKER = Parity(
    own={
        "system call filter": "filter (1)",
        "capabilities": "00000000a80425fb",
        "security label": "docker-default",
    },
    host={"nice": "0", "scheduler": "other"},
)


def with_parity(analysis: Analysis, docker: Parity = DOCKER) -> Analysis:
    def known(outcome: Outcome) -> Outcome:
        parity = {"native": NATIVE, "docker": docker}.get(outcome.trial.environment.name, Parity())
        return replace(outcome, parity=parity)

    return replace(analysis, outcomes=tuple(map(known, analysis.outcomes)))


def printed(analysis: Analysis, *, show_all: bool) -> str:
    console = Console(file=io.StringIO(), width=120, highlight=False)
    equal_arms.table(analysis, console, show_all=show_all)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return with_parity(example())


def test_native_comes_first_and_what_differs_from_it_is_marked(analysis: Analysis) -> None:
    table = parity_table(analysis)
    assert table is not None
    assert table.environments == ("native", "docker")
    rows = {row.label: row.values for row in table.own}
    assert rows["system call filter"] == (("none", False), ("filter (1)", True))
    assert rows["capabilities"] == (("41 (1ffffffffff)", False), ("14 (a80425fb)", True))


def test_what_native_does_not_know_is_no_difference(analysis: Analysis) -> None:
    table = parity_table(analysis)
    assert table is not None
    assert {row.label: row.values for row in table.own}["security label"] == (
        (None, False),
        ("docker-default", False),
    )


def test_what_is_equal_everywhere_is_said_in_one_line(analysis: Analysis) -> None:
    table = parity_table(analysis)
    assert table is not None
    assert table.equal == ("nice 0", "scheduler other")
    assert table.unequal == ()
    assert "Equal everywhere: nice 0; scheduler other." in printed(analysis, show_all=True)
    assert printed(analysis, show_all=False) == ""


def test_what_an_environment_sets_on_purpose_is_shown_beside_natives_and_not_called_equal() -> None:
    chosen = with_parity(example(), Parity(own={**DOCKER.own, "nice": "5"}, host={"scheduler": "other"}))
    table = parity_table(chosen)
    assert table is not None
    assert {row.label: row.values for row in table.own}["nice"] == (("0", False), ("5", True))
    assert table.equal == ("scheduler other",)
    assert table.unequal == ()
    text = printed(chosen, show_all=True)
    assert "≠ 5" in text
    assert "Equal everywhere: scheduler other." in text
    assert printed(chosen, show_all=False) == ""


def parity_shown(analysis: Analysis) -> Any:
    return shape.printed(equal_arms.EqualArmsJson, analysis)["parity"]


def test_what_was_unequal_is_shown_in_the_short_form_too() -> None:
    niced = with_parity(example(), replace(DOCKER, host={"nice": "5", "scheduler": "other"}))
    assert "≠ 5" in printed(niced, show_all=False)
    read = parity_shown(niced)
    assert read is not None
    assert read["unequal"] == ["nice"]
    assert read["environments"]["docker"]["host"]["nice"] == "5"


def test_trials_of_one_environment_that_differ_stand_side_by_side() -> None:
    first, *rest = with_parity(example()).outcomes
    void = replace(first, status=Status.INVALID, parity=replace(first.parity, host={"nice": "3"}))
    read = parity_shown(replace(example(), outcomes=(void, *rest)))
    assert read is not None
    assert read["environments"][first.trial.environment.name]["host"]["nice"] in {"3 / 0", "3"}


def test_the_page_has_the_table_with_its_marks(analysis: Analysis) -> None:
    page = render_report(analysis)
    assert "<b>≠ filter (1)</b>" in page.replace("\N{NO-BREAK SPACE}", " ")
    assert "nice 0; scheduler other" in page.replace("\N{NO-BREAK SPACE}", " ")


def test_results_of_earlier_versions_have_no_such_table() -> None:
    assert parity_table(example()) is None
    assert parity_shown(example()) is None
    assert 'id="equal-arms"' not in render_report(example())


@pytest.mark.parametrize(
    ("mask", "said"),
    [("0000000000000000", "0 (0)"), ("000001fffeffffff", "40 (1fffeffffff)"), ("gone", "gone")],
)
def test_capabilities_are_counted(mask: str, said: str) -> None:
    assert capabilities_said(mask) == said
