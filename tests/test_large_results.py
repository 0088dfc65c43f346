# SPDX-License-Identifier: Apache-2.0
"""A result too large to be read as records says what it says when it is read as records."""

from dataclasses import replace
from pathlib import Path

import pytest

from tare import pipeline
from tare.analyze.condensed import UNSEEN
from tare.pipeline import analyse_result, run_campaign
from tare.records import Analysis
from tests.fake_campaign import Listener, fake_campaign, fake_environment, fake_request, fake_workload
from tests.journal.journal_example import measured_again

pytestmark = pytest.mark.usefixtures("fake_image")


def analysed_both_ways(path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Analysis, Analysis]:
    records = analyse_result(path)
    assert not (path / "derived").exists()
    monkeypatch.setattr(pipeline, "LARGE_JOURNAL_BYTE", 0)
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
    assert [one.overhead.summary.metric for one in columns.verdicts] == [
        one.overhead.summary.metric for one in records.verdicts
    ]
    for found, expected in zip(columns.verdicts, records.verdicts, strict=True):
        assert found.overhead.typical.point == pytest.approx(expected.overhead.typical.point)
        assert (UNSEEN in found.warnings) == (iterations > 1)
    assert len(columns.controls) == len(records.controls) > 0


def test_a_trial_that_was_run_twice_counts_once_in_columns_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run_campaign(fake_request(fake_campaign(blocks=2), tmp_path / "result"), Listener())
    measured_again(tmp_path / "result" / "journal")
    records, columns = analysed_both_ways(tmp_path / "result", monkeypatch)
    assert columns.repeated_trials == records.repeated_trials
    assert len(columns.repeated_trials) == len(columns.outcomes) == len(first.outcomes)
    assert [one.overhead.typical.point for one in columns.verdicts] == pytest.approx(
        [one.overhead.typical.point for one in records.verdicts]
    )
    assert analyse_result(tmp_path / "result").repeated_trials == columns.repeated_trials
