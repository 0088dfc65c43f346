# SPDX-License-Identifier: Apache-2.0
import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console

from tare.commands import published as command
from tare.commands.report import run_report
from tare.commands.show import run_show
from tare.errors import InputError
from tare.papers import papers, view
from tare.records import Analysis, Integrity
from tare.records.published import ClaimPlace
from tare.report import published
from tare.report.document import render_report
from tests.view_example import analysis_of

LOSSES = {"kvm": 0.08, "kvm-pv": 0.03, "kvm-fv": 0.2, "virtualbox-pv": 0.25, "lxc": 0.01, "docker": 0.012}
FIGURES = {
    "b16-stage1": "b16:fig9",
    "b16-stage2": "b16:fig31",
    "b16-stage3": "b16:fig36",
    "b17": "b17:fig2",
    "y15": "y15:table4",
    "r15": "r15:table1",
    "l12": "l12:fig3",
}


def planted(role: str, place: ClaimPlace) -> float:
    return LOSSES.get(role, 0.0) * (3 if place.layout.startswith("4c") else 1)


def measured(name: str, **of: object) -> Analysis:
    return analysis_of(view(name), planted, blocks=8, **of)  # type: ignore[arg-type]


def printed(name: str, width: int = 80) -> str:
    stream = io.StringIO()
    (shown,) = command.shown_views(measured(name), name)
    published.table(shown, Console(file=stream, width=width, highlight=False))
    return stream.getvalue()


@pytest.fixture(autouse=True)
def taken_as_the_papers_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The made-up results have no options of a preset."""
    monkeypatch.setattr("tare.plan.matrix.preset_matrix", lambda _: None)


@pytest.fixture
def result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    known = {tmp_path: measured("b16:fig9")}
    monkeypatch.setattr("tare.pipeline.analyse_result", known.__getitem__)
    return tmp_path


@pytest.mark.parametrize("name", FIGURES.values(), ids=FIGURES)
def test_a_view_of_each_paper_fits_a_terminal_with_each_claim_and_its_word(name: str) -> None:
    text = printed(name)
    assert max(map(len, text.splitlines())) <= 80
    flat = " ".join(text.split())
    for claim in view(name).claims:
        assert f": {claim.text} (" in flat
    marks = "".join(published.MARK.values())
    assert re.search(rf"[{marks}] (reproduced|contradicted|undecided)", text)


@pytest.mark.parametrize("name", FIGURES.values(), ids=FIGURES)
def test_a_view_of_each_paper_is_a_page_of_its_own_with_a_picture(name: str) -> None:
    from tare.report.published_page import render_view  # noqa: PLC0415 - loads the renderer

    analysis = measured(name)
    (shown,) = command.shown_views(analysis, name)
    page = render_view(analysis, shown)
    assert page.count("<svg class=") >= 2 or 'class="chart' in page
    assert all(f"{claim.text}" in page.replace("&#39;", "'") for claim in view(name).claims)
    assert "nan" not in re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL).lower().split()


def test_every_view_has_words_for_programs() -> None:
    analysis = measured("b16:fig9")
    shown = command.shown_views(analysis, "list")
    document = published.json(shown, Integrity())
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    own = {each["view"]: each for each in document["views"]}
    assert set(own) == {each.identity for paper in papers() for each in paper.views}
    (near, against) = own["b16:fig9"]["agreements"]
    assert (near["word"], near["claim"]["high"]) == ("reproduced", 0.05)
    assert against["claim"]["printed"] == [0.14, 0.14]
    assert own["b16:fig20"]["agreements"][0]["word"] == "not measured"


def test_the_list_says_what_a_result_can_fill_and_what_to_run_for_the_rest(
    result: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_show(result, as_json=False, show_all=False, view="list") == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "b16:fig9 2 reproduced" in text
    assert "`tare run l12` measures them: l12:fig1, l12:fig2, l12:fig3, l12:fig4" in text
    assert "b16:fig9" not in text.partition("measures them")[2]


def test_a_view_that_a_result_cannot_fill_says_what_to_run(
    result: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_show(result, as_json=False, show_all=False, view="l12:fig4") == 0
    assert "`tare run l12` measures what a host can of it" in capsys.readouterr().out


def test_a_view_of_words_alone_asks_for_no_run(result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_show(result, as_json=False, show_all=False, view="y15:fig9") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Table II has who is best" in shown
    assert "measures what" not in shown


def test_programs_get_one_view(result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_show(result, as_json=True, show_all=False, view="B16:fig9") == 0
    document = json.loads(capsys.readouterr().out)
    assert [each["view"] for each in document["views"]] == ["b16:fig9"]
    assert document["schema"] == 1


def test_an_unknown_view_and_two_outputs_at_once_are_refused(result: Path) -> None:
    with pytest.raises(InputError, match="no paper has such a table or figure"):
        run_show(result, as_json=False, show_all=False, view="b16:fig99")
    with pytest.raises(InputError, match="ask for one of them"):
        run_show(result, as_json=False, show_all=False, view="b16:fig9", treatment="b16")


def test_a_report_of_a_view_is_written_by_its_ending(
    result: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, start in (("own.html", b"<!doctype"), ("own.svg", b"<?xml"), ("own.pdf", b"%PDF")):
        assert run_report(result, result / name, "b16:fig9") == 0
        assert (result / name).read_bytes().lstrip().startswith(start)
    assert run_report(result, None, "b16:fig9") == 0
    assert (result / "b16-fig9.html").exists()
    assert run_report(result, None, "list") == 0
    assert "b16:fig9" in capsys.readouterr().out
    with pytest.raises(InputError, match=r"ends with \.html"):
        run_report(result, result / "own.png", "b16:fig9")
    with pytest.raises(InputError, match="nothing to draw here"):
        run_report(result, result / "own.svg", "y15:table1")


def test_the_report_of_a_papers_preset_has_its_views_and_no_other_has() -> None:
    analysis = measured("b16:fig9")
    page = render_report(analysis, views=command.own_views(analysis))
    assert '<h2 id="published">Beside B16, stage 1</h2>' in page
    assert 'href="#published"' in page
    assert 'id="b16-fig9"' in page
    assert "Nothing of these was measured" in page
    assert 'id="published"' not in render_report(analysis)


def test_the_papers_own_treatment_stands_below_its_view() -> None:
    analysis = measured("b17:fig6")
    page = render_report(analysis, views=command.own_views(analysis))
    assert "Our runs as the paper treated its own" in page
    assert "against the same alone on 1c4p1i, each instance" in page
    assert "lxc alone<" in page
    assert "lxc 3<" in page
    assert "sd, CV" in page


def test_an_emulated_guest_is_faint_and_said() -> None:
    analysis = measured("b16:fig9", roles=["kvm-pv"], facts={"accelerator": "software emulation (TCG)"})
    (shown,) = command.shown_views(analysis, "b16:fig9")
    assert published.said(shown.agreements[0]).startswith("not the paper's own point")
    page = render_report(analysis, views=command.own_views(analysis))
    assert "by software emulation (TCG) instead of KVM" in page
    assert "(reproduced)" in page
