# SPDX-License-Identifier: Apache-2.0
"""What progress says of a busy machine: once when it begins, and once when it is over."""

import io
from dataclasses import replace

import pytest
from tests.busy_example import QUIET, busy_load
from tests.report.report_example import example

from tare.commands.audience import Progress
from tare.records import HostLoad, Outcome


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return example(blocks=6).outcomes[0]


def said(outcome: Outcome, loads: list[HostLoad | None]) -> list[str]:
    """Of two trials in each block."""
    stream = io.StringIO()
    progress = Progress(stream)
    for number, load in enumerate(loads):
        trial = replace(outcome.trial, block=number // 2, identity=f"t{number}")
        progress.ended(replace(outcome, trial=trial, load=load))
    return [line for line in stream.getvalue().splitlines() if line.startswith("the machine")]


def test_a_busy_machine_is_named_once_and_its_end_is_said_once(outcome: Outcome) -> None:
    busy = busy_load(1.0)
    assert said(outcome, [QUIET, busy, busy, QUIET, QUIET, QUIET, QUIET, QUIET]) == [
        "the machine is busy while t1 runs: others take 1.0 of its 2 processors: stress (pid 100, user alice)",
        "the machine is quiet again since block 2",
    ]


def test_a_load_that_comes_and_goes_is_not_told_with_every_trial(outcome: Outcome) -> None:
    assert len(said(outcome, [busy_load(1.0), QUIET] * 10)) == 1


def test_a_quiet_or_unknown_host_is_not_spoken_of(outcome: Outcome) -> None:
    assert said(outcome, [QUIET, None, QUIET, None]) == []
