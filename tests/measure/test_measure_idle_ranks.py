# SPDX-License-Identifier: Apache-2.0
"""Waiting MPI processes yield where others use the processors: decided by block, alike for all of its arms."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.busy_example import QUIET, busy_load
from tests.fake_campaign import Listener, fake_campaign, fake_environment, fake_request
from tests.plan.plan_example import outcome

from tare.measure.campaign import measure_campaign
from tare.measure.context import Context
from tare.measure.idle_ranks import FACT, SPIN, YIELD, IdleRanks, idle_ranks_fact
from tare.measure.session import run_trials
from tare.plan.trials import plan_trials
from tare.records import HostLoad, Outcome
from tare.workloads.kind import Job, Shape
from tare.workloads.mpi import launch

BUSY = busy_load(1.0)


def shape(*, shared: bool) -> Shape:
    return Shape(
        processors=2, memory_byte=1 << 28, instance=0, tools_directory="/opt/tare/bin", oversubscribed=shared
    )


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    """Three trials in each of four blocks; nobody ran them."""
    trials = plan_trials(fake_campaign(fake_environment("other"), blocks=4), 1)
    return [replace(outcome(trial, 1.0), load=QUIET) for trial in trials]


def played(outcomes: list[Outcome], loads: dict[int, HostLoad], *, first: bool) -> dict[int, set[bool]]:
    """Each block's answers, asked before every trial, while a block's last trial alone has the block's load."""
    done: list[Outcome] = []
    ranks = IdleRanks(done, busy=first)
    answers: dict[int, set[bool]] = {}
    for place, each in enumerate(outcomes):
        block = each.trial.block
        answers.setdefault(block, set()).add(ranks.yield_in(block))
        last = place + 1 == len(outcomes) or outcomes[place + 1].trial.block != block
        done.append(replace(each, load=loads.get(block, QUIET) if last else QUIET))
    return answers


def test_the_first_block_goes_by_the_look_before_the_start(outcomes: list[Outcome]) -> None:
    assert played(outcomes, {}, first=True) == {0: {True}, 1: {False}, 2: {False}, 3: {False}}
    assert played(outcomes, {}, first=False)[0] == {False}


def test_later_blocks_go_by_the_block_before_and_all_arms_of_one_agree(outcomes: list[Outcome]) -> None:
    answers = played(outcomes, {0: BUSY, 2: BUSY}, first=False)
    assert answers == {0: {False}, 1: {True}, 2: {False}, 3: {True}}


@pytest.mark.parametrize("fact", [YIELD, SPIN])
def test_a_block_that_an_earlier_session_began_is_finished_as_it_was_begun(
    outcomes: list[Outcome], fact: str
) -> None:
    begun = [replace(outcomes[0], facts={FACT: fact})]
    assert IdleRanks(begun, busy=fact == SPIN).yield_in(0) is (fact == YIELD)
    assert IdleRanks(begun, busy=True).yield_in(1) is True, "the next block goes by this session's look"


def test_without_anybody_else_mpi_runs_as_installed_and_says_so() -> None:
    for shared, value, fact in ((False, "0", SPIN), (True, "1", YIELD)):
        argv = launch(shape(shared=shared))
        assert argv[argv.index("mpi_yield_when_idle") + 1] == value
        assert idle_ranks_fact(Job(argv=argv)) == {FACT: fact}
    assert idle_ranks_fact(Job(argv=("/bin/true",))) == {}


@pytest.mark.usefixtures("fake_image")
def test_every_arm_of_a_block_is_seated_alike_in_a_whole_campaign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loads come and go between the trials of each block."""
    given = iter([BUSY, QUIET, QUIET] + [QUIET] * 3 + [QUIET, QUIET, BUSY] + [QUIET] * 3)
    seen: list[tuple[int, bool]] = []
    true_run = run_trials

    def run(context: Context, *args: object) -> bool:
        asked = context.idle_ranks.yield_in

        def watched(block: int) -> bool:
            seen.append((block, asked(block)))
            return seen[-1][1]

        context.idle_ranks.yield_in = watched  # type: ignore[method-assign]
        return true_run(context, *args)  # type: ignore[arg-type]

    monkeypatch.setattr("tare.measure.others.OthersWatch.load", lambda *_: next(given))
    monkeypatch.setattr("tare.measure.campaign.run_trials", run)
    measure_campaign(fake_request(fake_campaign(blocks=4), tmp_path / "result"), Listener())
    answers: dict[int, set[bool]] = {}
    for block, answer in seen:
        answers.setdefault(block, set()).add(answer)
    assert answers == {0: {False}, 1: {True}, 2: {False}, 3: {True}}
    assert len(seen) == 12
