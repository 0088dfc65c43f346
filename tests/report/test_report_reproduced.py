# SPDX-License-Identifier: Apache-2.0
"""The list of ``tare reproduce`` in each of its forms."""

import json
import re

from rich.console import Console

from tare.analyze.reproduced import listed
from tare.papers import paper, view
from tare.records import (
    NATIVE,
)
from tare.records.reproduced import ListedPaper
from tare.report import reproduced
from tests.view_example import analysis_of

FIGURE = view("b17:fig3")


def example(loss: float = 0.0) -> ListedPaper:
    analysis = analysis_of(FIGURE, lambda role, _: 0.0 if role == NATIVE else loss)
    return ListedPaper(
        paper=paper("b17"),
        result="results/reproduce/b17",
        claims=tuple(own for own in listed(paper("b17"), analysis) if own.view == FIGURE),
        points=("1c4p1i: 4 processors | 2",),
        measured="Measured from 2026-01-01: 3 of 3 trials in 1 block.",
    )


def test_markdown_has_a_row_for_each_claim_with_our_interval() -> None:
    text = reproduced.markdown([example()])
    rows = [line for line in text.splitlines() if line.startswith("| b17:fig3")]
    assert len(rows) == len(FIGURE.claims)
    assert re.search(r"\*\*reproduced\*\*: rate: lxc .* %, n = 12\)", rows[0])
    assert "- 1c4p1i: 4 processors | 2" in text
    assert all(row.count("|") == 4 for row in rows)


def test_the_terminal_names_the_fate_and_the_sum() -> None:
    console = Console(record=True, width=160)
    reproduced.table([example(0.3), example()], console)
    text = console.export_text()
    assert "contradicted: rate: lxc" in text
    assert "All: " in text


def test_the_json_has_every_claim_with_fate_and_figures() -> None:
    printed = json.loads(json.dumps(reproduced.json([example()]), allow_nan=False))
    (own,) = printed["papers"]
    assert [each["view"] for each in own["claims"]] == ["b17:fig3"] * len(FIGURE.claims)
    assert own["claims"][0]["fate"] == "reproduced"
    assert own["claims"][0]["figures"][0]["ours"]["n"] == 12
    assert sum(own["counts"].values()) == len(own["claims"])
