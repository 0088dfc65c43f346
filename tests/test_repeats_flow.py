# SPDX-License-Identifier: Apache-2.0
"""Several runs within one start, from the campaign to the verdict, with fakes."""

from dataclasses import replace
from pathlib import Path

import pytest

from tare.journal.reader import read_journal
from tare.measure.campaign import measure_campaign
from tare.pipeline import run_campaign
from tare.plan.campaign import Campaign
from tare.plan.order import Order
from tare.records import Analysis, Exclude, IterationCourse, OrderWord, Outcome, Status, Word
from tests.fake_campaign import (
    Listener,
    command_workload,
    fake_campaign,
    fake_environment,
    fake_request,
    fake_workload,
)

pytestmark = pytest.mark.usefixtures("fake_image")
VALUES = (1.0, 2.0, 4.0, 8.0)


def run(campaign: Campaign, folder: Path) -> Analysis:
    """Whatever else this machine does meanwhile."""
    undisturbed = replace(campaign, exclude=Exclude(foreign_load=None))
    return run_campaign(fake_request(undisturbed, folder / "result"), Listener())


def repeated(count: int, **options: float) -> Campaign:
    workload = replace(fake_workload(**options), iterations=count)
    return fake_campaign(fake_environment(slowdown=0.2), workload=workload, blocks=6)


def ordered(growth: float, blocks: int = 6) -> Campaign:
    workload = fake_workload(noise=0.001, sleep_s=0.0)
    order = Order(
        workload=workload,
        option="value",
        values=VALUES,
        boots=blocks,
        layout=fake_campaign().layouts[0],
        metrics=("time_s",),
    )
    environment = fake_environment("ageing", accumulate=growth)
    # With six boots in orders drawn at random an unlucky draw is two points off, as the tests allow.
    return replace(fake_campaign(environment, blocks=blocks), workloads=(), orders=(order,), seed=1)


def test_iterations_never_count_as_n_and_the_first_is_a_metric_of_its_own(tmp_path: Path) -> None:
    analysis = run(repeated(3, noise=0.001), tmp_path)
    (steady,) = [verdict for verdict in analysis.verdicts if verdict.overhead.summary.primary]
    assert (steady.word, steady.overhead.typical.n) == (Word.SLOWER, 6)
    assert steady.overhead.typical.point == pytest.approx(0.2, abs=0.01)
    names = {verdict.overhead.summary.metric for verdict in analysis.verdicts}
    assert names >= {"time_s", "time_s (first)", "wall_s", "wall_s (first)"}


def test_every_run_is_kept_with_its_iteration_and_its_uptime(tmp_path: Path) -> None:
    analysis = run(repeated(3), tmp_path)
    for outcome in analysis.outcomes:
        assert [each.iteration for each in outcome.instances] == [0, 1, 2]
        uptimes_s = [each.uptime_s or 0.0 for each in outcome.instances]
        assert 0 < uptimes_s[0] < uptimes_s[1] < uptimes_s[2] < outcome.elapsed_s
        assert [sample.iteration for sample in outcome.samples if sample.name == "wall_s"] == [0, 1, 2]
        assert outcome.barrier_skew_s is None  # one instance


def test_each_instance_runs_in_each_iteration(tmp_path: Path) -> None:
    campaign = replace(repeated(2), layouts=fake_campaign(layout="1c2p2i").layouts, blocks=1, looks=())
    outcome = run(campaign, tmp_path).outcomes[0]
    assert [(run.iteration, run.instance) for run in outcome.instances] == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_the_raw_output_of_every_iteration_is_kept(tmp_path: Path) -> None:
    outcome = run(replace(repeated(2), blocks=1, looks=()), tmp_path).outcomes[0]
    folder = tmp_path / "result" / "raw" / outcome.trial.identity
    assert sorted(path.name for path in folder.iterdir()) == ["i0-0.stdout", "i0-1.stdout"]


def test_a_run_that_fails_fails_the_trial_and_no_further_one_begins(tmp_path: Path) -> None:
    workload = replace(command_workload("sh", "-c", "test ! -e ../once && touch ../once"), iterations=4)
    outcome = failed(fake_campaign(workload=workload, blocks=1), tmp_path)
    assert len(outcome.instances) == 2
    assert outcome.reason == "sh ended with exit code 1"


def failed(campaign: Campaign, folder: Path) -> Outcome:
    outcomes = [outcome for outcome in run(campaign, folder).outcomes if outcome.status is Status.FAILED]
    assert len(outcomes) == 3
    return outcomes[0]


def test_the_time_limit_is_that_of_one_run(tmp_path: Path) -> None:
    workload = replace(command_workload("sleep", "0.5"), iterations=3)
    analysis = run(fake_campaign(workload=workload, blocks=1, time_s=1.0), tmp_path)
    assert {outcome.status for outcome in analysis.outcomes} == {Status.OK}


def test_a_budget_that_ends_within_a_series_ends_the_trial(tmp_path: Path) -> None:
    workload = replace(command_workload("sleep", "0.3"), iterations=100)
    request = fake_request(fake_campaign(workload=workload, blocks=1, budget_s=1.0), tmp_path / "result")
    assert measure_campaign(request, Listener())
    assert read_journal(request.folder.journal).outcomes == ()


def test_courses_are_told_where_there_are_enough_iterations(tmp_path: Path) -> None:
    campaign = replace(repeated(8, noise=0.01, sleep_s=0.0), blocks=2, looks=())
    steadiness = {item.environment: item for item in run(campaign, tmp_path).steadiness}
    assert (steadiness["native"].starts, steadiness["slow"].starts) == (4, 2)
    assert IterationCourse.SHORT not in steadiness["native"].counts


def test_the_clocks_are_tested_once_for_each_environment(tmp_path: Path) -> None:
    analysis = run(fake_campaign(fake_environment(clock="honest"), blocks=2), tmp_path)
    tested = [outcome for outcome in analysis.outcomes if outcome.clock_quality]
    assert sorted(outcome.trial.environment.name for outcome in tested) == ["native", "slow"]
    for outcome in tested:
        (quality,) = outcome.clock_quality
        assert quality.own_clock == (outcome.trial.environment.name == "slow")
        assert set(quality.clocks) == {"CLOCK_MONOTONIC_RAW", "CLOCK_MONOTONIC", "CLOCK_REALTIME"}
        assert not any(clock.backward_steps for clock in quality.clocks.values())
        assert outcome.facts["step of CLOCK_REALTIME"] == "none"


def test_planted_state_is_found_and_native_has_none(tmp_path: Path) -> None:
    analysis = run(ordered(0.02), tmp_path)
    order_verdicts = {order_verdict.summary.environment: order_verdict for order_verdict in analysis.orders}
    assert set(order_verdicts) == {"native", "ageing"}
    assert order_verdicts["ageing"].word is OrderWord.ACCUMULATES
    assert order_verdicts["ageing"].growth.point == pytest.approx(1.02**3 - 1, abs=0.025)
    assert order_verdicts["native"].word is not OrderWord.ACCUMULATES
    assert analysis.verdicts == ()


def test_an_experiment_is_continued_where_it_was_cut(tmp_path: Path) -> None:
    campaign = ordered(0.02, blocks=2)
    first = run(campaign, tmp_path)
    again = run(campaign, tmp_path)
    assert len(first.outcomes) == len(again.outcomes) == again.planned_trials == 2 * 2 * 3
