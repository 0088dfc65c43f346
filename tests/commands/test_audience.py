# SPDX-License-Identifier: Apache-2.0
"""What progress says, and what it leaves to those who ask for more."""

import io
from dataclasses import replace
from typing import Any

import pytest
from tests.busy_example import QUIET, busy_load
from tests.report.report_example import example

from tare.commands.audience import Progress
from tare.commands.line import Shown
from tare.plan.budget import BudgetPlan
from tare.records import HostLoad, Outcome, Status


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return example(blocks=6).outcomes[0]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def said(
    outcome: Outcome, loads: list[HostLoad | None], *, verbose: bool = True, before: HostLoad = QUIET
) -> list[str]:
    """Of two trials in each block."""
    stream = io.StringIO()
    progress = Progress(stream, shown=Shown(verbose=verbose))
    if before.busy:
        progress.meets(before)
    for number, load in enumerate(loads):
        trial = replace(outcome.trial, block=number // 2, identity=f"t{number}")
        progress.ended(replace(outcome, trial=trial, load=load))
    return [line for line in stream.getvalue().splitlines() if "machine is" in line]


def test_a_busy_machine_is_named_once_and_its_end_is_said_once(outcome: Outcome) -> None:
    busy = busy_load(1.0)
    assert said(outcome, [QUIET, busy, busy, QUIET, QUIET, QUIET, QUIET, QUIET]) == [
        "the machine is busy while t1 runs: others take 1.0 of its 2 processors: stress (pid 100, user alice)",
        "the machine is quiet again since block 2",
    ]


def test_a_user_who_does_not_ask_for_more_hears_once_that_the_machine_is_busy(outcome: Outcome) -> None:
    busy = busy_load(1.0)
    loads: list[HostLoad | None] = [QUIET, busy, *[QUIET] * 6, busy, QUIET]
    assert len(said(outcome, loads, verbose=True)) == 3
    assert len(said(outcome, loads, verbose=False)) == 1
    (line,) = said(outcome, loads, verbose=False, before=busy)
    assert line.startswith("this machine is busy: stress")


def test_what_is_lost_for_the_same_reason_is_said_once_or_each_time_if_asked_for(outcome: Outcome) -> None:
    for verbose, lines in ((False, 1), (True, 5)):
        stream = io.StringIO()
        progress = Progress(stream, shown=Shown(verbose=verbose))
        for _ in range(5):
            progress.ended(replace(outcome, status=Status.FAILED, reason="no such file"))
        assert stream.getvalue().count("failed: no such file") == lines


def plan(expected_s: float | None, **changes: Any) -> BudgetPlan:
    whole: dict[str, Any] = {
        "planned_trials": 12,
        "left_trials": 12,
        "left_blocks": 6,
        "expected_s": expected_s,
        "budget_s": None,
        "fitting_blocks": None,
        "first_block_s": None,
        "unknown": (),
        "complete_blocks": 0,
        "margin": 0.01,
    }
    return BudgetPlan(**(whole | changes))


@pytest.mark.parametrize(
    ("asked", "lines"),
    [
        (plan(11.0), 0),
        (plan(90.0), 1),
        (plan(None), 1),
        (plan(11.0, budget_s=60.0, fitting_blocks=6), 1),
        (plan(11.0, left_trials=10), 1),
    ],
)
def test_on_a_terminal_the_plan_of_a_short_run_is_left_to_the_line_of_progress(
    asked: BudgetPlan, lines: int
) -> None:
    terminal, file = Terminal(), io.StringIO()
    Progress(terminal).plans(asked)
    Progress(file).plans(asked)
    assert terminal.getvalue().count("trials in 6 blocks") == lines
    assert file.getvalue().count("trials in 6 blocks") == 1


def test_the_line_of_progress_never_wraps_on_a_terminal_without_a_known_width(outcome: Outcome) -> None:
    stream = Terminal()
    long = replace(outcome.trial, identity="b000-" + "x" * 200)
    Progress(stream).begins(long)
    assert max(map(len, stream.getvalue().split("\x1b[K"))) == 79


def test_a_load_that_comes_and_goes_is_not_told_with_every_trial(outcome: Outcome) -> None:
    assert len(said(outcome, [busy_load(1.0), QUIET] * 10)) == 1


def test_a_quiet_or_unknown_host_is_not_spoken_of(outcome: Outcome) -> None:
    assert said(outcome, [QUIET, None, QUIET, None]) == []
