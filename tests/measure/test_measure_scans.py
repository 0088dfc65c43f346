# SPDX-License-Identifier: Apache-2.0
"""Options left open are chosen natively before the first trial, and once for each host; with fakes."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fake_campaign import Listener, fake_campaign, fake_context, fake_environment, fake_request

from tare.commands.plan import show_plan
from tare.journal.reader import read_journal
from tare.journal.scans import FILE, keep_choice, kept_choice
from tare.measure import scans
from tare.measure.campaign import Request, measure_campaign
from tare.measure.kept import kept_campaign
from tare.plan.campaign import Campaign
from tare.plan.scans import MOST_S, open_scans
from tare.records import NATIVE, Layout, OptionValue, ScanChoice, Workload
from tare.workloads import KINDS
from tare.workloads.fake import FakeWorkload
from tare.workloads.kind import Options, Scan, Shape

USUAL, BETTER = 1.0, 0.8
Capture = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("state", "_scanned_kind")


class Scanned(FakeWorkload):
    """Leaves ``value`` open unless it is given."""

    def scan(self, options: Options, shape: Shape) -> Scan | None:  # noqa: ARG002 - the same in any
        if "value" in options.model_fields_set:
            return None
        return Scan(candidates=({"value": USUAL}, {"value": BETTER}), problem={"noise": 0.01})


@pytest.fixture
def _scanned_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS, "fake", Scanned())
    monkeypatch.setattr(scans, "TURNS", 4)
    monkeypatch.setattr(scans, "_BUSY", 1.0)  # tests share the machine


def campaign_of(blocks: int = 1, **options: OptionValue) -> Campaign:
    workload = Workload(name="work", kind="fake", options=options)
    return fake_campaign(fake_environment("same"), workload=workload, blocks=blocks)


def measured(campaign: Campaign, folder: Path) -> tuple[Request, Listener]:
    request, listener = fake_request(campaign, folder), Listener()
    measure_campaign(request, listener)
    return request, listener


@pytest.mark.usefixtures("fake_image")
def test_the_better_candidate_runs_in_every_arm_and_is_journalled(tmp_path: Path) -> None:
    request, listener = measured(campaign_of(), tmp_path / "result")
    journal = read_journal(request.folder.journal)
    assert {outcome.trial.environment.name for outcome in journal.outcomes} == {NATIVE, "same"}
    assert {outcome.trial.workload.options["value"] for outcome in journal.outcomes} == {BETTER}
    assert {outcome.trial.workload.options.get("noise") for outcome in journal.outcomes} == {None}
    (choice,) = kept_campaign(request.folder).choices
    assert journal.sessions[0].choices == (choice,)
    assert choice.medians["value = 1.0"] == pytest.approx(USUAL, rel=0.02)
    assert any("a scan chooses value from 2 candidates" in words for words in listener.words)
    assert any("value = 0.8, +2" in words for words in listener.words)


@pytest.fixture
def _known_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight turns of each candidate, of which the second is better by a quarter."""

    def known(*_: object) -> scans.Runs:
        runs = scans.Runs(2)
        for place, value in enumerate((USUAL, BETTER)):
            runs.costs[place] = {turn: value * (1 + 0.001 * (turn % 3)) for turn in range(8)}
        runs.turns = 8
        return runs

    monkeypatch.setattr(scans, "run_turns", known)


@pytest.mark.usefixtures("_known_runs")
def test_the_next_campaign_takes_the_kept_choice_and_other_limits_scan_again(
    tmp_path: Path, programs: Path
) -> None:
    context, listener, campaign = fake_context(tmp_path, programs), Listener(), campaign_of()
    other = replace(campaign, limits=replace(campaign.limits, memory_byte=1 << 27))
    chosen = [scans.with_choices(context, each, listener.says) for each in (campaign, campaign, other)]
    assert [each.choices[0].options for each in chosen] == [{"value": BETTER}] * 3
    scanned = ["a scan chooses" in words for words in listener.words]
    assert scanned == [True, False, False, True, False]  # announced, chosen; kept; announced, chosen
    assert listener.words[2].endswith("kept on this host")


@pytest.mark.usefixtures("_known_runs")
def test_a_choice_on_a_busy_machine_is_not_kept(
    tmp_path: Path, programs: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scans.Runs, "busy", True)
    listener = Listener()
    assert scans.with_choices(fake_context(tmp_path, programs), campaign_of(), listener.says).choices
    assert listener.words[-1].endswith("on a busy machine); the next campaign scans again")
    assert not (state / FILE).exists()


