# SPDX-License-Identifier: Apache-2.0
"""A result that is deleted or moved while it is measured loses no trial, and is noticed within one."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.fake_campaign import Listener, fake_campaign, fake_request

from tare.errors import JournalError
from tare.journal.reader import read_journal
from tare.journal.result import ResultFolder
from tare.measure.campaign import measure_campaign
from tare.measure.kept import kept_campaign
from tare.pipeline import analyse_result
from tare.records import Outcome

pytestmark = pytest.mark.usefixtures("fake_image")


@dataclass
class Meddling(Listener):
    """Does something to the result once two trials are over."""

    meddle: Callable[[], object]
    words: list[str] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    ticks: int = 0
    spared: int = 0

    def ended(self, outcome: Outcome) -> None:
        super().ended(outcome)
        if len(self.outcomes) == 2:
            self.meddle()


def delete(result: Path) -> None:
    shutil.rmtree(result)


def move(result: Path) -> None:
    result.rename(result.with_name("moved"))


def replace_the_journal(result: Path) -> None:
    """With a copy, which looks the same."""
    shutil.copytree(result, result.with_name("copy"))
    shutil.rmtree(result)
    result.with_name("copy").rename(result)


@pytest.mark.parametrize("meddle", [delete, move, replace_the_journal])
def test_it_is_noticed_within_one_trial_and_all_that_was_measured_goes_on_elsewhere(
    meddle: Callable[[Path], None], tmp_path: Path, state: Path
) -> None:
    result = tmp_path / "result"
    listener = Meddling(lambda: meddle(result))
    campaign = fake_campaign(blocks=3)
    with pytest.raises(JournalError, match=f"{result} was deleted or moved while it was measured") as caught:
        measure_campaign(fake_request(campaign, result), listener)
    (rescued,) = (state / "rescued").iterdir()
    assert f"`tare run {rescued}` goes on there" in str(caught.value)
    assert rescued.stat().st_mode & 0o777 == 0o700
    assert [path.stat().st_mode & 0o777 for path in (rescued / "journal").iterdir()] == [0o600]
    kept = read_journal(rescued / "journal")
    assert kept.outcomes[:2] == tuple(listener.outcomes)
    assert len(kept.outcomes) == 3
    assert kept.integrity.damage == ()
    assert result.exists() == (meddle is replace_the_journal), "what was taken away is made again"
    measure_campaign(fake_request(kept_campaign(ResultFolder(rescued)), rescued), Listener())
    analysis = analyse_result(rescued)
    assert len(analysis.outcomes) == analysis.planned_trials == 9
    assert analysis.integrity.damage == ()


def test_what_cannot_be_kept_anywhere_is_told(tmp_path: Path, state: Path) -> None:
    (state / "rescued").write_text("no folder")
    listener = Meddling(lambda: delete(tmp_path / "result"))
    with pytest.raises(JournalError, match=r"deleted or moved .* cannot be kept in"):
        measure_campaign(fake_request(fake_campaign(blocks=3), tmp_path / "result"), listener)
