# SPDX-License-Identifier: Apache-2.0
"""Programs of others by turns, for real: they lose nothing, and none disturbs another."""

import os
import random
import sys
import time
from itertools import count, pairwise
from pathlib import Path

import pytest
from tests.measure.freezer_arms import arms_of, with_changes
from tests.measure.measure_nodes import wait_until

from tare.errors import NodeError
from tare.measure.clocks import host_ns
from tare.measure.freezer_turns import FrozenArm, stopwatch_limit_s, take_turns
from tare.measure.stopwatch import Stopwatch
from tare.measure.thawed import cpu_s, unsuited

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for control groups"),
]
BURN_S = 0.3
BURN = f"""
import resource, sys
def used():
    found = resource.getrusage(resource.RUSAGE_SELF)
    return found.ru_utime + found.ru_stime
while used() < {BURN_S}: pass
print("burnt")
sys.exit(3)
"""
"""Ends after so much CPU time, whatever the clock says."""
TURN_S = 0.05
DRAW = random.Random(1)  # noqa: S311 - an order, no secret


def python(text: str) -> list[str]:
    return [sys.executable, "-S", "-c", text]


def test_each_is_charged_what_it_ran_and_not_what_it_was_frozen(programs: Path, tmp_path: Path) -> None:
    with arms_of(programs, tmp_path, [python(BURN)] * 3) as arms:
        begun = time.monotonic()
        arm_runs = take_turns(arms, DRAW, TURN_S)
        elapsed_s = time.monotonic() - begun
    for number, arm in enumerate(arm_runs):
        (run,) = arm.runs
        used_s = run.user_s + run.system_s
        assert arm.error is None
        assert (run.exit_code, (tmp_path / str(number) / "stdout").read_text()) == (3, "burnt\n")
        assert used_s == pytest.approx(BURN_S, abs=0.1)
        assert used_s - 0.05 <= run.clocks.wall_s <= sum(turn.counted_s for turn in arm.turns)
        assert run.host_span_s is not None
        assert run.clocks.wall_s <= run.host_span_s < run.clocks.wall_s + 0.1  # two clocks of one time
        assert cpu_s(arm.turns) == pytest.approx(used_s, rel=0.2)
        assert len(arm.turns) >= BURN_S / TURN_S
        assert unsuited(arm.turns) is None
    assert sum(arm.runs[0].clocks.wall_s for arm in arm_runs) < elapsed_s


def test_no_two_arms_run_at_the_same_time(programs: Path, tmp_path: Path) -> None:
    with arms_of(programs, tmp_path, [python(BURN)] * 3) as arms:
        arm_runs = take_turns(arms, DRAW, TURN_S)
    spans = sorted((turn.thaw_asked_ns, turn.frozen_ns) for arm in arm_runs for turn in arm.turns)
    assert all(end <= begin for (_, end), (begin, _) in pairwise(spans))
    firsts = [min(range(3), key=lambda number: arm_runs[number].turns[place].thawed_ns) for place in range(5)]
    assert len(set(firsts)) > 1, "each round has an order of its own"


def test_each_round_begins_with_the_arm_that_ended_the_last_one(programs: Path, tmp_path: Path) -> None:
    with arms_of(programs, tmp_path, [python("while True: pass")] * 3) as arms:
        given = [with_changes(arm, limit_s=0.4) for arm in arms]
        arm_runs = take_turns(given, DRAW, TURN_S)
    turns = sorted((turn.thawed_ns, number) for number, arm in enumerate(arm_runs) for turn in arm.turns[:6])
    order = [number for _, number in turns]
    rounds = [order[begin : begin + 3] for begin in range(0, len(order), 3)]
    assert all(sorted(each) == [0, 1, 2] for each in rounds)
    assert all(before[-1] == after[0] for before, after in pairwise(rounds))


