# SPDX-License-Identifier: Apache-2.0
"""``tare run RESULT --more`` in whole campaigns with fakes: what is added, what is said, what is refused."""

from dataclasses import replace
from pathlib import Path

import pytest

from tare.errors import InputError, JournalError
from tare.journal.reader import read_journal
from tare.journal.result import ResultFolder, journal_files
from tare.measure.more import added_blocks
from tare.pipeline import analyse_result, run_campaign
from tare.records import NATIVE, Analysis, Verdict
from tare.report.machine import to_json
from tare.report.stops import second_look_error, stops_said
from tests.fake_campaign import Listener, fake_campaign, fake_environment, fake_request, fake_workload

pytestmark = pytest.mark.usefixtures("fake_image")
CAMPAIGN = fake_campaign(fake_environment(slowdown=0.01), workload=fake_workload(noise=0.002), blocks=6)


def run(folder: Path, more: int = 0) -> Analysis:
    return run_campaign(replace(fake_request(CAMPAIGN, folder), more=more), Listener())


def primary(analysis: Analysis) -> Verdict:
    (own,) = [each for each in analysis.verdicts if each.overhead.summary.primary]
    return own


def test_added_blocks_are_a_second_look_with_the_error_of_both(tmp_path: Path) -> None:
    before_all = run(tmp_path / "r")
    before = primary(before_all)
    after = run(tmp_path / "r", more=4)
    looks = primary(after).overhead.looks
    assert [(look.blocks, look.spent) for look in looks] == [(6, 1.0), (10, 1.5)]
    assert looks[0].estimate == before.overhead.typical, "the first look stays what it was"
    assert looks[1].estimate.level == pytest.approx(0.925)
    assert "(n = 10 at a second look" in primary(after).claim
    assert sum(outcome.trial.environment.name != NATIVE for outcome in after.outcomes) == 10
    assert "all looks together miss with a chance of at most 7.5 %" in stops_said(after)[-1]
    assert to_json(after)["second_look"] == stops_said(after)[-1]
    assert second_look_error(before_all) is None
    assert second_look_error(after) == pytest.approx(0.075)


def test_blocks_can_be_added_again_and_a_run_without_more_adds_none(tmp_path: Path) -> None:
    for more in (0, 2, 3):
        run(tmp_path / "r", more)
    again = run(tmp_path / "r")
    assert [(look.blocks, look.spent) for look in primary(again).overhead.looks] == [
        (6, 1.0),
        (8, 1.5),
        (11, 1.75),
    ]
    assert analyse_result(tmp_path / "r").planned_trials == 33
    assert "in 2 additions" in stops_said(again)[-1]


def test_an_unfinished_result_gets_no_blocks(tmp_path: Path) -> None:
    request = fake_request(replace(CAMPAIGN, budget_s=0.01), tmp_path / "r")
    run_campaign(request, Listener())
    with pytest.raises(InputError, match=r"is not finished .*: continue it first, with tare run"):
        run(tmp_path / "r", more=4)


def test_a_damaged_journal_gets_no_blocks(tmp_path: Path) -> None:
    run(tmp_path / "r")
    (journal,) = journal_files(ResultFolder(tmp_path / "r").journal)
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:4] + lines[5:]))
    with pytest.raises(JournalError, match="damaged"):
        run(tmp_path / "r", more=4)


def test_more_blocks_than_a_campaign_may_have_are_refused(tmp_path: Path) -> None:
    run(tmp_path / "r")
    with pytest.raises(InputError, match="--more: must be 1 to 994"):
        run(tmp_path / "r", more=1000)


@pytest.mark.parametrize("added", [(-1,), (0, 3), (10**9,)])
def test_a_journal_with_impossible_additions_is_refused(tmp_path: Path, added: tuple[int, ...]) -> None:
    run(tmp_path / "r")
    journal = read_journal(ResultFolder(tmp_path / "r").journal)
    altered = replace(journal, sessions=tuple(replace(each, added_blocks=added) for each in journal.sessions))
    with pytest.raises(JournalError, match="impossible numbers of blocks"):
        added_blocks(CAMPAIGN, altered)
