# SPDX-License-Identifier: Apache-2.0
"""A planted slowdown, an intervention that takes it away, and what is said of both: with fakes, in seconds."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fake_campaign import FAKES, Listener, fake_campaign, fake_environment, fake_request, fake_workload

from tare.commands import explain
from tare.commands.explain import run_explain
from tare.commands.explained import Explained, ExplainOptions, narrowed
from tare.commands.explained import explained as explained_of
from tare.drawing.words import counted
from tare.errors import ExitCode, InputError
from tare.journal.reader import read_journal
from tare.measure.campaign import Request, measure_campaign
from tare.pipeline import analyse_result, run_campaign
from tare.records import Attributed, Explanation, Shift
from tare.report.document import render_report
from tare.report.machine import to_json

pytestmark = pytest.mark.usefixtures("fake_image")
TOGGLE = "slowdown=0"


def intervention_request(result: Path, options: ExplainOptions) -> Request:
    """What ``tare explain`` runs for the knobs that the user names."""
    analysis = analyse_result(result)
    return explain._by_hand(explained_of(result, analysis, options), narrowed(analysis, options))


def explained(tmp_path: Path, toggle: str = TOGGLE, blocks: int = 6) -> Path:
    """A result whose environment is 20 % slower, and an intervention below it."""
    result = tmp_path / "result"
    workload = fake_workload(noise=0.001)
    slow = fake_environment(slowdown=0.2)
    run_campaign(fake_request(fake_campaign(slow, workload=workload), result), Listener())
    request = intervention_request(result, ExplainOptions(toggles=(toggle,), blocks=blocks, seed=3))
    run_campaign(replace(request, providers=FAKES), Listener())
    return result


def test_the_planted_slowdown_is_called_a_cause_by_parent_and_child(tmp_path: Path) -> None:
    result = explained(tmp_path)
    child = result / "explain" / "slow-slowdown-0-work-1c1p1i-6-blocks"
    for path in (result, child):
        verdict = next(
            intervention
            for intervention in analyse_result(path).interventions
            if intervention.metric == "time_s"
        )
        assert (verdict.standing, verdict.shift) == (Attributed.CAUSE, Shift.FALLS)
        assert verdict.before.point == pytest.approx(0.2, abs=0.01)
        assert verdict.after.point == pytest.approx(0.0, abs=0.01)
        assert verdict.intervention.parent == "../.."
    assert "is a cause" in render_report(analyse_result(result))


def test_an_intervention_that_was_cut_off_is_continued_and_adds_no_trial_twice(tmp_path: Path) -> None:
    result = tmp_path / "result"
    run_campaign(fake_request(fake_campaign(fake_environment(slowdown=0.2)), result), Listener())
    request = replace(
        intervention_request(result, ExplainOptions(toggles=(TOGGLE,), blocks=6)), providers=FAKES
    )
    cut = replace(request, campaign=replace(request.campaign, budget_s=0.1))
    measure_campaign(cut, Listener())
    before = len(read_journal(request.folder.journal).outcomes)
    assert before < 24
    again = replace(
        intervention_request(result, ExplainOptions(toggles=(TOGGLE,), blocks=6)), providers=FAKES
    )
    run_campaign(again, Listener())
    assert len(read_journal(request.folder.journal).outcomes) == 24


def test_the_ranking_is_printed_with_what_was_found_by_intervention(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = explained(tmp_path)
    assert run_explain(result, ExplainOptions(dry_run=True), as_json=False, providers=FAKES) == 0
    out = capsys.readouterr().out
    assert "slow: cause of time_s: slowdown at 0.2" in " ".join(out.split())
    assert run_explain(result, ExplainOptions(environment="slow", dry_run=True), as_json=True) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == 1
    assert document["interventions"][0]["standing"] == "cause"
    assert document["attributions"][0]["environment"] == "slow"


def test_the_json_of_a_result_holds_attributions_and_interventions(tmp_path: Path) -> None:
    document = json.loads(json.dumps(to_json(analyse_result(explained(tmp_path))), allow_nan=False))
    assert [intervention["knob"] for intervention in document["interventions"]] == ["slowdown-0"]
    (attribution,) = document["attributions"]
    assert attribution["standing"] in {"candidate", "unexplained"}
    assert attribution["sentence"].startswith("slow: ")


def test_what_cannot_be_explained_is_refused_in_words(tmp_path: Path) -> None:
    result = explained(tmp_path)
    child = result / "explain" / "slow-slowdown-0-work-1c1p1i-6-blocks"
    with pytest.raises(InputError, match="intervention itself"):
        intervention_request(child, ExplainOptions(toggles=(TOGGLE,)))
    with pytest.raises(InputError, match="no such result folder"):
        intervention_request(tmp_path / "nothing", ExplainOptions(toggles=(TOGGLE,)))
    with pytest.raises(InputError, match="native is what all is compared with"):
        intervention_request(result, ExplainOptions(toggles=(TOGGLE,), environment="native"))
    with pytest.raises(InputError, match="has no verdict on fast"):
        run_explain(result, ExplainOptions(environment="fast"), as_json=False)
    with pytest.raises(InputError, match="--blocks must be"):
        intervention_request(result, ExplainOptions(toggles=(TOGGLE,), blocks=0))


def test_another_results_interventions_are_not_taken_for_its_own(tmp_path: Path) -> None:
    result = explained(tmp_path)
    other = tmp_path / "other"
    run_campaign(fake_request(fake_campaign(fake_environment(slowdown=0.2)), other), Listener())
    (result / "explain").rename(other / "explain")
    assert analyse_result(other).interventions == ()


def explanations_of_time(result: Path) -> list[Explanation]:
    """Only of the planted times: a busy host can slow the real ones, of which there are then claims too."""
    return [each for each in analyse_result(result).explanations if each.metric == "time_s"]


def small_pages(tmp_path: Path) -> Path:
    """A result whose environment is 25 % slower by a cause that Tare knows."""
    result = tmp_path / "result"
    campaign = fake_campaign(fake_environment(huge_pages=False), workload=fake_workload(noise=0.001))
    run_campaign(fake_request(campaign, result), Listener())
    return result


def test_unaided_it_finds_the_planted_cause_and_its_cure_and_says_the_time_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = small_pages(tmp_path)
    claims = counted(len(analyse_result(result).explanations), "claim")
    assert run_explain(result, ExplainOptions(blocks=6, budget="1m"), as_json=False, providers=FAKES) == 0
    out, err = (" ".join(text.split()) for text in capsys.readouterr())
    assert f"{claims} on 1 environment: this takes 1 min 0 s at most" in err
    assert err.index("then 1 knob in 6 blocks (about") < err.index("tries huge-pages")
    assert (
        "slow: cause of time_s: memory in small pages where native has huge ones; cure: transparent huge"
        in out
    )
    (explanation,) = explanations_of_time(result)
    assert (explanation.standing, explanation.cause) == (Attributed.CAUSE, "no-huge-pages")
    assert "cause of time_s" in (result / "report.html").read_text()


def test_explained_once_more_it_runs_no_trial_and_says_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = small_pages(tmp_path)
    options = ExplainOptions(blocks=6)
    run_explain(result, options, as_json=False, providers=FAKES)
    first = capsys.readouterr().out
    child = result / "explain" / "slow-causes-work-1c1p1i-6-blocks"
    before = len(read_journal(child / "journal").outcomes)
    assert run_explain(result, options, as_json=False, providers=FAKES) == 0
    assert capsys.readouterr().out == first
    assert len(read_journal(child / "journal").outcomes) == before == 24


def test_a_dry_run_says_what_it_would_try_and_runs_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = small_pages(tmp_path)
    assert run_explain(result, ExplainOptions(dry_run=True), as_json=False, providers=FAKES) == 0
    assert (
        "would try huge-pages (a guest's memory in huge pages, or not): transparent huge pages: off"
        in " ".join(capsys.readouterr().out.split())
    )
    assert not (result / "explain").exists()


def test_a_budget_that_holds_no_knob_gives_the_command_that_would(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = small_pages(tmp_path)
    assert run_explain(result, ExplainOptions(budget="100ms"), as_json=False, providers=FAKES) == 0
    assert (
        f"more than the budget: tare explain {result} --environment slow --budget" in capsys.readouterr().err
    )
    assert analyse_result(result).interventions == ()


def test_where_nothing_is_claimed_nothing_is_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = tmp_path / "result"
    run_campaign(fake_request(fake_campaign(fake_environment(slowdown=0.0)), result), Listener())
    assert run_explain(result, ExplainOptions(), as_json=False, providers=FAKES) == 0
    assert "nothing is slower or faster than native for certain" in capsys.readouterr().out
    assert not (result / "explain").exists()


def test_another_number_of_blocks_is_another_attempt_and_the_longer_counts(tmp_path: Path) -> None:
    result = small_pages(tmp_path)
    for blocks in (6, 8):
        assert run_explain(result, ExplainOptions(blocks=blocks), as_json=False, providers=FAKES) == 0
    analysis = analyse_result(result)
    assert sorted(
        intervention.after.n for intervention in analysis.interventions if intervention.metric == "time_s"
    ) == [6, 8]
    assert [explanation.after and explanation.after.n for explanation in explanations_of_time(result)] == [8]


def test_a_result_is_read_without_what_an_earlier_version_or_a_broken_disk_left_below_it(
    tmp_path: Path,
) -> None:
    result = explained(tmp_path)
    kept = next((result / "explain").glob("*/campaign.json"))
    text = json.loads(kept.read_text())
    text["intervention"] |= text["intervention"].pop("changes")[0]
    kept.write_text(json.dumps(text))
    (result / "explain" / "calls.json").write_text("{")
    assert analyse_result(result).interventions == ()
    assert [explanation.standing for explanation in explanations_of_time(result)] == [Attributed.UNEXPLAINED]


def test_output_goes_with_a_toggle_and_never_into_another_result(tmp_path: Path) -> None:
    result = small_pages(tmp_path)
    with pytest.raises(InputError, match="--output goes with --toggle"):
        run_explain(result, ExplainOptions(output=tmp_path / "out"), as_json=False, providers=FAKES)
    options = ExplainOptions(toggles=("huge_pages=true",), output=result)
    with pytest.raises(InputError, match="holds another result"):
        run_explain(result, options, as_json=False, providers=FAKES)


def test_a_dry_run_of_knobs_says_how_they_would_be_turned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = small_pages(tmp_path)
    options = ExplainOptions(toggles=("huge_pages=true",), dry_run=True)
    assert run_explain(result, options, as_json=False, providers=FAKES) == 0
    assert "would turn huge_pages-True: huge_pages at False, with True" in capsys.readouterr().out
    with pytest.raises(InputError, match="there is no knob 'nonsense'"):
        run_explain(result, replace(options, toggles=("nonsense",)), as_json=False, providers=FAKES)


def test_interrupted_while_calls_are_counted_it_ends_as_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    result = small_pages(tmp_path)
    monkeypatch.setattr(Explained, "trace", interrupt)
    assert run_explain(result, ExplainOptions(), as_json=False, providers=FAKES) == ExitCode.INTERRUPTED
    assert "interrupted; the same command goes on" in capsys.readouterr().err
