# SPDX-License-Identifier: Apache-2.0
"""``tare show`` of profiles: one file, and those that the trials of a result have left."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.activity_example import COMPUTING, TALKING, profiled_outcomes
from tests.report.report_example import example
from tests.workloads.recorded import recorded

from tare.commands.console import PlainConsole
from tare.commands.profiled import is_profile
from tare.commands.show import run_show
from tare.errors import ExitCode, InputError
from tare.measure.profiles import profiled_arms
from tare.report.call_sites import table
from tare.report.document import render_report
from tare.report.machine import to_json
from tare.treat.pairing import cell_of
from tare.workloads import profile

SAID = json.loads(recorded("npb", "cg-profiled").files[profile.FILE])


def with_sites(*rows: dict[str, Any], **changes: Any) -> str:
    ranks = [{**rank, "call_sites": rows} for rank in SAID["profile"]]
    return json.dumps({**SAID, "profile": ranks, **changes}, separators=(",", ":"))


def row(number: int, time_s: float = 0.5) -> dict[str, Any]:
    return {
        "call": "MPI_Wait",
        "module": "/opt/tare/bin/npb-cg",
        "offset": 16 * number,
        "function": f"step_{number}",
        "count": 3,
        "time_s": time_s,
    }


def shown(text: str) -> str:
    return " ".join(text.split())


def test_a_profile_is_shown_with_shares_and_places_and_all_of_them_on_demand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "profile.json"
    file.write_text(with_sites(*(row(number, 1 / number) for number in range(1, 13))))
    assert is_profile(file)
    assert run_show(file, as_json=False, show_all=False) is ExitCode.DONE
    brief = shown(capsys.readouterr().out)
    assert "/opt/tare/bin/npb-cg, 2 ranks, Open MPI v4.1.4" in brief
    assert "step_10" in brief
    assert "step_11" not in brief
    assert "2 more places: --all shows them." in brief
    run_show(file, as_json=False, show_all=True)
    assert "step_12" in shown(capsys.readouterr().out)


def test_a_profile_with_missing_ranks_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "profile.json"
    file.write_text(with_sites(row(1), ranks=3, partial=True, missing=[2]))
    run_show(file, as_json=False, show_all=False)
    assert "The run did not come to its end, and nothing is known of 1 rank." in shown(
        capsys.readouterr().out
    )


def test_what_is_no_whole_profile_is_refused_with_the_remedy(tmp_path: Path) -> None:
    file = tmp_path / "profile.json"
    file.write_text(with_sites(row(1))[:-5])
    with pytest.raises(InputError, match="profile it again"):
        run_show(file, as_json=False, show_all=False)
    with pytest.raises(InputError, match="JSON itself"):
        run_show(file, as_json=True, show_all=False)


def test_other_files_are_no_profiles(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text('{"results": []}')
    assert not is_profile(other)
    assert not is_profile(tmp_path)
    assert not is_profile(tmp_path / "missing")


def test_a_result_has_the_places_of_each_environment_over_the_trials_that_left_theirs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outcomes = profiled_outcomes({"native": COMPUTING, "talker": TALKING}, blocks=2)
    kept = [outcome for outcome in outcomes if outcome.trial.environment.name == "talker"]
    for number, outcome in enumerate(kept):
        raw = tmp_path / outcome.trial.identity
        raw.mkdir()
        rows = (row(1, 0.25 * (number + 1)), *(row(place, 0.001) for place in range(2, 13)))
        (raw / f"i0.{profile.FILE}").write_text(with_sites(*rows))
        (raw / f"i1.{profile.FILE}").write_text("{torn")
    (arm,) = profiled_arms(tmp_path, outcomes, cell_of)
    analysis = replace(example(), call_sites=(arm,))
    (cell, *_) = {cell_of(outcome) for outcome in kept}
    assert (arm.cell, arm.environment, arm.runs) == (cell, "talker", 2)

    table(analysis, PlainConsole(), show_all=False)
    printed = shown(capsys.readouterr().out)
    assert "talker" in printed
    assert "mean over 2 runs" in printed
    assert "375 ms 500 ms" in printed
    assert "2 more places: --all shows them." in printed

    (said,) = to_json(analysis)["call_sites"]
    assert said["environment"] == "talker"
    assert len(said["sites"]) == len(arm.sites)
    assert said["sites"][0] == {
        "call": "MPI_Wait",
        "module": "/opt/tare/bin/npb-cg",
        "offset": 16,
        "function": "step_1",
        "line": None,
        "count": 12,
        "mean_s": 0.375,
        "largest_s": 0.5,
        "share": arm.sites[0].share,
    }

    page = render_report(analysis)
    assert 'href="#call-sites"' in page
    assert "step_1 in npb-cg+0x10" in page
    assert "step_12" not in page


def test_a_result_without_profiles_shows_nothing_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert profiled_arms(tmp_path, profiled_outcomes({"native": COMPUTING}), cell_of) == ()
    table(example(), PlainConsole(), show_all=False)
    assert capsys.readouterr().out == ""
    assert to_json(example())["call_sites"] == []
    assert "call-sites" not in render_report(example())