@pytest.mark.usefixtures("_known_runs")
def test_equal_candidates_keep_the_usual(
    tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "BETTER", USUAL)
    listener = Listener()
    campaign = scans.with_choices(fake_context(tmp_path, programs), campaign_of(), listener.says)
    assert campaign.choices[0].options == {"value": USUAL}
    assert "as usual: none is reliably better" in listener.words[-1]


@pytest.mark.usefixtures("fake_image", "_known_runs")
def test_a_begun_result_goes_on_with_its_own_choice(tmp_path: Path, state: Path) -> None:
    request, _ = measured(campaign_of(), tmp_path / "result")
    begun = kept_campaign(request.folder)
    (state / FILE).unlink()
    listener = Listener()
    measure_campaign(replace(request, more=1), listener)
    assert kept_campaign(request.folder) == begun
    assert {outcome.trial.workload.options["value"] for outcome in listener.outcomes} == {BETTER}
    assert not any("a scan chooses" in words for words in listener.words)


@pytest.mark.usefixtures("fake_image")
def test_what_does_not_run_natively_stays_open(tmp_path: Path) -> None:
    request, listener = measured(campaign_of(behaviour="fail"), tmp_path / "result")
    assert kept_campaign(request.folder).choices == ()
    assert any("the usual options do not run natively" in words for words in listener.words)


def test_given_options_and_a_budget_bound_the_scan() -> None:
    assert open_scans(campaign_of(value=2.0)) == ()
    (free,) = open_scans(campaign_of())
    (bounded,) = open_scans(replace(campaign_of(), budget_s=20.0))
    assert (free.most_s, bounded.most_s) == (MOST_S, 2.0)
    assert bounded.expected_s <= 2.0 <= free.expected_s


def test_instances_of_one_size_share_a_scan_and_its_choice() -> None:
    layouts = tuple(map(Layout.parse, ("1c2p1i", "1c2p2i", "2c1p2i", "1c1p1i")))
    campaign = replace(campaign_of(), layouts=layouts)
    assert [wanted.processors for wanted in open_scans(campaign)] == [2, 1]
    choice = ScanChoice(workload="work", processors=1, options={"value": BETTER}, said="so")
    chosen = replace(campaign, choices=(choice,))
    assert [wanted.processors for wanted in open_scans(chosen)] == [2]
    values = {str(setting): workload.options.get("value") for workload, setting in chosen.cells}
    assert values == {"1c2p1i": None, "1c2p2i": BETTER, "2c1p2i": BETTER, "1c1p1i": BETTER}


def test_a_plan_says_what_is_scanned_and_how_long(capsys: Capture) -> None:
    show_plan(campaign_of(), as_json=False)
    said = (
        "First: work with 1 processor: a scan chooses value from 2 candidates by up to 8 native runs of each"
    )
    assert f"{said} with noise = 0.01, in about 5 s" in capsys.readouterr().out
    show_plan(campaign_of(), as_json=True)
    (scan,) = json.loads(capsys.readouterr().out)["scans"]
    assert scan["candidates"] == [{"value": USUAL}, {"value": BETTER}]


DEPENDS = {"host": "a", "image": "sha256:1", "processors": 2, "limits": {"memory_byte": 1}}


@pytest.mark.parametrize("changed", [{"host": "b"}, {"image": "sha256:2"}, {"processors": 4}, {"limits": {}}])
def test_a_kept_choice_is_of_no_use_where_anything_differs(changed: dict[str, object]) -> None:
    choice = ScanChoice(
        workload="work", processors=2, options={"value": 1}, said="so", medians={"value = 1": 2.0}
    )
    keep_choice(DEPENDS, choice)
    assert kept_choice(DEPENDS) == choice
    assert kept_choice({**DEPENDS, **changed}) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 1, "scans": [3, {"depends": null}]}'])
def test_damaged_choices_are_none(state: Path, text: str) -> None:
    state.mkdir(exist_ok=True)
    (state / FILE).write_text(text)
    assert kept_choice(DEPENDS) is None
    keep_choice(DEPENDS, ScanChoice(workload="work", processors=2, options={}, said="so"))
    assert kept_choice(DEPENDS) is not None
