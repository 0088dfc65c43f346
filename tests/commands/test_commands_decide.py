# SPDX-License-Identifier: Apache-2.0
"""``tare run --fail-if`` and ``tare plan`` with noise to go by, with fakes."""

import json
from pathlib import Path

import pytest
from tests.fake_campaign import FAKES, Listener, fake_campaign, fake_environment, fake_request, fake_workload

from tare.commands import noise, plan
from tare.commands.line import Shown
from tare.commands.run import Overrides, fell_short, run_and_show
from tare.errors import InputError
from tare.host.facts import host_facts
from tare.measure.campaign import measure_campaign
from tare.plan.campaign import Campaign, with_overrides
from tare.records import Analysis, Decision, FailIf, Ruling

Capture = pytest.CaptureFixture[str]
QUIET = fake_workload(noise=0.002)
SAME, SLOW = fake_environment("same"), fake_environment("slow", slowdown=0.2)
pytestmark = pytest.mark.usefixtures("fake_image")


def test_a_condition_decides_the_exit_code_and_is_answered_in_words_and_in_json(
    tmp_path: Path, capsys: Capture
) -> None:
    campaign = fake_campaign(SLOW, workload=QUIET, blocks=6)
    asked = with_overrides(campaign, fail_if=["slow overhead > 10%"])
    assert run_and_show(fake_request(asked, tmp_path / "result"), Shown(as_json=True)) == 1
    printed = capsys.readouterr()
    expected = "slow (time_s of work on 1c1p1i): the overhead exceeds 10 %"
    assert f"--fail-if 'slow overhead > 10%': {expected}" in printed.err
    (decision,) = json.loads(printed.out)["decisions"]
    assert (decision["ruling"], decision["threshold"]) == ("exceeded", 0.1)
    assert decision["interval"]["low"] > 0.1


def decided(*rulings: Ruling) -> Analysis:
    condition = FailIf(text="overhead > 10%", threshold=0.1)
    return Analysis(
        campaign="asked",
        sessions=(),
        verdicts=(),
        controls=(),
        outcomes=(),
        skipped=(),
        margin=0.01,
        planned_trials=0,
        decisions=tuple(
            Decision(
                condition=condition,
                cell=None,
                environment="same",
                metric=None,
                ruling=ruling,
                interval=None,
                sentence="",
            )
            for ruling in rulings
        ),
    )


@pytest.mark.parametrize(
    ("rulings", "undecided", "short"),
    [
        ((), None, False),
        ((Ruling.KEPT,), None, False),
        ((Ruling.KEPT, Ruling.UNDECIDED), None, True),
        ((Ruling.KEPT, Ruling.UNDECIDED), "fail", True),
        ((Ruling.KEPT, Ruling.UNDECIDED), "pass", False),
        ((Ruling.UNDECIDED, Ruling.EXCEEDED), "pass", True),
    ],
)
def test_undecided_fails_unless_the_user_says_otherwise(
    rulings: tuple[Ruling, ...], undecided: str | None, short: bool
) -> None:
    asked = Overrides(undecided=undecided).undecided_fails
    campaign = with_overrides(fake_campaign(), undecided_fails=asked)
    assert fell_short(decided(*rulings), undecided_fails=campaign.undecided_fails) == short


def test_another_word_for_undecided_is_refused() -> None:
    with pytest.raises(InputError, match="--undecided: must be fail or pass"):
        _ = Overrides(undecided="maybe").undecided_fails


def test_another_condition_cannot_be_asked_of_a_result_that_was_begun(tmp_path: Path) -> None:
    campaign = fake_campaign(SAME, workload=QUIET, blocks=1)
    first, other = (with_overrides(campaign, fail_if=[f"same overhead > {limit}%"]) for limit in (10, 9))
    measure_campaign(fake_request(first, tmp_path / "result"), Listener())
    with pytest.raises(InputError, match="fail_if: same overhead > 10% in the result"):
        measure_campaign(fake_request(other, tmp_path / "result"), Listener())


