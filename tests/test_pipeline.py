# SPDX-License-Identifier: Apache-2.0
"""The whole flow with fakes: no root, no containers, seconds."""

import gc
from pathlib import Path

import pytest

from tare.errors import ImageError, InputError
from tare.image.store import Image
from tare.measure.campaign import measure_campaign
from tare.pipeline import analyse_result, run_campaign
from tare.records import Analysis, Status, Word
from tests.fake_campaign import (
    Listener,
    command_workload,
    fake_campaign,
    fake_environment,
    fake_request,
    fake_workload,
)
from tests.journal.journal_example import measured_again

pytestmark = pytest.mark.usefixtures("fake_image")


def run(tmp_path: Path, *args: object, **kwargs: object) -> Analysis:
    request = fake_request(fake_campaign(*args, **kwargs), tmp_path / "result")  # type: ignore[arg-type]
    return run_campaign(request, Listener())


def test_a_planted_slowdown_is_found_with_its_sign_and_size(tmp_path: Path) -> None:
    workload = fake_workload(noise=0.001)
    analysis = run(tmp_path, fake_environment(slowdown=0.2), workload=workload, blocks=8)
    (verdict,) = [verdict for verdict in analysis.verdicts if verdict.overhead.summary.primary]
    assert verdict.word is Word.SLOWER
    assert verdict.overhead.typical.point == pytest.approx(0.2, abs=0.01)
    assert verdict.overhead.typical.n == 8
    assert [answer.sentence for answer in analysis.answers] == [verdict.sentence]


def test_every_planned_trial_is_journalled_once_with_both_clocks(tmp_path: Path) -> None:
    analysis = run(tmp_path, blocks=6)
    assert len(analysis.outcomes) == 18 == analysis.planned_trials
    for outcome in analysis.outcomes:
        assert outcome.status is Status.OK
        clocks = outcome.instances[0].clocks
        assert abs(clocks.wall_s - clocks.host_wall_s) <= clocks.round_trip_s


def test_each_block_has_two_native_slots_and_an_aa_row_is_judged(tmp_path: Path) -> None:
    analysis = run(tmp_path, blocks=6)
    natives = [
        outcome.trial.block for outcome in analysis.outcomes if outcome.trial.environment.name == "native"
    ]
    assert sorted(natives) == sorted([*range(6), *range(6)])
    assert any(control.summary.primary for control in analysis.controls)


def test_one_broken_environment_never_stops_the_others(tmp_path: Path) -> None:
    analysis = run(tmp_path, fake_environment("broken", broken="start"), fake_environment("works"))
    failed = {
        outcome.trial.environment.name for outcome in analysis.outcomes if outcome.status is Status.FAILED
    }
    judged = {verdict.overhead.summary.environment for verdict in analysis.verdicts}
    assert failed == {"broken"}
    assert "works" in judged
    assert "broken" not in judged


def test_a_broken_way_into_the_node_is_a_failed_trial_with_its_reason(tmp_path: Path) -> None:
    analysis = run(tmp_path, fake_environment("broken", broken="prefix"), blocks=1)
    (outcome,) = [outcome for outcome in analysis.outcomes if outcome.status is Status.FAILED]
    assert outcome.reason is not None
    assert "way into the node broke" in outcome.reason


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        ("fail", "exit code 3"),
        ("crash", "signal 11"),
        ("garbage", ""),
        ("truncated", ""),
        ("missing", ""),
        ("hang", "time limit"),
        ("endless", ""),
    ],
)
def test_bad_output_is_a_failed_trial_with_reason(behaviour: str, words: str, tmp_path: Path) -> None:
    analysis = run(tmp_path, workload=fake_workload(behaviour=behaviour), blocks=1, time_s=0.5)
    for outcome in analysis.outcomes:
        assert outcome.status is Status.FAILED
        assert outcome.samples == ()
        assert outcome.reason
        assert words in outcome.reason


def test_a_result_folder_is_continued_without_repeating_a_trial(tmp_path: Path) -> None:
    first = run(tmp_path, blocks=3)
    listener = Listener()
    folder = tmp_path / "result"
    measure_campaign(fake_request(fake_campaign(blocks=3), folder), listener)
    assert listener.outcomes == []
    assert analyse_result(folder).outcomes == first.outcomes


