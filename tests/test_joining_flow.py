# SPDX-License-Identifier: Apache-2.0
"""Environments that come and go between the sessions of a result, in whole campaigns with fakes."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from tare.environments.fake import Fake
from tare.measure import usable
from tare.measure.campaign import Request
from tare.nodes.provider import Probe
from tare.pipeline import analyse_result, run_campaign
from tare.plan.trials import plan_trials
from tare.records import NATIVE, Analysis, Environment, Stop, Trial, Verdict
from tests.fake_campaign import FAKES, Listener, fake_campaign, fake_environment, fake_request, fake_workload

pytestmark = pytest.mark.usefixtures("fake_image")
STEADY, LATE = fake_environment("steady"), Environment(name="late", technology="chroot")
QUIET = fake_workload(noise=0.0005)


class Coming(Fake):
    """Missing until it is there."""

    def __init__(self, *, usable: bool) -> None:
        self._usable = usable

    def probe(self) -> Probe:
        return Probe(usable=True) if self._usable else Probe(usable=False, reason="gone", remedy="fetch it")


class Breaking(Listener):
    """Interrupts the run before one of its trials."""

    def __init__(self, after: int | None = None) -> None:
        super().__init__()
        self._after = after

    def begins(self, trial: Trial) -> None:  # noqa: ARG002 - the protocol's
        if len(self.outcomes) == self._after:
            raise KeyboardInterrupt


class Result:
    """One result folder, measured in sessions in which ``late`` is there or not."""

    def __init__(self, folder: Path, *environments: Environment, **kwargs: object) -> None:
        campaign = fake_campaign(*environments, workload=QUIET, **kwargs)  # type: ignore[arg-type]
        self.request = fake_request(campaign, folder)

    def session(self, *, late: bool, trials: int | None = None) -> tuple[Analysis, Listener]:
        """Measure until the end, or until so many trials have been run."""
        providers = {**FAKES, "chroot": Coming(usable=late)}
        listener = Breaking(trials)
        request: Request = replace(self.request, providers=providers)
        if trials is None:
            return run_campaign(request, listener), listener
        with pytest.raises(KeyboardInterrupt):
            run_campaign(request, listener)
        return analyse_result(request.folder.path), listener


def blocks_of(analysis: Analysis, environment: str) -> list[int]:
    return sorted(
        outcome.trial.block for outcome in analysis.outcomes if outcome.trial.environment.name == environment
    )


def primary(analysis: Analysis) -> dict[str, Verdict]:
    return {
        verdict.overhead.summary.environment: verdict
        for verdict in analysis.verdicts
        if verdict.overhead.summary.primary
    }


def test_what_was_missing_is_tried_again_and_joins_in_the_blocks_that_have_not_begun(tmp_path: Path) -> None:
    result = Result(tmp_path / "result", STEADY, LATE, blocks=8)
    before, listener = result.session(late=False, trials=6)
    assert [(skipped.environment, skipped.blocks) for skipped in before.skipped] == [("late", None)]
    assert before.planned_trials == 3 * 8
    assert "late is skipped: gone; fetch it" in listener.words
    after, listener = result.session(late=True)
    assert "late is usable now: 6 of its 8 blocks are left, the others went on without it" in listener.words
    assert any(words.startswith("24 of 30 trials in 6 blocks") for words in listener.words)
    assert blocks_of(after, "late") == [2, 3, 4, 5, 6, 7]
    assert Counter(blocks_of(after, NATIVE)) == dict.fromkeys(range(8), 2), "no native run is repeated"
    assert after.planned_trials == len(after.outcomes) == 30
    assert not after.cut_by_budget
    verdict = primary(after)["late"]
    assert (verdict.overhead.typical.n, verdict.overhead.summary.dropped_blocks) == (6, 2)
    assert not any("not run together" in warning for warning in verdict.warnings)
    (skipped,) = after.skipped
    assert (skipped.environment, skipped.reason, skipped.blocks) == ("late", "gone, at that time", 2)


def test_what_missed_no_block_is_not_said_to_have_missed_any(tmp_path: Path) -> None:
    result = Result(tmp_path / "result", LATE, blocks=6)
    result.session(late=False)
    after, listener = result.session(late=True)
    assert "late is usable now, and no block went on without it" in listener.words
    assert after.skipped == ()


def test_a_block_that_has_begun_without_it_goes_on_without_it(tmp_path: Path) -> None:
    """Its native runs may be hours old."""
    result = Result(tmp_path / "result", STEADY, LATE, blocks=3)
    result.session(late=False, trials=4)
    after, _ = result.session(late=True)
    assert blocks_of(after, "late") == [2]
    assert after.planned_trials == len(after.outcomes) == 10


def test_a_run_that_was_broken_in_the_middle_of_a_block_completes_it_when_nothing_was_missing(
    tmp_path: Path,
) -> None:
    result = Result(tmp_path / "result", STEADY, LATE, blocks=3)
    result.session(late=True, trials=5)
    after, _ = result.session(late=True)
    assert blocks_of(after, "late") == [0, 1, 2]
    assert after.skipped == ()


def test_what_goes_away_and_comes_back_lacks_the_blocks_between(tmp_path: Path) -> None:
    result = Result(tmp_path / "result", STEADY, LATE, blocks=6)
    result.session(late=True, trials=8)
    between, _ = result.session(late=False, trials=6)
    assert blocks_of(between, "late") == [0, 1]
    assert between.planned_trials == 2 + 3 * 6, "what is done stays planned"
    after, _ = result.session(late=True)
    assert blocks_of(after, "late") == [0, 1, 4, 5]
    assert [(skipped.environment, skipped.blocks) for skipped in after.skipped] == [("late", 2)]


def test_when_no_block_is_left_for_it_a_new_result_is_advised_and_nothing_is_run(tmp_path: Path) -> None:
    result = Result(tmp_path / "result", STEADY, LATE, blocks=2)
    result.session(late=False)
    after, listener = result.session(late=True)
    assert listener.outcomes == []
    advice = f"begin a new result: tare run {tmp_path / 'result' / 'campaign.json'}"
    assert any("no block is left for it" in words and words.endswith(advice) for words in listener.words)
    assert [(skipped.environment, skipped.blocks) for skipped in after.skipped] == [("late", 2)]
    assert after.planned_trials == len(after.outcomes) == 6


def test_without_any_usable_environment_no_block_is_used_up(tmp_path: Path) -> None:
    """Native alone would be compared with nothing, and whoever mends it would find no block left."""
    result = Result(tmp_path / "result", LATE, blocks=3)
    before, listener = result.session(late=False)
    assert before.outcomes == ()
    assert not any("late is skipped" in words for words in listener.words), "the exit's message says it"
    after, _ = result.session(late=True)
    assert blocks_of(after, "late") == [0, 1, 2]
    assert after.skipped == ()
    assert after.planned_trials == len(after.outcomes) == 9


def test_a_block_that_an_environment_has_ended_is_completed_without_it(tmp_path: Path) -> None:
    result = Result(tmp_path / "result", LATE, blocks=6)
    planned = plan_trials(result.request.campaign, result.request.campaign.seed or 0)
    breaks = next(
        place + 1
        for place, (trial, after) in enumerate(pairwise(planned))
        if trial.environment.name == "late" and after.block == trial.block
    )
    result.session(late=True, trials=breaks)
    after, listener = result.session(late=False)
    begun = planned[breaks - 1].block
    assert Counter(blocks_of(after, NATIVE)) == dict.fromkeys(range(begun + 1), 2)
    assert blocks_of(after, "late") == list(range(begun + 1))
    _, listener = result.session(late=False)
    assert listener.outcomes == []
    whole, _ = result.session(late=True)
    assert blocks_of(whole, "late") == list(range(6))


def test_what_is_missing_when_all_else_has_ended_is_still_said(tmp_path: Path) -> None:
    result = Result(tmp_path / "result", LATE, blocks=3)
    result.session(late=True, trials=3)
    after, _ = result.session(late=False)
    assert len(after.outcomes) == 3
    assert [(skipped.environment, skipped.blocks) for skipped in after.skipped] == [("late", 0)]


def test_a_result_that_is_whole_stays_so_when_an_environment_is_gone_later(tmp_path: Path) -> None:
    result = Result(tmp_path / "result", LATE, blocks=2)
    result.session(late=True)
    after, listener = result.session(late=False)
    assert after.skipped == ()
    assert "all 6 trials are done" in listener.words


def test_looks_count_the_blocks_that_went_on_without_it(tmp_path: Path) -> None:
    """Else what joined late would reach no look, and never have an interval of its last one."""
    result = Result(tmp_path / "result", STEADY, LATE, looks=(7, 9))
    result.session(late=False, trials=3)
    after, listener = result.session(late=True)
    late = primary(after)["late"].overhead
    assert [(look.blocks, look.n) for look in late.looks] == [(7, 6)]
    assert late.stopped in {Stop.EQUIVALENT, Stop.PRECISE}
    assert blocks_of(after, "late") == [1, 2, 3, 4, 5, 6]
    assert listener.spared == after.spared_trials == 2 * 4
    assert after.planned_trials == len(after.outcomes)


def test_native_does_not_go_on_for_what_is_missing(tmp_path: Path) -> None:
    result = Result(tmp_path / "result", STEADY, LATE, looks=(6, 8))
    result.session(late=True, trials=4)
    after, _ = result.session(late=False)
    assert max(blocks_of(after, NATIVE)) == 5, "steady has stopped, and late is not there"
    later, _ = result.session(late=True)
    assert blocks_of(later, "late") == [0, 6, 7]


def test_who_lacks_what_the_code_paths_were_pinned_to_stays_out_and_it_is_said_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = Result(tmp_path / "result", STEADY, LATE, blocks=2)
    result.session(late=False, trials=3)
    monkeypatch.setattr(
        usable, "lacking_flags", lambda asked, _: {entry.name: ("avx512f",) for entry in asked}
    )
    after, _ = result.session(late=True)
    (skipped,) = after.skipped
    assert "its processors lack avx512f" in skipped.reason
    assert skipped.remedy == "begin a new result"
    assert blocks_of(after, "late") == []