def measured(folder: Path) -> Campaign:
    campaign = fake_campaign(SAME, workload=fake_workload(noise=0.01), blocks=6)
    measure_campaign(fake_request(campaign, folder), Listener())
    return campaign


def test_the_noise_of_an_earlier_result_tells_what_a_campaign_can_decide(tmp_path: Path) -> None:
    campaign = measured(tmp_path / "result")
    both = fake_campaign(SAME, SLOW, workload=campaign.workloads[0], looks=(10, 16))
    same, slow = noise.foresights(both, noise.histories(tmp_path / "result"))
    assert (same.environment, slow.environment) == ("same", "slow")
    assert same.noise.source == f"same in {tmp_path / 'result'}"
    assert slow.noise.source == f"native against native in {tmp_path / 'result'}"
    for entry in (same, slow):
        assert entry.noise.n == 6
        assert 0.001 < entry.noise.spread < 0.05
        assert [look.blocks for look in entry.looks] == [10, 16]


def test_another_workload_tells_nothing(tmp_path: Path) -> None:
    measured(tmp_path / "result")
    other = fake_campaign(SAME, workload=fake_workload(noise=0.5))
    assert noise.foresights(other, noise.histories(tmp_path / "result")) == ()


def test_of_the_results_folder_only_those_of_this_host_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured(tmp_path / "results" / "here")
    (tmp_path / "results" / "broken").mkdir()
    (tmp_path / "results" / "broken" / "campaign.json").write_text("{")
    assert [history.name for history in noise.histories(None, tmp_path / "results")] == [
        str(tmp_path / "results" / "here")
    ]
    monkeypatch.setattr(noise, "host_facts", lambda: {**host_facts(), "processor": "another"})
    assert noise.histories(None, tmp_path / "results") == []


def test_a_result_that_is_named_and_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such result folder"):
        noise.histories(tmp_path / "nothing")


def test_a_pilot_measures_native_alone_and_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(noise, "_PILOT_BLOCKS", 6)
    monkeypatch.chdir(tmp_path)
    listener = Listener()
    campaign = fake_campaign(SAME, SLOW, workload=fake_workload(noise=0.01), looks=(10, 16))
    foresights = noise.foresights(campaign, [noise.pilot(campaign, listener, FAKES)])
    assert [entry.environment for entry in foresights] == ["same", "slow"]
    assert {entry.noise.source for entry in foresights} == {"native against native in the pilot"}
    assert {outcome.trial.environment.technology for outcome in listener.outcomes} == {"native"}
    assert not (tmp_path / "results").exists()


def test_the_plan_shows_what_each_look_can_decide(tmp_path: Path, capsys: Capture) -> None:
    campaign = measured(tmp_path / "result")
    path = tmp_path / "next.toml"
    path.write_text(
        'name = "next"\nblocks = { looks = [3, 12, 16] }\n[decision]\nfail_if = "same overhead > 5%"\n'
        '[[environment]]\ntechnology = "fake"\nname = "same"\n[[workload]]\nname = "work"\nkind = "fake"\n'
        + "".join(f"{key} = {value}\n" for key, value in campaign.workloads[0].options.items())
    )
    assert plan.run_plan(str(path), 1, as_json=False, history=tmp_path / "result") == 0
    output = capsys.readouterr().out
    assert "48 trials in 16 blocks at most" in output
    assert "Fails if: same overhead > 5%." in output
    assert "Warning: a look after 3 of 16 blocks is too early for any interval." in output
    assert "What the looks can decide at the noise of this host" in output
    plan.run_plan(str(path), 1, as_json=True, history=tmp_path / "result")
    (foretold,) = json.loads(capsys.readouterr().out)["foresight"]
    assert [look["blocks"] for look in foretold["looks"]] == [3, 12, 16]
    assert foretold["looks"][0]["smallest_slowdown"] is None
