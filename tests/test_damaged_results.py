# SPDX-License-Identifier: Apache-2.0
"""A result that was damaged says so before any figure, and the next run measures again what was lost."""

import json
import os
from pathlib import Path

import pytest

from tare.commands.show import run_show
from tare.errors import JournalError
from tare.journal import large
from tare.journal.lines import encode
from tare.journal.reader import read_journal
from tare.journal.result import ResultFolder
from tare.measure.campaign import measure_campaign
from tare.measure.kept import kept_campaign
from tare.pipeline import analyse_result, run_campaign
from tare.records import Fault
from tare.report.document import render_report
from tests.fake_campaign import Listener, fake_campaign, fake_request
from tests.journal.one_fault import put

pytestmark = pytest.mark.usefixtures("fake_image")


_MEASURED: dict[str, bytes] = {}
"""Measured once, by whichever test is the first."""


@pytest.fixture
def result(tmp_path: Path) -> Path:
    if not _MEASURED:
        run_campaign(fake_request(fake_campaign(blocks=3), tmp_path / "first"), Listener())
        for path in (tmp_path / "first").rglob("*.json*"):
            _MEASURED[path.relative_to(tmp_path / "first").as_posix()] = path.read_bytes()
    put(tmp_path / "result", _MEASURED)
    return tmp_path / "result"


def journal_of(result: Path) -> Path:
    (path,) = (result / "journal").iterdir()
    return path


def change_a_line(path: Path, number: int) -> None:
    """A digit of a value, so that all else reads as before."""
    lines = path.read_bytes().splitlines(keepends=True)
    lines[number - 1] = lines[number - 1].replace(b'"elapsed_s":0.', b'"elapsed_s":7.', 1)
    path.write_bytes(b"".join(lines))


def test_show_says_first_what_is_wrong_and_the_report_and_the_json_too(
    result: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = journal_of(result)
    change_a_line(path, 5)
    sentence = f"journal/{path.name}, line 5: altered since it was written, not used"
    assert run_show(result, as_json=False, show_all=False) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.startswith(
        "Warning: the journal is not as it was written; records that are not used count in no"
    )
    assert shown.index(f"journal/{path.name}, line 5:") < shown.index("overhead against native")
    assert run_show(result, as_json=True, show_all=False) == 0
    document = json.loads(capsys.readouterr().out)["journal"]
    assert document["checked"]
    assert document["damage"] == [
        {"file": f"journal/{path.name}", "fault": "altered", "line": 5, "lines": 1, "sentence": sentence}
    ]
    page = render_report(analyse_result(result))
    assert page.index(sentence) < page.index('aria-label="Answer"')
    assert "Everything planned ran, and every trial counts" not in page
    assert run_show(result, as_json=False, show_all=False, treatment="r15") == 0
    assert f"journal/{path.name}, line 5:" in " ".join(capsys.readouterr().out.split())


def test_what_was_lost_is_measured_again(result: Path) -> None:
    whole = analyse_result(result).outcomes
    path = journal_of(result)
    change_a_line(path, 5)
    listener = Listener()
    measure_campaign(fake_request(fake_campaign(blocks=3), result), listener)
    assert f"journal/{path.name}, line 5: altered since it was written, not used" in listener.words
    assert [outcome.trial for outcome in listener.outcomes] == [whole[2].trial]
    again = analyse_result(result)
    assert {outcome.trial.identity for outcome in again.outcomes} == {
        outcome.trial.identity for outcome in whole
    }
    assert len(again.integrity.damage) == 1


def test_a_tail_that_is_gone_is_told_once_the_result_was_continued(result: Path) -> None:
    measure_campaign(fake_request(fake_campaign(blocks=3), result), Listener())
    first = min((result / "journal").iterdir())
    lines = first.read_bytes().splitlines(keepends=True)
    first.write_bytes(b"".join(lines[:-3]))
    (damage,) = analyse_result(result).integrity.damage
    assert (damage.fault, damage.lines) == (Fault.REMOVED, 3)


def test_a_result_of_an_earlier_version_goes_on_and_reads_as_not_checked(
    result: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, journal = journal_of(result), read_journal(result / "journal")
    path.write_bytes(encode(journal.sessions[0]) + b"".join(map(encode, journal.outcomes[:-1])))
    listener = Listener()
    measure_campaign(fake_request(fake_campaign(blocks=3), result), listener)
    assert len(listener.outcomes) == 1
    assert run_show(result, as_json=False, show_all=False) == 0
    shown = capsys.readouterr().out
    assert shown.count("not checked") == 1
    assert "Warning: the journal" not in shown
    assert not json.loads(_json(result, capsys))["journal"]["checked"]


def _json(result: Path, capsys: pytest.CaptureFixture[str]) -> str:
    run_show(result, as_json=True, show_all=False)
    return capsys.readouterr().out


def test_a_changed_campaign_is_told_and_not_continued(
    result: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = result / "campaign.json"
    path.write_text(path.read_text().replace('"margin": 0.01', '"margin": 0.05'))
    run_show(result, as_json=False, show_all=False)
    assert "campaign.json: not what it was when the trials were run" in " ".join(
        capsys.readouterr().out.split()
    )
    with pytest.raises(JournalError, match="restore it from a copy"):
        measure_campaign(fake_request(kept_campaign(ResultFolder(result)), result), Listener())


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    before = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_derived_columns_that_were_damaged_are_made_anew(
    result: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large, "LARGE_JOURNAL_BYTE", 0)
    before = analyse_result(result)
    for name in ("outcomes.parquet", "samples.parquet", "state.json"):
        for damage in (flip, _empty, Path.unlink):
            damage(result / "derived" / name)
            after = analyse_result(result)
            assert after.outcomes == before.outcomes, (name, damage)
            assert [verdict.sentence for verdict in after.verdicts] == [
                verdict.sentence for verdict in before.verdicts
            ]


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def test_columns_of_another_journal_of_the_same_size_and_time_are_not_believed(
    result: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large, "LARGE_JOURNAL_BYTE", 0)
    assert analyse_result(result).integrity.damage == ()
    flip(journal_of(result))
    damage = analyse_result(result).integrity.damage
    assert damage
    assert analyse_result(result).integrity.damage == damage, "the columns do not say it again"
