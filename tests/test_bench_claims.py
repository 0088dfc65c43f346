# SPDX-License-Identifier: Apache-2.0
"""A benchmark says that its goal is met only where it has compared."""

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest
from bench import barrier, node_cost, work_share
from bench.no_second_wasted import ROWS
from bench.planted_size import Delayed

from tare.environments.fake import Fake
from tare.records import Clocks, Direction, Verdict
from tare.statistics.estimate import Estimate
from tests.journal.journal_example import an_outcome
from tests.journal.test_journal_columns import a_run

BY_NAME = {row.name: row for row in ROWS}


@pytest.mark.parametrize("name", ["trial", "set-up"])
def test_a_goal_beside_another_checkout_is_not_met_without_one(name: str) -> None:
    assert BY_NAME[name].end(succeeded=True, compared=False) == "not compared"
    assert BY_NAME[name].end(succeeded=True, compared=True) == "met"
    assert BY_NAME[name].end(succeeded=False, compared=False) == "MISSED"


def test_what_has_no_goal_is_never_met_and_what_has_its_own_always_can_be() -> None:
    assert BY_NAME["guests' ways"].end(succeeded=True, compared=True) == "not compared"
    assert BY_NAME["show"].end(succeeded=True, compared=False) == "met"


@pytest.mark.parametrize(
    ("seen_s", "told_s", "held"), [(0.0018, 0.0012, True), (0.0018, 0.0007, False), (0.0021, 0.0021, False)]
)
def test_a_barrier_holds_only_if_what_is_told_of_it_is_true(seen_s: float, told_s: float, held: bool) -> None:
    assert barrier.report("native", [(seen_s, told_s)] * 20) is held


def test_one_instance_is_never_apart_and_no_barrier_is_claimed_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.argv", ["barrier"])
    monkeypatch.setattr(barrier, "online_processors", lambda: (0,))
    with pytest.raises(SystemExit, match="two processors"):
        barrier.main()


def test_nodes_of_technologies_that_are_not_here_cost_nothing_that_holds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert node_cost.hold([True, None])
    assert "not compared: 1 of 2" in capsys.readouterr().out
    assert not node_cost.hold([True, None, False])
    assert not node_cost.hold([None, None])


def test_the_share_at_work_is_of_all_the_time_that_passed() -> None:
    """Of the first block nothing counts; half of each second between the others is within no trial."""
    runs = (replace(a_run(0), clocks=Clocks(wall_s=0.45, host_wall_s=0.45, round_trip_s=0.0)),)
    measured = [replace(an_outcome(), elapsed_s=0.5, instances=runs) for _ in range(3)]
    ends = [
        (float(number), replace(outcome, trial=replace(outcome.trial, block=number)))
        for number, outcome in enumerate(measured)
    ]
    assert work_share.by_cell(ends) == {"w in e": pytest.approx(0.45)}


@pytest.mark.parametrize(("added_s", "word"), [(50e-6, "within"), (60e-6, "OUTSIDE")])
def test_a_planted_size_is_within_the_interval_or_not(
    monkeypatch: pytest.MonkeyPatch, added_s: float, word: str
) -> None:
    """Natively a call takes 100 us, and the interval of what it takes more is 48 % to 55 %."""
    delayed = Delayed(call="fsync", added_us=50, program=("true",), calls=1)
    monkeypatch.setattr(Delayed, "true_s", lambda *_: [added_s] * 8)
    typical = Estimate(point=0.52, low=0.48, high=0.55, level=0.95, n=8)
    overhead = SimpleNamespace(
        typical=typical, native_median=100e-6, summary=SimpleNamespace(direction=Direction.LESS)
    )
    verdict = cast("Verdict", SimpleNamespace(overhead=overhead))
    assert delayed.said(verdict, Fake()).endswith(f"[48 % to 55 %]: {word}")