def test_clocks_are_looked_at_once_a_round_between_turns_of_any_two(programs: Path, tmp_path: Path) -> None:
    at_ns: list[int] = []
    with arms_of(programs, tmp_path, [python("while True: pass")] * 3) as arms:
        given = [with_changes(arm, limit_s=0.6) for arm in arms]
        arm_runs = take_turns(given, DRAW, TURN_S, lambda: at_ns.append(host_ns()))
    spans = sorted((turn.thaw_asked_ns, turn.frozen_ns) for arm in arm_runs for turn in arm.turns)
    assert not [at for at in at_ns for begin, end in spans if begin <= at <= end]
    turns_before = [sum(end < at for _, end in spans) for at in at_ns[:8]]
    assert [number // 3 for number in turns_before] == list(range(8))
    assert len({number % 3 for number in turns_before}) > 1


def test_a_program_that_sleeps_is_told_with_its_share(programs: Path, tmp_path: Path) -> None:
    with arms_of(programs, tmp_path, [["sleep", "0.3"], python(BURN)]) as arms:
        sleeping, burning = take_turns(arms, DRAW, TURN_S)
    assert "it used no processor in" in str(unsuited(sleeping.turns))
    assert unsuited(burning.turns) is None


def test_the_limit_is_of_thawed_time_and_ends_one_arm_only(programs: Path, tmp_path: Path) -> None:
    endless = python("while True: pass")
    with arms_of(programs, tmp_path, [endless, python(BURN)]) as arms:
        ended, other = take_turns([with_changes(arms[0], limit_s=0.6), arms[1]], DRAW, TURN_S)
    assert "ran into its time limit of 600 ms" in str(ended.error)
    assert ended.runs == ()
    assert 0.6 <= sum(turn.counted_s for turn in ended.turns) < 1.0
    assert other.error is None
    assert other.runs[0].exit_code == 3


def test_an_arm_whose_launch_fails_does_not_disturb_the_others(programs: Path, tmp_path: Path) -> None:
    def fails() -> None:
        raise NodeError("the daemon is gone")

    with arms_of(programs, tmp_path, [python(BURN), python(BURN)]) as arms:
        failed, other = take_turns([with_changes(arms[0], look=fails), arms[1]], DRAW, TURN_S)
    assert str(failed.error) == "the daemon is gone"
    assert len(failed.turns) == 1
    assert other.runs[0].exit_code == 3


def test_a_stopwatch_that_dies_ends_its_arm_only(programs: Path, tmp_path: Path) -> None:
    with arms_of(programs, tmp_path, [["sh", "-c", "kill -9 $PPID; sleep 9"], python(BURN)]) as arms:
        failed, other = take_turns(arms, DRAW, TURN_S)
    assert "the way into the node broke" in str(failed.error)
    assert other.runs[0].exit_code == 3


def test_a_program_that_is_not_there_is_said(programs: Path, tmp_path: Path) -> None:
    with arms_of(programs, tmp_path, [["/no/such/program"], python(BURN)]) as arms:
        failed, other = take_turns(arms, DRAW, TURN_S)
    assert "/no/such/program" in str(failed.error)
    assert other.runs[0].exit_code == 3


def test_an_interrupt_leaves_nothing_frozen(programs: Path, tmp_path: Path) -> None:
    ticks = count()

    def interrupt() -> None:
        if next(ticks):  # all have had their turn
            raise KeyboardInterrupt

    with arms_of(programs, tmp_path, [python("while True: pass")] * 2) as arms:
        with pytest.raises(KeyboardInterrupt):
            take_turns(arms, DRAW, TURN_S, interrupt)
        before_s = [used_s(arm) for arm in arms]
        wait_until(lambda: all(used_s(arm) > before for arm, before in zip(arms, before_s, strict=True)))


def used_s(arm: FrozenArm) -> float:
    return sum(group.cpu_s() or 0.0 for group in arm.groups)


def test_two_instances_of_an_arm_run_together_and_have_a_record_each(programs: Path, tmp_path: Path) -> None:
    with arms_of(programs, tmp_path, [python(BURN), python(BURN), python(BURN)]) as arms:
        stopwatches: list[Stopwatch] = [*arms[0].stopwatches, *arms[1].stopwatches]
        freezers, groups = [*arms[0].freezers, *arms[1].freezers], [*arms[0].groups, *arms[1].groups]
        both = with_changes(arms[0], stopwatches=stopwatches, freezers=freezers, groups=groups)
        pair, single = take_turns([both, arms[2]], DRAW, TURN_S)
    assert [run.instance for run in pair.runs] == [0, 1]
    assert max(run.start_offset_s for run in pair.runs) < min(run.clocks.wall_s for run in pair.runs)
    assert cpu_s(pair.turns) == pytest.approx(2 * BURN_S, rel=0.3)
    assert single.runs[0].exit_code == 3


def test_the_stopwatchs_own_limit_leaves_all_arms_their_time() -> None:
    assert stopwatch_limit_s(10.0, 6) == 120.0
