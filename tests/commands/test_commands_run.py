# SPDX-License-Identifier: Apache-2.0
"""A campaign in which nothing could be compared ends with 3 and says why, with fakes."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fake_campaign import (
    FAKES,
    command_workload,
    fake_campaign,
    fake_environment,
    fake_request,
    fake_workload,
)

from tare.cli import app
from tare.commands.line import Shown
from tare.commands.outermost import ended
from tare.commands.run import is_compared, run_and_show
from tare.environments.fake import Fake
from tare.measure import observation
from tare.measure.campaign import Request
from tare.measure.exclusion import Excluded
from tare.nodes.provider import Probe
from tare.pipeline import analyse_result
from tare.records import Environment, FailIf, Rule

Capture = pytest.CaptureFixture[str]
ABSENT = tuple(Environment(name=name, technology="chroot") for name in ("a", "b", "c", "d", "e"))
pytestmark = pytest.mark.usefixtures("fake_image")


class Missing(Fake):
    def probe(self) -> Probe:
        return Probe(usable=False, reason="it is not installed", remedy="apt install it")


class Dropping(Fake):
    keeps_user = False


class MissingDropping(Missing, Dropping):
    pass


def request(tmp_path: Path, *environments: Environment, **kwargs: object) -> Request:
    campaign = fake_campaign(*environments, **kwargs)  # type: ignore[arg-type]
    asked = fake_request(campaign, tmp_path / "result")
    return replace(asked, providers={**FAKES, "chroot": Missing()})


def test_when_every_environment_was_skipped_the_remedy_and_the_way_on_are_said(
    tmp_path: Path, capsys: Capture
) -> None:
    asked = request(tmp_path, *ABSENT[:1], blocks=2)
    assert run_and_show(asked, Shown()) == 3
    output = capsys.readouterr().err
    assert (
        "tare: nothing could be compared: a was skipped (it is not installed; to get it: apt install it)"
        in output
    )
    assert f"Then continue: tare run {asked.folder.path}\n" in output


def test_of_many_skipped_environments_three_are_named(tmp_path: Path, capsys: Capture) -> None:
    assert run_and_show(request(tmp_path, *ABSENT, blocks=2), Shown(as_json=True)) == 3
    printed = capsys.readouterr()
    (shown,) = [line for line in printed.err.splitlines() if line.startswith("tare: ")]
    assert "c was skipped" in shown
    assert "d was skipped" not in shown
    assert "2 more were skipped (tare doctor says how to get them)" in shown
    assert json.loads(printed.out)["verdicts"] == [], "standard output is for programs alone"


def test_one_environment_that_was_compared_is_enough(tmp_path: Path, capsys: Capture) -> None:
    asked = request(tmp_path, ABSENT[0], fake_environment(), workload=fake_workload(noise=0.001), blocks=1)
    assert run_and_show(asked, Shown()) == 0
    assert "nothing could be compared" not in capsys.readouterr().err


def test_a_failed_trial_keeps_its_exit_code_and_the_reason_is_said_too(
    tmp_path: Path, capsys: Capture
) -> None:
    asked = request(tmp_path, fake_environment("broken", broken="start"), blocks=2)
    assert run_and_show(asked, Shown()) == 1
    output = capsys.readouterr().err
    assert "nothing could be compared: 2 of 6 trials do not count: " in output
    assert "told to fail at its start" in output
    assert f"begin a new result: tare run {asked.folder.path / 'campaign.json'}" in output


def test_a_condition_that_nothing_can_decide_keeps_its_exit_code(tmp_path: Path) -> None:
    condition = FailIf(text="overhead > 10%", threshold=0.1)
    asked = request(tmp_path, ABSENT[0], blocks=2, fail_if=(condition,))
    assert run_and_show(asked, Shown(as_json=True)) == 1
    passing = replace(asked, campaign=replace(asked.campaign, undecided_fails=False))
    assert run_and_show(passing, Shown(as_json=True)) == 3


def test_when_rules_took_out_every_trial_the_most_frequent_is_said(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken_out = Excluded(rule=Rule.FOREIGN_LOAD, reason="others used too much")
    monkeypatch.setattr(observation, "excluded", lambda *_: taken_out)
    assert run_and_show(request(tmp_path, fake_environment(), blocks=2), Shown()) == 3
    assert "6 of 6 trials do not count: others used too much" in capsys.readouterr().err


def test_when_the_budget_cut_off_everything_it_is_to_be_raised(tmp_path: Path, capsys: Capture) -> None:
    workload = command_workload("/bin/sleep", "30")
    asked = request(tmp_path, fake_environment(), workload=workload, blocks=1, budget_s=0.5)
    assert run_and_show(asked, Shown()) == 3
    output = capsys.readouterr().err
    assert "nothing could be compared: the time budget ended before a block was whole" in output
    assert f"Continue with a larger budget: tare run {asked.folder.path} --budget TIME" in output


def test_a_campaign_that_asks_for_native_alone_has_its_answer(tmp_path: Path) -> None:
    asked = request(tmp_path, workload=fake_workload(noise=0.001), blocks=2)
    alone = replace(asked, campaign=replace(asked.campaign, environments=()))
    assert run_and_show(alone, Shown()) == 0
    assert is_compared(analyse_result(alone.folder.path), alone.campaign)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's commands can be root")
@pytest.mark.parametrize("user", ["root", "ordinary"])
def test_that_commands_are_root_is_the_first_line(user: str, tmp_path: Path, capsys: Capture) -> None:
    asked = request(tmp_path, ABSENT[0], blocks=2)
    own = {"native": Dropping(), "chroot": MissingDropping()}
    run_and_show(replace(asked, campaign=replace(asked.campaign, user=user), providers=own))
    first = capsys.readouterr().err.splitlines()[0]
    assert first.startswith("a command that you weigh is root on this host in native, a: ") == (
        user == "root"
    )


@pytest.mark.parametrize("command", ["show", "report"])
def test_a_result_whose_journal_is_gone_is_no_empty_result(
    command: str, tmp_path: Path, capsys: Capture
) -> None:
    folder = tmp_path / "result"
    run_and_show(request(tmp_path, fake_environment(), blocks=2), Shown())
    for file in (folder / "journal").iterdir():
        file.unlink()
    capsys.readouterr()
    assert ended(lambda: app(args=[command, str(folder)], standalone_mode=False)) == 3
    assert f"no measurement: nothing was run yet, or its journal was removed; tare run {folder}" in (
        capsys.readouterr().err
    )
