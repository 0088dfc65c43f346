# SPDX-License-Identifier: Apache-2.0
"""What ``tare calibrate`` prints, keeps and returns; the phases themselves are in tests/calibrate."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.calibrate.fake_bench import FAKE_BENCH, TINY

from tare.calibrate.bench import PhaseSetting, Run, campaign
from tare.calibrate.conduct import CalibrationRequest
from tare.calibrate.evidence import Evidence
from tare.calibrate.gates import Named
from tare.calibrate.phases.phase import Phase
from tare.commands.calibrate import CalibrateOptions, conduct, run_calibrate
from tare.errors import InputError
from tare.host.paths import calibrations_directory
from tare.journal.calibrations import read_calibration
from tare.records import Gate

pytestmark = pytest.mark.usefixtures("fake_image")


def a_phase(*, passes: bool) -> Phase:
    def runs(setting: PhaseSetting) -> tuple[Run, ...]:
        return (Run(name="one", campaign=campaign("one", setting.bench.work(1), 1)),)

    def judge(evidence: Evidence) -> tuple[Gate, ...]:
        seen = f"{len(evidence.outcomes('one'))} runs"
        return (Named("P1", "one", "it is as it should be").passed(passes, seen),)

    return Phase(name="P1", title="one", runs=runs, judge=judge)


def asked(folder: Path, *, passes: bool) -> CalibrationRequest:
    return CalibrationRequest(size=TINY, folder=folder, bench=FAKE_BENCH, stages=((a_phase(passes=passes),),))


@pytest.mark.parametrize(("passes", "code"), [(True, 0), (False, 1)])
def test_the_exit_code_says_whether_it_passed_and_the_artefact_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], passes: bool, code: int
) -> None:
    assert conduct(asked(tmp_path / "run", passes=passes), as_json=False) == code
    (kept,) = calibrations_directory().glob("*.json")
    calibration = read_calibration(kept)
    assert calibration is not None
    assert calibration.passed is passes
    said = capsys.readouterr()
    assert "it is as it should be" in said.out
    assert ("calibration passed" in said.out) is passes
    assert "P1 one" in said.err


def test_json_is_all_that_is_printed_to_standard_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    conduct(asked(tmp_path / "run", passes=True), as_json=True)
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["passed"], document["size"]) == (1, True, "tiny")


def test_a_broken_estimator_is_never_where_reports_look(tmp_path: Path) -> None:
    broken = replace(asked(tmp_path / "run", passes=False), estimator="trimmed-t")
    assert conduct(broken, as_json=False) == 1
    assert not calibrations_directory().exists()
    assert read_calibration(tmp_path / "run" / "calibration-trimmed-t.json") is not None


def test_an_estimator_that_there_is_not_is_refused() -> None:
    options = CalibrateOptions(
        quick=True, output=None, estimator="aligned rank", image_name="default", as_json=False
    )
    with pytest.raises(InputError, match="did you mean 'aligned-ranks'"):
        run_calibrate(options)


def test_an_interrupt_shows_what_was_seen_and_how_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tare.commands.calibrate.CalibrationProgress.judged", interrupted)
    folder = tmp_path / "run"
    assert conduct(asked(folder, passes=True), as_json=False) == 130
    said = capsys.readouterr()
    assert said.out.rstrip().splitlines()[-1].startswith("not complete: ")
    assert f"tare calibrate --output {folder}" in said.err
    assert not calibrations_directory().exists()
