# SPDX-License-Identifier: Apache-2.0
"""``tare compare`` on whole campaigns of fakes: what was planted is said, and what was not is not."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tare.analyze import compare_results
from tare.commands.compare import run_compare
from tare.commands.console import PlainConsole
from tare.errors import ExitCode, InputError
from tare.pipeline import analyse_result, run_campaign
from tare.records import NATIVE, ChangeWord, ResultChange
from tare.report.across_results import comparison_json, print_comparison
from tests.fake_campaign import Listener, fake_campaign, fake_environment, fake_request, fake_workload

pytestmark = pytest.mark.usefixtures("fake_image")


def measured(folder: Path, slowdown: float, seed: int = 1, **work: float) -> Path:
    """A result with a planted overhead; the fakes' noise is another each time, so claims here are wide of it."""
    campaign = fake_campaign(
        fake_environment("box", slowdown=slowdown), workload=fake_workload(noise=0.01, **work), blocks=7
    )
    run_campaign(fake_request(replace(campaign, seed=seed), folder), Listener())
    return folder


def changes(*folders: Path) -> dict[tuple[str, str], ResultChange]:
    comparison = compare_results([analyse_result(folder) for folder in folders])
    return {(change.environment, change.metric): change for change in comparison.changes}


@pytest.fixture
def before(tmp_path: Path) -> Path:
    return measured(tmp_path / "before", 0.25)


def test_a_planted_change_is_reported_in_points(before: Path, tmp_path: Path) -> None:
    own = changes(before, measured(tmp_path / "after", 0.15, seed=2))
    (box,) = [change for change in own.values() if change.primary]
    assert (box.environment, box.word) == ("box", ChangeWord.SMALLER)
    assert box.points is not None
    assert box.points.low is not None
    assert box.points.high is not None
    assert -0.2 < box.points.low < box.points.high < 0
    assert box.sentence.startswith("box's overhead on ")
    assert " fell between these two measurements, from +2" in box.sentence
    assert "smaller by " in box.sentence
    assert box.sentence.endswith(" points (n = 7, 7)")


def test_the_interval_of_no_change_lies_about_0(before: Path, tmp_path: Path) -> None:
    own = changes(before, measured(tmp_path / "after", 0.25, seed=2))
    (box,) = [change for change in own.values() if change.primary]
    assert box.change.low is not None
    assert box.change.high is not None
    assert box.change.low < 0.02
    assert box.change.high > -0.02


def test_another_machine_changes_natives_time_and_no_overhead(before: Path, tmp_path: Path) -> None:
    slower = measured(tmp_path / "after", 0.25, seed=2)
    own = changes(before, slower)
    natives = [change for change in own.values() if change.environment == NATIVE]
    assert [change.points for change in natives] == [None]
    assert not natives[0].primary


def test_a_host_that_differs_is_said_to_by_natives_own_time(
    before: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The fakes' work takes its time from the campaign; its options are then made those of the first result again.
    slower = analyse_result(measured(tmp_path / "after", 0.25, seed=2, value=2.0))
    first = analyse_result(before)
    comparison = compare_results([first, replace(slower, outcomes=first.outcomes)])
    assert comparison.native_differs == (slower.result,)
    print_comparison(comparison, PlainConsole(), verbose=False)
    shown = " ".join(capsys.readouterr().out.split())
    assert "the host differed between these two measurements, and an overhead may differ for that" in shown
    assert comparison_json(comparison)["native_differs"] == [slower.result]


def test_no_comparison_claims_more_than_two_measurements(
    before: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    comparison = compare_results(
        [analyse_result(before), analyse_result(measured(tmp_path / "after", 0.15, seed=2))]
    )
    assert comparison.native_differs == ()
    for change in comparison.changes:
        assert " these two measurements, from " in change.sentence
    print_comparison(comparison, PlainConsole(), verbose=False)
    shown = " ".join(capsys.readouterr().out.split())
    assert "not a difference between their days. To separate the two, measure both in one campaign" in shown
    assert "the host differed" not in shown


def test_another_workload_is_not_compared_and_said_why(before: Path, tmp_path: Path) -> None:
    other = measured(tmp_path / "after", 0.25, seed=2, value=2.0)
    comparison = compare_results([analyse_result(before), analyse_result(other)])
    assert comparison.changes == ()
    assert {each.reason for each in comparison.incomparable} == {"the workload has other options"}


def test_the_same_measurements_are_not_compared_with_themselves(before: Path) -> None:
    with pytest.raises(InputError, match="hold the same measurements"):
        run_compare([before, before], as_json=False, verbose=False)
    with pytest.raises(InputError, match="at least two"):
        run_compare([before], as_json=False, verbose=False)


def test_sentences_differences_and_json_are_printed(
    before: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    after = measured(tmp_path / "after", 0.15, seed=2)
    assert run_compare([before, after], as_json=False, verbose=True) is ExitCode.DONE
    shown = capsys.readouterr().out
    assert "options of box: slowdown = 0.25 | slowdown = 0.15" in shown
    assert run_compare([before, after], as_json=True, verbose=False) is ExitCode.DONE
    printed = json.loads(capsys.readouterr().out)
    assert (printed["schema"], printed["results"]) == (1, [str(before), str(after)])
    assert {change["word"] for change in printed["changes"] if change["primary"]} == {"smaller"}
