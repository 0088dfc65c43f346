# SPDX-License-Identifier: Apache-2.0
"""Whole campaigns of fakes that take turns by slices: the real stopwatch, the real protocol, planted times."""

import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest
from tests.fake_campaign import Listener, fake_campaign, fake_environment, fake_request

from tare.environments.fake import Fake
from tare.journal.reader import read_journal
from tare.measure import prepared, session
from tare.measure.campaign import measure_campaign
from tare.measure.clocks import PROBES
from tare.measure.context import Context
from tare.measure.counted import CpuUsage
from tare.measure.inspection import Inspected
from tare.measure.turns import player
from tare.measure.turns.allotment import FEWEST_ROUNDS
from tare.measure.turns.player import Player
from tare.measure.turns.together import run_together
from tare.nodes.provider import Node, NodeGroup, NodeSpec
from tare.plan.budget import next_block_fits
from tare.plan.campaign import Campaign
from tare.records import OptionValue, Outcome, Parity, Rule, Status, Trial, Turns, Way, Workload
from tare.treat import summaries

pytestmark = pytest.mark.usefixtures("fake_image")
SLOWER = fake_environment(slowdown=0.1)
TURNS = Turns(rounds=5, processes=2)


def resident(name: str = "work", **options: OptionValue) -> Workload:
    return Workload(name=name, kind="fake", options={"slices": True, **options}, way=Way.SLICES)


def campaign_of(*workloads: Workload, blocks: int = 2) -> Campaign:
    return replace(fake_campaign(SLOWER, blocks=blocks), workloads=workloads, turns=TURNS)


def outcomes_of(campaign: Campaign, folder: Path, listener: Listener | None = None) -> tuple[Outcome, ...]:
    request = fake_request(campaign, folder)
    measure_campaign(request, listener or Listener())
    return read_journal(request.folder.journal).outcomes


def test_every_arm_has_a_slice_in_every_round(tmp_path: Path) -> None:
    outcomes = outcomes_of(campaign_of(resident()), tmp_path / "result")
    assert len(outcomes) == 2 * 3
    for outcome in outcomes:
        assert (outcome.status, outcome.reason) == (Status.OK, None)
        assert [sample.round for sample in outcome.samples] == list(range(10))
        assert [sample.process for sample in outcome.samples] == [0] * 5 + [1] * 5


def test_a_planted_slowdown_is_read_from_the_rounds(tmp_path: Path) -> None:
    outcomes = outcomes_of(campaign_of(resident(noise=0.0)), tmp_path / "result")
    (summary,) = summaries(outcomes, {"work": ("time_s",)})
    assert summary.primary
    assert [block.rounds and block.rounds.rounds for block in summary.blocks] == [10, 10]
    assert summary.log_ratios == pytest.approx([math.log(1.1)] * 2)
    assert summary.control_log_ratios == pytest.approx([0.0, 0.0])


def test_the_work_of_a_slice_is_found_once_and_kept_when_a_result_is_continued(tmp_path: Path) -> None:
    campaign, folder = campaign_of(resident(value=0.001)), tmp_path / "result"
    measure_campaign(fake_request(replace(campaign, blocks=1, looks=()), folder), Listener())
    first = read_journal(fake_request(campaign, folder).folder.journal).outcomes
    counts = {tuple((outcome.turns.counts or {}).items()) for outcome in first if outcome.turns}
    assert counts == {(("fake", 60),)}


def test_workloads_of_a_block_share_the_starts_of_their_nodes(tmp_path: Path) -> None:
    outcomes = outcomes_of(campaign_of(resident("first"), resident("second"), blocks=1), tmp_path / "result")
    arms = {(outcome.trial.environment.name, outcome.trial.replicate) for outcome in outcomes}
    starts = {(outcome.trial.environment.name, outcome.node_start_s) for outcome in outcomes}
    assert (len(outcomes), len(arms)) == (6, 3)
    assert len(starts) == 3


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("fail", "exit code 3; its output says why: fake: this failure was asked for"),
        ("crash", "signal 11"),
    ],
)
def test_a_program_that_ends_in_the_middle_is_a_failed_trial(
    tmp_path: Path, behaviour: str, reason: str
) -> None:
    outcomes = outcomes_of(campaign_of(resident(behaviour=behaviour), blocks=1), tmp_path / "result")
    assert {outcome.status for outcome in outcomes} == {Status.FAILED}
    for outcome in outcomes:
        assert "ended in the middle of its turns" in (outcome.reason or "")
        assert reason in (outcome.reason or "")


