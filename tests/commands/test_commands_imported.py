# SPDX-License-Identifier: Apache-2.0
"""``tare show``, ``compare`` and ``export`` with what other tools wrote."""

import csv
import io
import json
from pathlib import Path

import pytest
from tests.hostile.targets_imports import OUTPUTS

from tare.commands.compare import run_compare
from tare.commands.export import run_export
from tare.commands.show import run_show
from tare.errors import ExitCode, InputError

RECORDED = OUTPUTS / "imports"
HYPERFINE = RECORDED / "hyperfine/two-commands.json"


def export(path: Path, command: str, times_s: list[float]) -> Path:
    path.write_text(json.dumps({"results": [{"command": command, "times": times_s}]}))
    return path


@pytest.fixture
def pair(tmp_path: Path) -> list[Path]:
    times_s = [1.0, 1.02, 0.99, 1.01, 1.03, 0.98, 1.0, 1.01]
    native = export(tmp_path / "native.json", "./app", times_s)
    return [
        native,
        export(tmp_path / "box.json", "box ./app", [1.25 * time_s for time_s in reversed(times_s)]),
    ]


def test_two_files_are_compared_in_a_sentence_and_with_what_they_lack(
    pair: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_compare(pair, as_json=False, verbose=False) is ExitCode.DONE
    shown = " ".join(capsys.readouterr().out.split())
    assert (
        "box takes 22\N{EN DASH}28 % more time than native: wall_s from 1.005 s to 1.256 s (n = 8, 8)"
        in shown
    )
    assert "- what ran: ./app | box ./app" in shown
    assert "Measured by hyperfine, not by Tare. It lacks: - turns in random order:" in shown
    assert "- a control:" in shown


def test_a_name_before_a_file_is_its_arms(pair: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    run_compare([Path(f"host={pair[0]}"), Path(f"podman={pair[1]}")], as_json=True, verbose=False)
    printed = json.loads(capsys.readouterr().out)
    assert printed["arms"] == ["host", "podman"]
    assert printed["lacks"] == ["order", "control", "host"]
    (difference,) = printed["differences"]
    assert (difference["word"], difference["change"]["n"], difference["before"]["unit"]) == ("larger", 8, "s")
    assert [figure["values"][0] for figure in printed["figures"]] == [1.0, 1.2625]


def test_one_file_with_two_arms_is_enough(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_compare([HYPERFINE], as_json=False, verbose=False) is ExitCode.DONE
    assert "other takes 11 to 24 times as much time as native" in capsys.readouterr().out


def test_single_values_are_shown_without_interval_and_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pair = [export(tmp_path / "a.json", "x", [1.0]), export(tmp_path / "b.json", "x", [2.0])]
    run_compare(pair, as_json=False, verbose=True)
    shown = " ".join(capsys.readouterr().out.split())
    assert "b against a: no interval and no verdict, as both need 6 values" in shown
    assert "wall_s of x: 1 s, no interval (n = 1)" in shown


def test_nothing_in_common_ends_with_3(capsys: pytest.CaptureFixture[str]) -> None:
    both = [RECORDED / "osu/two-runs.txt", RECORDED / "imb/seven-runs.txt"]
    assert run_compare(both, as_json=False, verbose=False) is ExitCode.CANNOT
    assert "seven-runs against two-runs: nothing can be compared" in capsys.readouterr().out


def test_show_prints_every_figure(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_show(RECORDED / "reframe/pack.log", as_json=False, show_all=False) is ExitCode.DONE
    shown = " ".join(capsys.readouterr().out.split())
    assert "- elapsed of pack %level=1: 113.9 ms, interval 67.9\N{EN DASH}172 ms (n = 7)" in shown
    assert run_show(HYPERFINE, as_json=True, show_all=False) is ExitCode.DONE
    assert json.loads(capsys.readouterr().out)["sources"][0]["tool"] == "hyperfine"


def test_differences_and_values_are_exported(pair: list[Path], tmp_path: Path) -> None:
    for name, table in (
        ("d.csv", "verdicts"),
        ("v.csv", "samples"),
        ("README.md", "verdicts"),
        ("d.tex", "verdicts"),
    ):
        assert run_export(pair, tmp_path / name, table, None) is ExitCode.DONE
    (row,) = csv.DictReader(io.StringIO((tmp_path / "d.csv").read_text()))
    assert (row["reference"], row["arm"], row["verdict"], row["lacks"]) == (
        "native",
        "box",
        "larger",
        "order control host",
    )
    assert 0.21 < float(row["low"]) < float(row["change"]) < float(row["high"]) < 0.29
    assert len(list(csv.DictReader(io.StringIO((tmp_path / "v.csv").read_text())))) == 16
    assert "| box |" in (tmp_path / "README.md").read_text()
    assert "more time than native" in (tmp_path / "d.tex").read_text()


@pytest.mark.parametrize("kind", ["svg", "pdf", "archive"])
def test_what_only_a_result_of_tare_has_is_not_exported(kind: str, pair: list[Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"{kind} is for results of Tare"):
        run_export(pair, tmp_path / "out", "verdicts", kind)


def test_wrong_requests_say_what_is_right(pair: list[Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has a single arm; name a second file"):
        run_compare(pair[:1], as_json=False, verbose=False)
    with pytest.raises(InputError, match="was not measured by Tare"):
        run_compare([pair[0], tmp_path / "nosuch"], as_json=False, verbose=False)
    with pytest.raises(InputError, match="no two arms of it can be compared"):
        run_export(pair[:1], tmp_path / "out.csv", "verdicts", None)
    with pytest.raises(InputError, match="--treatment and --as are for results of Tare"):
        run_show(pair[0], as_json=False, show_all=False, treatment="b16")
