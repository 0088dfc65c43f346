# SPDX-License-Identifier: Apache-2.0
"""A result too large to be read as records says what it says when it is read as records."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tare.analyze.warnings import UNSEEN
from tare.journal import large
from tare.journal.result import ResultFolder
from tare.journal.writer import JournalWriter
from tare.pipeline import analyse_result, run_campaign
from tare.plan.trials import plan_trials
from tare.records import Analysis, Direction, Outcome, Sample, Trial, TurnsTaken, Way
from tests.fake_campaign import (
    Listener,
    command_workload,
    fake_campaign,
    fake_environment,
    fake_request,
    fake_workload,
)
from tests.journal.journal_example import a_session, an_outcome, measured_again, records_read

pytestmark = pytest.mark.usefixtures("fake_image")


def analysed_both_ways(path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Analysis, Analysis]:
    records = analyse_result(path)
    assert not (path / "derived").exists()
    monkeypatch.setattr(large, "LARGE_JOURNAL_BYTE", 0)
    columns = analyse_result(path)
    assert (path / "derived" / "samples.parquet").is_file()
    return records, columns


@pytest.mark.parametrize(("layout", "iterations"), [("1c1p1i", 1), ("1c1p1i", 3), ("2c1p2i", 1)])
def test_columns_lead_to_the_verdicts_that_records_lead_to(
    layout: str, iterations: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workload = replace(fake_workload(), iterations=iterations)
    campaign = fake_campaign(
        fake_environment(slowdown=0.2), fake_environment("same"), workload=workload, layout=layout
    )
    run_campaign(fake_request(campaign, tmp_path / "result"), Listener())
    records, columns = analysed_both_ways(tmp_path / "result", monkeypatch)
    assert [verdict.sentence for verdict in columns.verdicts] == [
        verdict.sentence for verdict in records.verdicts
    ]
    assert [verdict.overhead.summary.metric for verdict in columns.verdicts] == [
        verdict.overhead.summary.metric for verdict in records.verdicts
    ]
    for value, expected in zip(columns.verdicts, records.verdicts, strict=True):
        assert value.overhead.typical.point == pytest.approx(expected.overhead.typical.point)
        assert (UNSEEN in value.warnings) == (iterations > 1)
    assert len(columns.controls) == len(records.controls) > 0


def test_a_trial_that_was_run_twice_counts_once_in_columns_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run_campaign(fake_request(fake_campaign(blocks=2), tmp_path / "result"), Listener())
    measured_again(tmp_path / "result" / "journal")
    records, columns = analysed_both_ways(tmp_path / "result", monkeypatch)
    assert columns.repeated_trials == records.repeated_trials
    assert len(columns.repeated_trials) == len(columns.outcomes) == len(first.outcomes)
    assert [verdict.overhead.typical.point for verdict in columns.verdicts] == pytest.approx(
        [verdict.overhead.typical.point for verdict in records.verdicts]
    )
    assert analyse_result(tmp_path / "result").repeated_trials == columns.repeated_trials


def test_trials_by_turns_lead_to_the_verdicts_that_records_lead_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their rounds are compared one by one, so that no joined sample can stand for them."""
    workload = replace(command_workload("true"), way=Way.FREEZER)
    campaign = fake_campaign(fake_environment("slow"), workload=workload)
    folder = ResultFolder(tmp_path / "result")
    folder.write_campaign(json.dumps(campaign.to_json()))
    with JournalWriter(folder.journal / "20260101T000000.000000Z-a.jsonl") as writer:
        writer.append(a_session())
        for trial in plan_trials(campaign, 1):
            writer.append(by_turns(trial))
    records, columns = analysed_both_ways(folder.path, monkeypatch)
    assert [verdict.sentence for verdict in records.verdicts if "slower by" in verdict.sentence]
    assert [verdict.sentence for verdict in columns.verdicts] == [
        verdict.sentence for verdict in records.verdicts
    ]
    assert replace(columns, outcomes=()) == replace(records, outcomes=())


def by_turns(trial: Trial) -> Outcome:
    cost = (1.2 if trial.environment.name == "slow" else 1.0) * (1 + trial.block / 1000)
    return replace(
        an_outcome(),
        trial=trial,
        samples=tuple(
            Sample(
                name="wall_s",
                value=cost * (1 + number / 100),
                unit="s",
                direction=Direction.LESS,
                instance=0,
                round=number,
                process=number,
            )
            for number in range(5)
        ),
        turns=TurnsTaken(way=Way.FREEZER, together=f"{trial.block}", arms=3, turns=5),
    )


def test_a_finished_campaign_is_run_again_without_reading_its_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run_campaign(fake_request(fake_campaign(blocks=2), tmp_path / "result"), Listener())
    monkeypatch.setattr(large, "LARGE_JOURNAL_BYTE", 0)
    run_campaign(fake_request(fake_campaign(blocks=2), tmp_path / "result"), Listener())  # adds a session
    kinds = records_read(monkeypatch)
    listener = Listener()
    again = run_campaign(fake_request(fake_campaign(blocks=2), tmp_path / "result"), listener)
    assert listener.outcomes == []
    assert len(again.outcomes) == len(first.outcomes)
    assert kinds.count("outcome") <= len(first.outcomes), "once at most, for the new session's sake"
