# SPDX-License-Identifier: Apache-2.0
import io
import json
import sys
from pathlib import Path

import pytest

from tare.commands.report import run_report
from tare.commands.show import run_show
from tare.commands.terminal import doors
from tests.report.report_example import example


@pytest.fixture
def result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A result folder that stands for ``example()``; reading journals is tested elsewhere."""
    known = {tmp_path: example()}
    monkeypatch.setattr("tare.pipeline.analyse_result", known.__getitem__)
    return tmp_path


def test_show_prints_tables(result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_show(result, as_json=False, show_all=False) == 0
    assert "hpl_flop_per_s * primary" in capsys.readouterr().out


def test_show_as_json_prints_one_object_in_ascii(result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_show(result, as_json=True, show_all=False) == 0
    out = capsys.readouterr().out
    assert out.isascii()
    assert json.loads(out)["schema"] == 1


def test_a_terminal_without_a_minus_sign_still_gets_its_table(
    result: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    with doors():
        assert run_show(result, as_json=False, show_all=True) == 0
        sys.stdout.flush()
    assert b"systemd-nspawn" in raw.getvalue()


def test_report_writes_into_the_result_folder_and_prints_where(
    result: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_report(result, None) == 0
    path = result / "report.html"
    assert capsys.readouterr().out.strip() == str(path)
    assert "hpl_flop_per_s" in path.read_text(encoding="utf-8")


def test_report_writes_to_the_place_that_is_asked_for(
    result: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "elsewhere.html"
    assert run_report(result, path) == 0
    assert capsys.readouterr().out.strip() == str(path)
    assert not (result / "report.html").exists()
    assert path.stat().st_size > 10_000