def test_an_environment_that_breaks_does_not_disturb_the_others(tmp_path: Path) -> None:
    broken = fake_environment("broken", broken="start")
    campaign = replace(campaign_of(resident(), blocks=1), environments=(SLOWER, broken))
    outcomes = outcomes_of(campaign, tmp_path / "result")
    bad = [outcome for outcome in outcomes if outcome.status is not Status.OK]
    assert [outcome.trial.environment.name for outcome in bad] == ["broken"]
    assert "told to fail at its start" in (bad[0].reason or "")


def test_a_memory_kill_fails_the_workload_that_it_hit_and_no_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Group:
        kills = 0

        def cpu_s(self) -> float:
            return 0.0

        def memory_kills(self) -> int:
            return self.kills

        def refused_processes(self) -> int:
            return 0

    def killing(self: Player, token: str) -> list[Mapping[str, Any]]:
        if self.attempt.trial.workload.name == "second":
            cast("Group", self.ready.up.groups[0]).kills = 1
        return plain(self, token)

    plain = Player.turn
    monkeypatch.setattr(prepared, "inspect", lambda *_: Inspected(cast("NodeGroup", Group()), {}, Parity()))
    monkeypatch.setattr(Player, "turn", killing)
    campaign = campaign_of(resident("first"), resident("second"), resident("third"), blocks=1)
    outcomes = outcomes_of(campaign, tmp_path / "result")
    bad = [outcome for outcome in outcomes if outcome.status is not Status.OK]
    assert {outcome.trial.workload.name for outcome in bad} == {"second"}
    assert len(bad) == 3
    assert all("memory limit of 256 MiB killed a process" in (outcome.reason or "") for outcome in bad)


def test_a_whole_campaign_runs_its_trials_one_by_one(tmp_path: Path) -> None:
    campaign = replace(campaign_of(Workload(name="work", kind="fake"), blocks=1), turns=None)
    outcomes = outcomes_of(campaign, tmp_path / "result")
    assert all(outcome.turns is None for outcome in outcomes)


def test_an_arm_whose_work_came_to_another_result_has_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = Player.turn

    def other_work(self: Player, token: str) -> list[Mapping[str, Any]]:
        return plain(self, token if self.name == "native" else "fake 7")

    monkeypatch.setattr(Player, "turn", other_work)
    outcomes = outcomes_of(campaign_of(resident(), blocks=1), tmp_path / "result")
    bad = [outcome for outcome in outcomes if outcome.status is not Status.OK]
    assert [outcome.trial.environment.name for outcome in bad] == ["slow"]
    assert bad[0].reason == "a slice of fake came to another result (7) than natively"


def test_clocks_and_levels_of_all_arms_are_looked_at_between_turns_and_never_in_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_work: list[bool] = [False]
    looked: Counter[str] = Counter()
    plain_turn, plain_look = Player.turn, Player.glance

    def turn(self: Player, token: str) -> list[Mapping[str, Any]]:
        at_work[0] = True
        answers = plain_turn(self, token)
        at_work[0] = False
        return answers

    def look(self: Player) -> None:
        assert not at_work[0]
        plain_look(self)
        looked[self.name] += 1

    monkeypatch.setattr(Player, "turn", turn)
    monkeypatch.setattr(Player, "glance", look)
    monkeypatch.setattr(player, "PAUSE_S", 0.0)
    own_clock = fake_environment("guest", clock="honest")
    campaign = replace(campaign_of(resident(), blocks=1), environments=(own_clock,))
    outcomes = outcomes_of(campaign, tmp_path / "result")
    assert [outcome.status for outcome in outcomes] == [Status.OK] * 3
    assert looked == {"native": 2 * 10, "guest": 10}
    (guest,) = [outcome for outcome in outcomes if outcome.trial.environment.name == "guest"]
    assert guest.facts["clock probes"] == str(PROBES + 10 + PROBES)


