# SPDX-License-Identifier: Apache-2.0
"""``tare history`` on whole campaigns of fakes: the series, the gate and what it hands to continuous integration."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tare.commands.history import GITLAB_FILE, HistoryOptions, run_history
from tare.errors import ExitCode, InputError
from tare.journal.result import ResultFolder, journal_files
from tests.test_compare_flow import measured

pytestmark = pytest.mark.usefixtures("fake_image")
WORSE = ("box overhead worse by 2%",)


EARLIER = ("z-first", "a-second", "y-third", "b-fourth")


def earlier(folder: Path, results: int = len(EARLIER)) -> Path:
    for seed, name in enumerate(EARLIER[:results]):
        measured(folder / name, 0.10, seed=seed + 1)
    return folder


@pytest.fixture
def _every_result_on_another_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tare.analyze.history.DAY_S", 0.0)


@pytest.mark.usefixtures("_every_result_on_another_day")
def test_a_planted_regression_fails_the_gate_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    results = earlier(tmp_path / "results-in-a-folder-whose-path-no-narrow-terminal-holds-in-a-line")
    measured(results / "m-newest", 0.25, seed=5)
    monkeypatch.chdir(tmp_path)
    options = HistoryOptions(fail_if=WORSE, junit=tmp_path / "junit.xml", annotations="github")
    assert run_history(results, options) is ExitCode.FELL_SHORT
    shown = capsys.readouterr().out
    assert "fail if box overhead worse by 2%: fail: box's overhead on" in shown
    assert "::error title=box overhead worse by 2%25 (time_s)::box's overhead" in shown
    places = [shown.index(f"{results / name}\n") for name in (*EARLIER, "m-newest")]
    assert places == sorted(places)
    suite = ET.parse(tmp_path / "junit.xml").getroot()  # noqa: S314 - written by the program itself
    assert (suite.get("tests"), suite.get("failures"), len(suite.findall("testcase/failure"))) == (
        "1",
        "1",
        1,
    )
    gitlab = HistoryOptions(fail_if=WORSE, annotations="gitlab", as_json=True)
    assert run_history(results, gitlab) is ExitCode.FELL_SHORT
    (finding,) = json.loads(GITLAB_FILE.read_text())
    assert set(finding) == {"description", "check_name", "fingerprint", "severity", "location"}
    printed = json.loads(capsys.readouterr().out)
    (answer,) = printed["regressions"]
    assert (answer["ruling"], answer["missing_days"]) == ("exceeded", 0)
    assert answer["days"] == [str(results / name) for name in EARLIER]


def test_results_of_one_day_decide_nothing_about_days(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measured(earlier(tmp_path) / "m-newest", 0.25, seed=5)
    options = HistoryOptions(fail_if=WORSE, annotations="github")
    assert run_history(tmp_path, options) is ExitCode.DONE
    (command,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("::")]
    assert command.startswith("::warning title=box overhead worse by 2%25 (time_s)::box's overhead")
    assert "undecided, as days differ too: +1" in command
    assert "points between two measurements, the newest and the median of the earlier (n = 7, 7)" in command
    assert command.endswith("would show how much days differ, and 3 are missing")


@pytest.mark.usefixtures("_every_result_on_another_day")
def test_three_earlier_days_lack_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured(earlier(tmp_path, 3) / "m-newest", 0.25, seed=5)
    assert run_history(tmp_path, HistoryOptions(fail_if=WORSE, as_json=True)) is ExitCode.DONE
    (answer,) = json.loads(capsys.readouterr().out)["regressions"]
    assert (answer["ruling"], answer["missing_days"], len(answer["days"])) == ("undecided", 1, 3)
    assert answer["increase"]["low"] > 0.02
    assert answer["sentence"].endswith("and 1 is missing")


def test_no_change_passes_the_gate_and_one_result_has_nothing_to_compare(tmp_path: Path) -> None:
    options = HistoryOptions(fail_if=("overhead worse by 8%",))
    measured(tmp_path / "one", 0.10)
    assert run_history(tmp_path, options) is ExitCode.CANNOT
    assert run_history(tmp_path, HistoryOptions()) is ExitCode.DONE
    measured(tmp_path / "two", 0.10, seed=2)
    assert run_history(tmp_path, options) is ExitCode.DONE


def test_a_result_that_cannot_be_read_does_not_pass_the_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (newest,) = journal_files(ResultFolder(measured(earlier(tmp_path, 2) / "newest", 0.1)).journal)
    newest.write_text("no journal\n")
    assert run_history(tmp_path, HistoryOptions(fail_if=("overhead worse by 50%",))) is ExitCode.CANNOT
    assert "left out: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (HistoryOptions(fail_if=("overhead > 2%",)), 'is no condition; write such as "overhead worse by 2%"'),
        (HistoryOptions(fail_if=("boxx overhead worse by 2%",)), "has no environment 'boxx'"),
        (HistoryOptions(annotations="gitea"), "must be github or gitlab"),
        (HistoryOptions(annotations="github"), "need a condition"),
    ],
)
def test_wrong_options_are_refused_with_an_example(
    tmp_path: Path, options: HistoryOptions, words: str
) -> None:
    measured(tmp_path / "one", 0.10)
    with pytest.raises(InputError, match=words.replace("(", r"\(")):
        run_history(tmp_path, options)


def test_a_folder_without_a_result_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no result below it"):
        run_history(tmp_path, HistoryOptions())