def test_trials_that_two_runs_measured_are_counted_once_and_the_rest_is_named(tmp_path: Path) -> None:
    first = run(tmp_path, blocks=3)
    measured_again(tmp_path / "result" / "journal")
    again = analyse_result(tmp_path / "result")
    assert again.outcomes == first.outcomes
    assert again.repeated_trials == tuple(outcome.trial.identity for outcome in first.outcomes)
    assert [verdict.sentence for verdict in again.verdicts] == [
        verdict.sentence for verdict in first.verdicts
    ]


def test_a_folder_of_another_campaign_is_refused_and_the_difference_named(tmp_path: Path) -> None:
    run(tmp_path, blocks=1)
    with pytest.raises(InputError, match="blocks"):
        run(tmp_path, blocks=2)


def test_the_budget_is_kept_and_cuts_whole_blocks(tmp_path: Path) -> None:
    workload = command_workload("/bin/sleep", "0.2")
    analysis = run(tmp_path, workload=workload, blocks=50, budget_s=2.5)
    assert analysis.cut_by_budget
    assert sum(outcome.elapsed_s for outcome in analysis.outcomes) <= 2.5  # what a budget is
    per_block = [outcome.trial.block for outcome in analysis.outcomes]
    assert all(per_block.count(block) == 3 for block in set(per_block))


def test_a_trial_that_the_budget_ends_is_not_counted_as_failed(tmp_path: Path) -> None:
    analysis = run(tmp_path, workload=command_workload("/bin/sleep", "30"), blocks=1, budget_s=0.5)
    assert analysis.outcomes == ()
    assert analysis.cut_by_budget


def test_several_instances_start_on_one_barrier_and_report_each(tmp_path: Path) -> None:
    workload = command_workload("/bin/sleep", "0.05")
    analysis = run(tmp_path, workload=workload, blocks=1, layout="1c1p3i")
    for outcome in analysis.outcomes:
        walls = [sample.instance for sample in outcome.samples if sample.name == "wall_s"]
        assert walls == [0, 1, 2]
        assert outcome.barrier_skew_s is not None
        assert 0 <= outcome.barrier_skew_s < 0.05  # one moment is the claim; a process may be woken late


def test_a_changed_image_is_refused(tmp_path: Path, fake_image: Image) -> None:
    (fake_image.root / "opt" / "tare" / "bin" / "burn").write_bytes(b"changed")
    with pytest.raises(ImageError, match="burn"):
        run(tmp_path, blocks=1)


def test_a_failing_pilot_stops_before_anything_is_journalled(tmp_path: Path) -> None:
    campaign = fake_campaign(workload=command_workload("/no/such/program"))
    request = fake_request(campaign, tmp_path / "result", pilot=True)
    with pytest.raises(InputError, match="/no/such/program"):
        run_campaign(request, Listener())
    assert not request.folder.path.exists()


def test_a_command_that_cannot_be_executed_is_a_failed_trial_that_reads_back(tmp_path: Path) -> None:
    analysis = run(tmp_path, workload=command_workload("/no/such/program"), blocks=1)
    assert {outcome.status for outcome in analysis.outcomes} == {Status.FAILED}
    assert all("/no/such/program" in (outcome.reason or "") for outcome in analysis.outcomes)


def test_nodes_are_gone_after_a_campaign_with_broken_starts(tmp_path: Path, state: Path) -> None:
    run(tmp_path, fake_environment("broken", broken="start"), blocks=2)
    assert list((state / "nodes").iterdir()) == []


def test_a_node_that_does_not_stop_is_said_and_removed_by_the_next_run(tmp_path: Path, state: Path) -> None:
    analysis = run(tmp_path, fake_environment("stuck", broken="stop"), blocks=1)
    (stuck,) = [outcome for outcome in analysis.outcomes if outcome.trial.environment.name == "stuck"]
    assert "told to fail at its stop" in stuck.facts["not stopped cleanly"]
    listener = Listener()
    measure_campaign(fake_request(fake_campaign(blocks=1), tmp_path / "next"), listener)
    assert any("left by a killed run" in words for words in listener.words)
    assert list((state / "nodes").iterdir()) == []


def test_the_collector_is_off_while_a_result_is_analysed_and_then_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result: list[bool] = []

    def failing(_: object) -> None:
        result.append(gc.isenabled())
        raise InputError("nothing is there")

    monkeypatch.setattr("tare.pipeline.kept_campaign", failing)
    with pytest.raises(InputError):
        analyse_result(tmp_path)
    assert (result, gc.isenabled()) == ([False], True)
