# SPDX-License-Identifier: Apache-2.0
"""A result leaves Tare whole: as tables that other programs read, and as an archive that runs again."""

import csv
import io
import json
import tarfile
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.fake_campaign import fake_campaign, fake_environment, fake_request
from tests.report.report_example import example, with_verdicts

from tare.commands.export import run_export
from tare.commands.line import Shown
from tare.commands.run import run_and_show
from tare.commands.show import measured_result
from tare.errors import InputError
from tare.journal.result import ResultFolder
from tare.measure.kept import kept_campaign
from tare.report import exports

pytestmark = pytest.mark.usefixtures("fake_image")


@pytest.fixture
def result(tmp_path: Path) -> Path:
    folder = tmp_path / "result"
    run_and_show(fake_request(fake_campaign(fake_environment(slowdown=0.2)), folder), Shown(quiet=True))
    return folder


def exported(result: Path, name: str, table: str = "verdicts", kind: str | None = None) -> Path:
    output = result.parent / name
    assert run_export([result], output, table, kind) == 0
    return output


def test_csv_and_parquet_hold_the_same_verdicts(result: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(exported(result, "out.csv").read_text())))
    columns = pq.read_table(exported(result, "out.parquet")).to_pylist()
    assert [row["metric"] for row in rows] == [row["metric"] for row in columns]
    assert [float(row["overhead"]) for row in rows] == [row["overhead"] for row in columns]
    assert rows[0]["verdict"] == "slower"


def test_every_sample_is_exported_with_its_coordinates(result: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(exported(result, "out.csv", "samples").read_text())))
    samples = [sample for outcome in measured_result(result).outcomes for sample in outcome.samples]
    assert len(rows) == len(samples) > 0
    assert {row["environment"] for row in rows} == {"native", "slow"}
    assert [float(row["value"]) for row in rows] == [sample.value for sample in samples]


def test_an_archive_is_the_same_every_time_shows_the_same_and_runs_again(result: Path) -> None:
    first, second = exported(result, "a.tar.gz"), exported(result, "b.tar.gz")
    assert first.read_bytes() == second.read_bytes()
    elsewhere = result.parent / "elsewhere"
    with tarfile.open(first) as archive:
        for member in archive:
            assert member.name.startswith("result/")
            target = elsewhere / member.name
            target.parent.mkdir(parents=True, exist_ok=True)
            content = archive.extractfile(member)
            assert content is not None
            target.write_bytes(content.read())
    unpacked = elsewhere / "result"
    assert "tare run campaign.json" in (unpacked / "README.txt").read_text()
    shown = measured_result(unpacked)
    assert [verdict.claim for verdict in shown.verdicts] == [
        verdict.claim for verdict in measured_result(result).verdicts
    ]
    again = fake_request(kept_campaign(ResultFolder(unpacked)), elsewhere / "again")
    assert run_and_show(again, Shown(quiet=True)) == 0


def test_the_json_is_that_of_show(result: Path) -> None:
    assert json.loads(exported(result, "out.json").read_text())["schema"] == 1


@pytest.mark.parametrize(
    ("name", "table", "kind", "says"),
    [
        ("out.xls", "verdicts", None, "shows no format"),
        ("out.csv", "trials", None, "--table"),
        ("out.csv", "verdicts", "cvs", "none of csv"),
        ("README.md", "samples", None, "for the verdicts"),
    ],
)
def test_a_wrong_request_names_what_is_right(
    name: str, table: str, kind: str | None, says: str, result: Path
) -> None:
    with pytest.raises(InputError, match=says):
        run_export([result], result.parent / name, table, kind)
    assert not (result.parent / name).exists()


def test_an_existing_file_is_never_overwritten(result: Path) -> None:
    output = exported(result, "out.csv")
    before = output.read_bytes()
    with pytest.raises(InputError, match="there already"):
        run_export([result], output, "samples", None)
    assert output.read_bytes() == before


def test_markdown_and_latex_print_every_character_of_a_name() -> None:
    analysis = example(environments=("docker",), losing=False)
    strange = [replace(verdict, claim="a_b & 50 % | *c* \\ ~ <d>\n\x1b[31m") for verdict in analysis.verdicts]
    analysis = with_verdicts(analysis, strange)
    markdown, latex = (
        exports.to_markdown(exports.verdict_table(analysis)),
        exports.to_latex(exports.verdict_table(analysis)),
    )
    assert r"a\_b & 50 % \| \*c\* \\ ~ \<d\>" in markdown
    assert r"a\_b \& 50 \% | *c* \textbackslash{} \textasciitilde{} <d>" in latex
    assert "\x1b" not in markdown + latex
    assert all(line.count("|") - line.count("\\|") == 8 for line in markdown.splitlines())


def test_no_cell_is_a_formula() -> None:
    text = exports.to_csv([{"name": "=1+1", "value": -0.5, "missing": None}])
    assert list(csv.reader(io.StringIO(text)))[1] == ["'=1+1", "-0.5", ""]
