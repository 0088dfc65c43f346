# SPDX-License-Identifier: Apache-2.0
import json
from pathlib import Path

import pytest

from tare.commands.plan import run_plan
from tare.errors import CampaignError

Capture = pytest.CaptureFixture[str]


def test_a_plan_shows_arms_order_time_and_precision(capsys: Capture) -> None:
    assert run_plan("fake", 5, as_json=False) == 0
    printed = capsys.readouterr().out
    assert "Campaign fake (seed 5)\n" in printed
    assert "native twice, fake-same, fake-5, fake-20" in printed
    assert printed.count("Order of block") == 2
    assert "50 trials in 10 blocks, about " in printed
    assert "95 % interval" in printed
    assert "Warning" not in printed


def test_a_drawn_seed_is_told_so_that_the_plan_can_be_repeated(capsys: Capture) -> None:
    run_plan("fake", None, as_json=True)
    first = json.loads(capsys.readouterr().out)
    run_plan("fake", first["seed"], as_json=True)
    assert json.loads(capsys.readouterr().out)["trials"] == first["trials"]


def test_the_plan_for_programs_has_every_trial(capsys: Capture) -> None:
    run_plan("fake", 5, as_json=True)
    data = json.loads(capsys.readouterr().out)
    assert data["schema"] == 1
    assert len(data["trials"]) == 50
    assert data["fitting_blocks"] == 10
    assert len({trial["identity"] for trial in data["trials"]}) == 50


def test_too_few_blocks_are_warned_of(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "few.toml"
    path.write_text(
        'name = "few"\nblocks = 5\n[[environment]]\ntechnology = "fake"\n[[workload]]\nname = "fake"\n'
    )
    run_plan(str(path), 1, as_json=False)
    assert (
        "Warning: 5 blocks give no 95 % interval, which takes 6: ask for more blocks"
        in capsys.readouterr().out
    )


def test_a_wrong_campaign_is_an_error_not_a_plan(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text("name = 1\n")
    with pytest.raises(CampaignError, match=str(path)):
        run_plan(str(path), None, as_json=False)
    assert capsys.readouterr().out == ""
