# SPDX-License-Identifier: Apache-2.0
"""The slices' length chosen by a native pilot, with fakes."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fake_campaign import FAKES, Listener, fake_campaign, fake_environment, fake_request

from tare.commands import noise, plan, slice_lengths
from tare.commands.line import Shown
from tare.commands.run import run_and_show
from tare.commands.slice_lengths import Lengths, recommended, try_lengths, with_slices
from tare.errors import InputError
from tare.measure.kept import kept_campaign
from tare.plan.campaign import Campaign
from tare.plan.turns import turn_s
from tare.records import SliceLength, Turns, Way, Workload

Capture = pytest.CaptureFixture[str]
WORK = Workload(name="work", kind="fake", options={"slices": True, "value": 0.001}, way=Way.SLICES)
ASKED = Turns(slice_s=0.06, rounds=12, processes=2)
FILE = """name = "chosen"
blocks = 2
[turns]
slice = "auto"
rounds = 4
processes = 1
[[environment]]
technology = "fake"
[[workload]]
name = "work"
kind = "fake"
slices = true
value = 0.001
"""
pytestmark = pytest.mark.usefixtures("fake_image")


@pytest.fixture
def _short_pilot(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = {"fake": {"slices": True, "value": slice_lengths.PIECE_S, "noise": 0.02, "seed": 3}}
    monkeypatch.setattr(slice_lengths, "_TRIED", tried)
    monkeypatch.setattr(slice_lengths, "_ROUNDS", 100)


def lengths(**half_widths: tuple[float, ...]) -> Lengths:
    """Of slices of 3, 6, 12, ... ms."""
    metrics = {
        name: tuple(
            SliceLength(length_s=0.003 * 2**place, deviation=0.1, half_width=width)
            for place, width in enumerate(widths)
        )
        for name, widths in half_widths.items()
    }
    return Lengths(time_s=9.0, arms=3, metrics=metrics)


def auto(*workloads: Workload) -> Campaign:
    campaign = fake_campaign(fake_environment("same"), blocks=2)
    turns = Turns(rounds=4, processes=1)
    return replace(campaign, workloads=workloads or (WORK,), turns=turns, auto_slice=True)


def test_the_length_is_recommended_that_decides_most_of_the_noisier_metric() -> None:
    tried = lengths(one=(0.01, 0.004, 0.03, 0.03, 0.05), other=(0.02, 0.012, 0.008, 0.03, 0.05))
    assert recommended(ASKED, tried).slice_s == 0.006


def test_the_rounds_of_another_length_take_the_time_of_those_asked_for() -> None:
    chosen = recommended(ASKED, lengths(one=(0.01, 0.004, 0.03, 0.03, 0.05)))
    assert chosen.processes == ASKED.processes
    assert chosen.rounds * turn_s(chosen.slice_s) == pytest.approx(12 * turn_s(0.06), rel=0.01)


def test_a_length_that_decides_about_as_much_is_kept() -> None:
    assert recommended(ASKED, lengths(one=(0.0099, 0.0095, 0.01, 0.01, 0.01))) == ASKED


def test_a_pilot_that_shows_nothing_recommends_nothing() -> None:
    assert recommended(ASKED, lengths(one=())) == ASKED
    assert recommended(ASKED, lengths()) == ASKED


@pytest.mark.usefixtures("_short_pilot")
def test_the_pilot_measures_native_pieces_and_joins_them() -> None:
    listener = Listener()
    tried = try_lengths(auto(), listener, FAKES)
    assert tried is not None
    assert {outcome.trial.environment.name for outcome in listener.outcomes} == {"native"}
    shown = [round(length.length_s, 3) for length in tried.metrics["time_s"]]
    assert shown == [0.003, 0.006, 0.012, 0.024, 0.048]


@pytest.mark.usefixtures("_short_pilot")
def test_a_run_that_leaves_the_length_to_tare_keeps_what_the_pilot_chose(
    tmp_path: Path, capsys: Capture
) -> None:
    request = fake_request(auto(), tmp_path / "result")
    run_and_show(request, Shown(as_json=True))
    kept = kept_campaign(request.folder)
    assert kept.turns is not None
    said = (
        f"slices of {1000 * kept.turns.slice_s:.0f} ms in {kept.turns.rounds} rounds decide most on this host"
    )
    assert said in capsys.readouterr().err
    assert kept.turns.slice_s < 0.06
    assert not kept.auto_slice


def test_a_continued_run_takes_the_length_that_its_result_was_begun_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = replace(auto(), turns=Turns(slice_s=0.007, rounds=30, processes=1), auto_slice=False)
    request = fake_request(begun, tmp_path / "result")
    run_and_show(request, Shown(as_json=True))
    monkeypatch.setattr(slice_lengths, "try_lengths", None)
    again = with_slices(replace(request, campaign=auto()), Listener())
    assert again.campaign == begun
    other = replace(auto(), turns=Turns(rounds=4, processes=5))
    with pytest.raises(InputError, match="processes"):
        run_and_show(replace(request, campaign=other), Shown(as_json=True))


def test_whole_runs_have_no_length_to_choose(tmp_path: Path) -> None:
    request = fake_request(auto(replace(WORK, way=Way.WHOLE)), tmp_path / "result")
    listener = Listener()
    assert with_slices(request, listener).campaign == replace(request.campaign, auto_slice=False)
    assert listener.words == []


def test_a_plan_says_that_the_length_is_chosen_later(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "auto.toml").write_text(FILE)
    plan.run_plan(str(tmp_path / "auto.toml"), 1, as_json=False)
    assert "Slices are counted as of 60 ms: `tare run` chooses their length first" in capsys.readouterr().out


@pytest.fixture
def _known_pilot(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = lengths(one=(0.01, 0.004, 0.03, 0.03, 0.05))
    monkeypatch.setattr(slice_lengths, "try_lengths", lambda *_: tried)
    monkeypatch.setattr(noise, "pilot", lambda *_: noise.History(name="the pilot", arms=()))


@pytest.mark.usefixtures("_known_pilot")
def test_a_plan_with_a_pilot_counts_with_the_length_that_it_chose(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "auto.toml").write_text(FILE)
    plan.run_plan(str(tmp_path / "auto.toml"), 1, as_json=False, pilot=True)
    printed = capsys.readouterr().out
    assert "This campaign's slices of 6 ms decide most here: about ±0.4 %." in printed
    plan.run_plan(str(tmp_path / "auto.toml"), 1, as_json=True, pilot=True)
    machine = json.loads(capsys.readouterr().out)
    assert machine["campaign"]["turns"] == machine["slice_lengths"]["recommended"]
    assert machine["campaign"]["turns"]["slice_s"] == 0.006


@pytest.mark.usefixtures("_known_pilot")
def test_a_plan_with_a_pilot_says_what_to_write_into_a_campaign_of_another_length(
    tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "fixed.toml").write_text(FILE.replace('"auto"', '"48ms"'))
    plan.run_plan(str(tmp_path / "fixed.toml"), 1, as_json=False, pilot=True)
    printed = " ".join(capsys.readouterr().out.split())
    assert "On this host slices of 6 ms decide most: about ±0.4 %" in printed
    assert "campaign's 48 ms ±5 % in the same time" in printed
    assert '[turns] slice = "6ms" rounds = 27 processes = 1' in printed
