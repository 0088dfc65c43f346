# SPDX-License-Identifier: Apache-2.0
"""Looks in whole campaigns with fakes: who stops, who goes on, and that a broken run decides the same."""

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from tare.journal.reader import read_journal
from tare.measure.campaign import without_evidence
from tare.pipeline import analyse_result, run_campaign, stopped
from tare.plan.succession import arm_of
from tare.plan.trials import cells_of
from tare.records import NATIVE, Analysis, FailIf, Outcome, Ruling, Stop, Trial, Verdict, Word
from tests.fake_campaign import (
    Listener,
    command_workload,
    fake_campaign,
    fake_environment,
    fake_request,
    fake_workload,
)

pytestmark = pytest.mark.usefixtures("fake_image")
LOOKS = (6, 7)
"""As short as a first look with an interval can be."""
QUIET, NOISY = fake_workload(noise=0.0005), fake_workload(noise=0.15)


def run(tmp_path: Path, *args: object, listener: Listener | None = None, **kwargs: object) -> Analysis:
    request = fake_request(fake_campaign(*args, **kwargs), tmp_path / "result")  # type: ignore[arg-type]
    return run_campaign(request, listener or Listener())


def primary(analysis: Analysis) -> dict[str, Verdict]:
    return {
        verdict.overhead.summary.environment: verdict
        for verdict in analysis.verdicts
        if verdict.overhead.summary.primary
    }


def runs(analysis: Analysis) -> Counter[str]:
    return Counter(outcome.trial.environment.name for outcome in analysis.outcomes)


def test_a_clear_overhead_stops_at_the_first_look_and_native_leaves_with_the_last_arm(tmp_path: Path) -> None:
    listener = Listener()
    analysis = run(tmp_path, fake_environment(slowdown=0.2), workload=QUIET, looks=LOOKS, listener=listener)
    verdict = primary(analysis)["slow"]
    assert (verdict.word, verdict.overhead.stopped) == (Word.SLOWER, Stop.PRECISE)
    assert [look.blocks for look in verdict.overhead.looks] == [6]
    assert verdict.overhead.typical == verdict.overhead.looks[-1].estimate
    assert runs(analysis) == {NATIVE: 12, "slow": 6}
    assert "slow stopped at block 6: precise enough" in listener.words
    assert listener.spared == analysis.spared_trials == 3
    assert analysis.planned_trials == 3 * 6
    assert not analysis.cut_by_budget
    others = [verdict.overhead for verdict in analysis.verdicts if not verdict.overhead.summary.primary]
    assert {tuple(look.blocks for look in overhead.looks) for overhead in others} == {(6,)}, (
        "all metrics follow"
    )
    assert {control.typical.n for control in analysis.controls} == {6}


def test_what_stops_is_the_same_by_outcomes_without_their_evidence(tmp_path: Path) -> None:
    campaign = fake_campaign(fake_environment(slowdown=0.2), workload=QUIET, looks=LOOKS)
    outcomes = run_campaign(fake_request(campaign, tmp_path / "result"), Listener()).outcomes
    (by_all,) = stopped(campaign, outcomes, ())
    assert by_all.environment == "slow"
    assert stopped(campaign, list(map(without_evidence, outcomes)), ()) == (by_all,)


def test_noise_without_an_overhead_goes_on_to_the_last_block(tmp_path: Path) -> None:
    analysis = run(tmp_path, fake_environment(), workload=NOISY, looks=LOOKS)
    verdict = primary(analysis)["slow"]
    assert verdict.overhead.stopped is Stop.OUT_OF_BLOCKS
    assert [look.blocks for look in verdict.overhead.looks] == list(LOOKS)
    assert runs(analysis) == {NATIVE: 14, "slow": 7}
    assert analysis.spared_trials == 0


def test_what_has_stopped_leaves_and_the_others_go_on(tmp_path: Path) -> None:
    stops, stays = fake_environment("stops"), fake_environment("stays", slowdown=0.3)
    fail_if = (FailIf(text="stays x overhead > 1%", threshold=0.01, environment="stays", metric="x"),)
    analysis = run(tmp_path, stops, stays, workload=QUIET, looks=LOOKS, fail_if=fail_if)
    assert primary(analysis)["stops"].overhead.stopped is Stop.EQUIVALENT
    assert primary(analysis)["stops"].word is Word.WITHIN
    assert runs(analysis)["stops"] == 6
    assert runs(analysis)["stays"] == 7
    assert runs(analysis)[NATIVE] == 2 * runs(analysis)["stays"]
    done = list(cells_of(outcome.trial for outcome in analysis.outcomes))
    assert len(done) == 7
    assert all(arm_of(before[-1]) == arm_of(after[0]) for before, after in pairwise(done))