def test_arms_are_looked_at_once_a_second_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []
    monkeypatch.setattr(Player, "glance", lambda self: looks.append(self.name))
    monkeypatch.setattr(player, "PAUSE_S", 3600.0)
    outcomes_of(campaign_of(resident(), blocks=1), tmp_path / "result")
    assert sorted(looks) == ["native", "native", "slow"]


def context_until(until_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the budget of whatever takes turns end then."""
    plain = run_together
    monkeypatch.setattr(
        session, "run_together", lambda context, trials: plain(replace(context, until_s=until_s), trials)
    )


def test_a_block_that_outlives_the_budget_has_the_fewest_rounds_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context_until(0.0, monkeypatch)
    outcomes = outcomes_of(campaign_of(resident("first"), resident("second"), blocks=1), tmp_path / "result")
    assert len(outcomes) == 6
    for outcome in outcomes:
        assert (outcome.status, outcome.reason) == (Status.OK, None)
        assert [sample.round for sample in outcome.samples] == list(range(FEWEST_ROUNDS))
        assert outcome.turns is not None
    assert {
        block.rounds and block.rounds.rounds for each in summaries(outcomes, {}) for block in each.blocks
    } == {FEWEST_ROUNDS}


def test_the_budget_reaches_the_rounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []
    plain = run_together

    def spy(context: Context, trials: Sequence[Trial]) -> list[Outcome] | None:
        seen.append(context.until_s - time.monotonic())
        return plain(context, trials)

    monkeypatch.setattr(session, "run_together", spy)
    outcomes_of(replace(campaign_of(resident(), blocks=1), budget_s=100.0), tmp_path / "result")
    assert len(seen) == 1
    assert 50 < seen[0] <= 100


def test_the_estimate_of_the_next_block_has_the_starts_of_all_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = Fake.start

    def slow(self: Fake, spec: NodeSpec) -> Node:
        time.sleep(0.5)
        return plain(self, spec)

    monkeypatch.setattr(Fake, "start", slow)
    outcomes = outcomes_of(campaign_of(resident("first"), resident("second"), blocks=1), tmp_path / "result")
    block = [replace(outcome.trial, block=1) for outcome in outcomes]
    assert sum(outcome.elapsed_s for outcome in outcomes) > 3 * 0.5
    assert not next_block_fits(block, outcomes, 3 * 0.5)


@pytest.mark.parametrize(("share", "status"), [(0.009, Status.OK), (0.011, Status.INVALID)])
def test_a_node_that_works_while_it_waits_makes_its_own_trial_invalid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: float, status: Status
) -> None:
    plain = Player.finish

    def finish(self: Player, *, whole: bool) -> None:
        self.waiting_s, self.waiting_cpu_s = 10.0, 10.0 * share if self.name == "slow" else 0.0
        plain(self, whole=whole)

    monkeypatch.setattr(Player, "finish", finish)
    outcomes = outcomes_of(campaign_of(resident(), blocks=1), tmp_path / "result")
    result = {outcome.trial.environment.name: outcome for outcome in outcomes}
    assert (result["native"].status, result["slow"].status) == (Status.OK, status)
    if status is Status.INVALID:
        assert result["slow"].excluded_by is Rule.OUT_OF_TURN
        assert (result["slow"].reason or "").startswith(
            "slow's nodes used 1.1% of their processors while others had"
        )


def test_work_of_waiting_nodes_is_in_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used_s = count(0.0, 0.001)
    monkeypatch.setattr(CpuUsage, "_now", lambda _: next(used_s))
    for outcome in outcomes_of(campaign_of(resident(), blocks=1), tmp_path / "result"):
        assert outcome.turns is not None
        assert outcome.turns.waiting_cpu_s is not None
        assert outcome.turns.waiting_cpu_s > 0
        assert outcome.turns.waiting_s is not None
        assert outcome.turns.waiting_s > 0
