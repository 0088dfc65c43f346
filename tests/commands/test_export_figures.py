# SPDX-License-Identifier: Apache-2.0
"""Each figure of the report as a file of its own."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from tests.report.report_example import example

from tare.commands import export
from tare.commands.export import run_export
from tare.drawing import svg
from tare.errors import InputError
from tare.records import Analysis
from tare.report.document import render_report
from tare.report.figures import figures

pytestmark = pytest.mark.usefixtures("analysis")


@pytest.fixture
def analysis(monkeypatch: pytest.MonkeyPatch) -> Analysis:
    made = example(environments=("docker",), losing=False)
    monkeypatch.setattr(export, "measured_result", lambda _: made)
    return made


def exported(tmp_path: Path, kind: str) -> Path:
    folder = tmp_path / kind
    assert run_export([tmp_path], folder, "verdicts", kind) == 0
    return folder


def test_every_picture_of_the_report_is_a_light_svg_with_fonts_that_others_have(
    analysis: Analysis, tmp_path: Path
) -> None:
    folder = exported(tmp_path, "svg")
    names = sorted(path.name for path in folder.glob("*.svg"))
    shown = re.findall(r'class="chart (?:wide|panel)"', render_report(analysis))
    assert len(names) == len(shown) > 2
    assert all(re.fullmatch(r"[a-z0-9-]+\.svg", name) for name in names)
    assert names[0].endswith("overhead-of-every-environment-by-primary-metric.svg")
    for name in names:
        text = (folder / name).read_text(encoding="utf-8")
        root = ET.fromstring(text)  # noqa: S314 - Tare wrote it
        assert float(root.attrib["width"]) > 0
        assert "var(" not in text
        assert set(re.findall(r'font-family="([^"]*)"', text)) <= {
            "Arial, 'Liberation Sans', Helvetica, sans-serif"
        }


def test_a_panel_says_whose_samples_it_shows_and_in_which_unit(tmp_path: Path) -> None:
    (panel, *_) = sorted(exported(tmp_path, "svg").glob("*-samples-block-by-block-docker.svg"))
    text = panel.read_text(encoding="utf-8")
    assert re.search(r">[^<]+ in [^<]+</text>", text)
    assert ">samples block by block: docker</text>" in text


def test_captions_name_each_file_and_each_mark(tmp_path: Path) -> None:
    folder = exported(tmp_path, "svg")
    captions = (folder / "captions.txt").read_text(encoding="utf-8")
    assert all(path.name in captions for path in folder.glob("*.svg"))
    assert re.search(r"^Marks: native: circle, #\w{6}; docker: circle, #\w{6}$", captions, re.MULTILINE)


def test_a_pdf_is_one_page_with_its_fonts_in_it(tmp_path: Path) -> None:
    folder = exported(tmp_path, "pdf")
    first = next(path for path in sorted(folder.glob("*.pdf"))).read_bytes()
    assert first.startswith(b"%PDF-")
    assert b"/FontFile" in first
    assert first.count(b"/MediaBox") == 1


def test_the_same_figures_are_the_same_every_time(analysis: Analysis) -> None:
    assert figures(analysis) == figures(analysis)


def test_without_the_renderer_its_extra_is_named_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(svg, "find_spec", lambda name: None if name == "vl_convert" else name)
    with pytest.raises(InputError, match=r'svg takes the extra "pictures": pip install'):
        run_export([tmp_path], tmp_path / "svg", "verdicts", "svg")
    assert not (tmp_path / "svg").exists()


def test_figures_need_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(InputError, match="is there already"):
        run_export([tmp_path], tmp_path / "there", "verdicts", "svg")
    with pytest.raises(InputError, match=r"name their folder: --format svg -o figures"):
        run_export([tmp_path], tmp_path / "figures.svg", "verdicts", None)
