# SPDX-License-Identifier: Apache-2.0
"""A pair of hosts whose messages went another way than those of most is said wherever figures are read."""

import io
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from tare.records import DIFFERENT_PATHS, Analysis
from tare.report.brief import print_brief
from tare.report.document import render_report
from tare.report.hosts import uneven_paths_said
from tare.report.table import print_tables
from tests.report.report_example import example

ODD = "h1-h2: TCP over 10.2.0.0/16, where most use TCP over 10.1.0.0/16"
SAID = "messages between some hosts went another way than between most: h1-h2: TCP over 10.2.0.0/16"


def uneven() -> Analysis:
    made = example()
    first, *others = made.outcomes
    odd = replace(first, facts={**first.facts, DIFFERENT_PATHS: ODD})
    return replace(made, outcomes=(odd, odd, *others))


def printed(analysis: Analysis) -> str:
    console = Console(file=io.StringIO(), width=500)
    print_brief(analysis, Path("report.html"), console)
    print_tables(analysis, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_pair_is_named_once_for_all_trials() -> None:
    assert uneven_paths_said(uneven().outcomes).count("h1-h2") == 1
    assert printed(uneven()).count(SAID) == 2  # in the brief answer and above the tables
    assert SAID in render_report(uneven())


def test_of_hosts_that_are_alike_nothing_is_said() -> None:
    assert uneven_paths_said(example().outcomes) == ""
    assert "another way" not in printed(example())
    assert "another way" not in render_report(example())
