# SPDX-License-Identifier: Apache-2.0
import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from tare.analyze import replications
from tare.commands.show import run_show
from tare.errors import InputError
from tare.records import Integrity, Treatment
from tare.report import replication
from tare.report.document import render_report
from tare.report.replication import AGAINST, NOTE
from tests.report.comparison_example import compared
from tests.report.report_example import FIGURES, example


@pytest.fixture
def result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    known = {tmp_path: example()}
    monkeypatch.setattr("tare.pipeline.analyse_result", known.__getitem__)
    return tmp_path


def printed(treatment: Treatment, *, width: int = 80, show_all: bool = False) -> str:
    stream = io.StringIO()
    treated = replications([verdict.overhead for verdict in example().verdicts], treatment)
    replication.table(
        treated, treatment, Console(file=stream, width=width, highlight=False), show_all=show_all
    )
    return stream.getvalue()


@pytest.mark.parametrize("treatment", list(Treatment))
def test_each_treatment_stands_under_its_warning_and_beside_our_own_estimate(treatment: Treatment) -> None:
    text = printed(treatment, width=400)
    assert f"Warning: {AGAINST[treatment]}" in text
    assert NOTE in text
    assert "by Tare" in text
    assert "+6.7 % (6.2\N{EN DASH}7.1 %)" in text


@pytest.mark.parametrize("treatment", list(Treatment))
def test_no_line_is_wider_than_the_terminal_and_no_figure_is_cut(treatment: Treatment) -> None:
    text = printed(treatment, show_all=True)
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text


def test_other_metrics_are_shown_on_demand() -> None:
    assert "wall_s" not in printed(Treatment.B16)
    assert "wall_s" in printed(Treatment.B16, show_all=True)


def test_nothing_to_treat_is_said() -> None:
    stream = io.StringIO()
    replication.table((), Treatment.R15, Console(file=stream), show_all=False)
    assert "no metric has enough complete blocks" in stream.getvalue()


def test_nothing_of_it_stands_in_the_report() -> None:
    page = render_report(compared(example(figures=FIGURES[:1])))
    assert not any(warning[:60] in page for warning in AGAINST.values())


def test_the_command_takes_a_papers_name_in_any_case(
    result: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_show(result, as_json=False, show_all=False, treatment="B16") == 0
    assert "As b16 did" in capsys.readouterr().out


def test_an_unknown_paper_is_refused_with_those_there_are(result: Path) -> None:
    with pytest.raises(InputError, match="choose one of b16, b17, r15, l12"):
        run_show(result, as_json=False, show_all=False, treatment="y15")


def test_programs_get_the_same_with_the_warning(result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_show(result, as_json=True, show_all=False, treatment="l12") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["treatment"], document["warning"]) == (
        1,
        "l12",
        AGAINST[Treatment.L12],
    )
    treated = replications([verdict.overhead for verdict in example().verdicts], Treatment.L12)
    assert document == json.loads(json.dumps(replication.json(treated, Treatment.L12, Integrity())))
    assert len(document["replications"]) == len(treated) > 0