class Breaking(Listener):
    """Interrupts the run before one of its trials."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self._after = after

    def begins(self, trial: Trial) -> None:  # noqa: ARG002 - the protocol's
        if len(self.outcomes) == self._after:
            raise KeyboardInterrupt


def test_a_run_that_was_broken_and_continued_decides_as_one_that_ran_through(tmp_path: Path) -> None:
    campaign = fake_campaign(
        fake_environment("same"), fake_environment("slow", slowdown=0.2), workload=QUIET, looks=LOOKS
    )
    whole = run_campaign(fake_request(campaign, tmp_path / "whole"), Listener())
    request = fake_request(campaign, tmp_path / "broken")
    try:
        run_campaign(request, Breaking(23))
    except KeyboardInterrupt:
        analyse_result(request.folder.path)
    broken = run_campaign(request, Listener())
    assert [_place(outcome) for outcome in broken.outcomes] == [_place(outcome) for outcome in whole.outcomes]
    reasons = {name: verdict.overhead.stopped for name, verdict in primary(broken).items()}
    assert reasons == {"same": Stop.EQUIVALENT, "slow": Stop.PRECISE}


def _place(outcome: Outcome) -> str:
    return outcome.trial.identity


def test_a_campaign_that_is_not_over_shows_the_last_look_reached(tmp_path: Path) -> None:
    request = fake_request(fake_campaign(workload=NOISY, looks=LOOKS), tmp_path / "result")
    with pytest.raises(KeyboardInterrupt):
        run_campaign(request, Breaking(3 * 7 - 1))
    analysis = analyse_result(request.folder.path)
    overhead = primary(analysis)["slow"].overhead
    assert (overhead.typical.n, overhead.stopped) == (6, None)
    assert len(analysis.outcomes) == 20


def test_the_end_of_the_budget_is_a_last_look(tmp_path: Path) -> None:
    workload = command_workload("/bin/sleep", "0.05")
    analysis = run(tmp_path, workload=workload, looks=(6, 100, 300), budget_s=2.5)
    overhead = primary(analysis)["slow"].overhead
    assert analysis.cut_by_budget
    assert overhead.stopped is Stop.OUT_OF_BUDGET
    assert overhead.looks[-1].blocks == overhead.typical.n
    assert runs(analysis)["slow"] - overhead.typical.n in {0, 1}  # the budget may end within a block
    assert overhead.looks[-1].spent == 1.0


def test_a_condition_stops_its_arm_as_soon_as_it_is_answered(tmp_path: Path) -> None:
    asked = FailIf(text="overhead > 10%", threshold=0.1)
    analysis = run(
        tmp_path,
        fake_environment("same"),
        fake_environment("slow", slowdown=0.2),
        workload=fake_workload(noise=0.01),
        looks=LOOKS,
        fail_if=(asked,),
    )
    ruled = {decision.environment: decision for decision in analysis.decisions}
    assert ruled["slow"].ruling is Ruling.EXCEEDED
    assert ruled["same"].ruling is Ruling.KEPT
    assert "slow (time_s of work on 1c1p1i): the overhead exceeds 10 %: +" in ruled["slow"].sentence
    assert {verdict.overhead.stopped for verdict in primary(analysis).values()} == {Stop.DECIDED}
    assert runs(analysis) == {NATIVE: 12, "same": 6, "slow": 6}


def test_the_journal_of_an_earlier_version_has_one_look(tmp_path: Path) -> None:
    request = fake_request(fake_campaign(workload=QUIET, blocks=6), tmp_path / "result")
    run_campaign(request, Listener())
    kept = request.folder.path / "campaign.json"
    text = kept.read_text()
    kept.write_text(text.replace('"looks": [\n  6\n ],', ""))
    assert text != kept.read_text()
    overhead = primary(analyse_result(request.folder.path))["slow"].overhead
    assert (overhead.typical.n, overhead.stopped, overhead.typical.level) == (6, Stop.OUT_OF_BLOCKS, 0.95)
    assert len(read_journal(request.folder.journal).outcomes) == 18
