# SPDX-License-Identifier: Apache-2.0
"""The end of a run: at most six lines, on which a reader can act."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from tare.drawing.words import MARK
from tare.records import Analysis, Cell, FailureRate, Withheld, Word
from tare.report.brief import print_brief
from tests.report.answer_example import QUICK, quick
from tests.report.report_example import example, with_verdicts

REPORT = Path("results/x/report.html")


def brief(analysis: Analysis) -> list[str]:
    stream = io.StringIO()
    print_brief(analysis, REPORT, Console(file=stream, width=80, highlight=False))
    return stream.getvalue().splitlines()


def test_the_answer_fits_on_six_lines_and_ends_with_the_report() -> None:
    lines = brief(quick())
    assert len(lines) <= 6
    assert lines[-1] == f"report: {REPORT}"
    assert "native, which differs from itself by up to" in lines[0]


def test_the_largest_losses_are_named_and_the_worst_environment_comes_first() -> None:
    line = brief(quick())[1]
    assert line.startswith("\N{BLACK UP-POINTING TRIANGLE} docker: ")
    assert "% slower" in line


def test_many_environments_share_the_lines_and_none_is_dropped() -> None:
    names = tuple(f"env{number}" for number in range(12))
    analysis = quick(environments=(*QUICK, *names))
    lines = brief(analysis)
    assert len(lines) <= 6
    assert all(name in "\n".join(lines) for name in names)


def test_a_loss_asks_for_its_cause() -> None:
    assert any(line.startswith("next: tare explain RESULT") for line in brief(quick()))


def test_a_busy_machine_is_no_verdict_and_the_way_on_is_another_run() -> None:
    analysis = quick(environments=("lxc",))
    withheld = [
        replace(verdict, word=Word.UNDECIDED, withheld=Withheld.BUSY) for verdict in analysis.verdicts
    ]
    _, verdict, step, _ = brief(with_verdicts(analysis, withheld))
    assert verdict == f"{MARK[Word.UNDECIDED]} lxc: 7 too busy to tell"
    assert step == "next: once it is quiet, tare run RESULT/campaign.json"


def test_failing_runs_are_said_with_the_verdict() -> None:
    analysis = example(environments=("docker",))
    rate = FailureRate(
        cell=Cell(workload="work", layout="1c2p1i"),
        environment="docker",
        runs=60,
        failed=3,
        low=0.01,
        high=0.14,
        native_runs=120,
        native_failed=0,
        chance=0.04,
        claim="3 of 60 runs failed",
    )
    assert any("3 of 60 runs failed" in line for line in brief(replace(analysis, failures=(rate,))))


@pytest.mark.parametrize("name", ["a\nb", "\x1b[31mred"])
def test_a_hostile_name_adds_no_line_and_no_colour(name: str) -> None:
    lines = brief(replace(quick(), campaign=name))
    assert len(lines) <= 6
    assert not any("\x1b" in line for line in lines)
