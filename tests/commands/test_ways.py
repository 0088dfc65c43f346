# SPDX-License-Identifier: Apache-2.0
"""What a run says before its first trial of the ways in which its metrics are measured, with fakes."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.fake_campaign import fake_campaign, fake_environment, fake_request, fake_workload

from tare.commands import noise
from tare.commands.line import Shown
from tare.commands.run import run_and_show
from tare.commands.ways import ways_said
from tare.host.facts import host_facts
from tare.plan.campaign import Campaign
from tare.records import Turns, Way, Workload

Capture = pytest.CaptureFixture[str]
SLICES = Workload(
    name="resident", kind="fake", options={"slices": True, "value": 0.001, "noise": 0.01}, way=Way.SLICES
)
FROZEN = Workload(name="frozen", kind="command", options={"argv": ["true"]}, way=Way.FREEZER)
WHOLE = fake_workload(noise=0.01)
UNKNOWN = "nothing is known yet of this host's noise with them"
pytestmark = pytest.mark.usefixtures("fake_image")


def campaign_of(*workloads: Workload, blocks: int = 6) -> Campaign:
    turns = Turns(slice_s=0.006, rounds=4, processes=1)
    campaign = fake_campaign(fake_environment("same"), blocks=blocks)
    return replace(campaign, workloads=workloads, turns=turns)


def test_each_way_has_one_line_with_its_metrics_blocks_and_rounds(tmp_path: Path) -> None:
    campaign = campaign_of(SLICES, replace(SLICES, name="another"), FROZEN, WHOLE)
    unknown = f"{UNKNOWN}: `tare plan quick --pilot` measures it and says what can be decided"
    assert ways_said(campaign, 6, "tare plan quick --pilot", tmp_path) == [
        f"2 metrics take turns by slices of 6 ms: 6 blocks of 4 rounds; {unknown}",
        f"1 metric takes turns by the freezer, where all environments can be frozen: 6 blocks; {unknown}",
        f"1 metric of whole runs, one after the other: 6 blocks; {unknown}",
    ]


def test_with_looks_the_blocks_are_the_most_that_are_run(tmp_path: Path) -> None:
    campaign = replace(campaign_of(SLICES), blocks=12, looks=(8, 12))
    assert ways_said(campaign, 12, None, tmp_path) == [
        f"1 metric takes turns by slices of 6 ms: up to 12 blocks of 4 rounds; {UNKNOWN}"
    ]


def test_a_campaign_that_switches_turns_off_has_whole_runs_alone(tmp_path: Path) -> None:
    (line,) = ways_said(replace(campaign_of(SLICES, FROZEN), turns=None), 6, None, tmp_path)
    assert line.startswith("2 metrics of whole runs")


def test_the_next_run_expects_what_the_last_one_learnt_of_the_noise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    campaign = campaign_of(SLICES)
    for name in ("first", "second"):
        run_and_show(fake_request(campaign, Path("results") / name), Shown(as_json=True, verbose=True))
    first, second = (
        next(line for line in said.splitlines() if "takes turns" in line)
        for said in capsys.readouterr().err.split("report: ")[:2]
    )
    assert first.endswith(UNKNOWN)
    assert "; at the noise of results/first expect 95 % intervals of about ±" in second


def test_what_is_expected_follows_from_the_noise_and_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    arm = noise.ArmNoise(
        workload=SLICES,
        turns=campaign_of(SLICES).turns,
        layout="1c1p1i",
        environment="same",
        metric="time_s",
        spread=0.02,
        n=9,
    )
    other = noise.History(
        name="results/newer", arms=[replace(arm, workload=WHOLE), replace(arm, metric="else")]
    )
    history = noise.History(
        name="results/before", arms=[arm, replace(arm, environment="native again", spread=0.01)]
    )
    monkeypatch.setattr("tare.commands.ways.kept_histories", lambda _: [other, history])
    (line,) = ways_said(campaign_of(SLICES, blocks=18), 18)
    # 1.96 x 0.02 / sqrt(18 - 2)
    assert line.endswith("at the noise of results/before expect 95 % intervals of about ±0.98 %")
    longer = replace(campaign_of(SLICES), turns=Turns(slice_s=0.06, rounds=4, processes=1))
    assert ways_said(longer, 18)[0].endswith(UNKNOWN)


def test_noise_that_another_host_kept_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "results" / "one"
    run_and_show(fake_request(campaign_of(SLICES), folder), Shown(as_json=True))
    (kept,) = noise.kept_histories(tmp_path / "results")
    assert {arm.environment for arm in kept.arms} == {"same", "native again"}
    monkeypatch.setattr(noise, "host_facts", lambda: {**host_facts(), "processor": "another"})
    assert noise.kept_histories(tmp_path / "results") == []


@pytest.mark.parametrize("damage", ['{"host": {}', '{"host": {}, "arms": [{"spread": NaN}]}', "[]"])
def test_damaged_noise_is_passed_over(damage: str, tmp_path: Path) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "campaign.json").write_text("{}")
    (folder / "noise.json").write_text(damage)
    assert noise.kept_histories(tmp_path) == []


def test_noise_of_options_that_this_version_does_not_know_is_no_error() -> None:
    strange = replace(SLICES, options={**SLICES.options, "of_tomorrow": 1})
    arm = noise.ArmNoise(
        workload=strange, turns=None, layout="1c1p1i", environment="same", metric="time_s", spread=0.02, n=9
    )
    history = noise.History(name="results/before", arms=[arm])
    assert history.alike(SLICES, None, "1c1p1i", "same") == []


def test_too_few_blocks_are_no_unknown_noise(tmp_path: Path) -> None:
    assert ways_said(campaign_of(SLICES), 4, None, tmp_path)[0].endswith(
        "fewer than 6 blocks give no interval"
    )
