# SPDX-License-Identifier: Apache-2.0
"""The rules that take a trial out, as a campaign file declares them."""

import json
from pathlib import Path

import pytest

from tare.errors import CampaignError
from tare.plan.campaign import Campaign, differences
from tare.records import Exclude
from tests.plan.plan_example import GOOD, KINDS, PROVIDERS, kept_and_read, load


def with_rules(folder: Path, rules: str) -> Campaign:
    path = folder / "campaign.toml"
    path.write_text(GOOD.replace("[limits]", f"[exclude]\n{rules}\n\n[limits]"))
    return load(path)


def test_nothing_is_taken_out_unless_the_campaign_says_so(tmp_path: Path) -> None:
    assert with_rules(tmp_path, "").exclude == Exclude(
        foreign_load=None, frequency_change=None, temperature_c=None
    )


def test_a_limit_is_taken_as_written_and_off_turns_a_rule_off(tmp_path: Path) -> None:
    campaign = with_rules(tmp_path, 'foreign_load = "off"\nfrequency_change = 0.05\ntemperature_c = 85')
    assert campaign.exclude == Exclude(foreign_load=None, frequency_change=0.05, temperature_c=85.0)
    assert kept_and_read(campaign).exclude == campaign.exclude


@pytest.mark.parametrize("value", ["0", "-0.5", "nan", "inf", "true", '"never"', "[]"])
def test_what_is_no_limit_is_refused_with_its_line(tmp_path: Path, value: str) -> None:
    with pytest.raises(CampaignError, match=r"campaign\.toml:9: exclude\.foreign_load"):
        with_rules(tmp_path, f"foreign_load = {value}")


def test_an_unknown_rule_is_refused_with_the_nearest_one(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="did you mean 'foreign_load'"):
        with_rules(tmp_path, "foreign_laod = 0.5")


def test_a_changed_rule_is_another_campaign(tmp_path: Path) -> None:
    before, after = with_rules(tmp_path, "foreign_load = 0.5"), with_rules(tmp_path, "foreign_load = 0.4")
    assert differences(before, after) == ["exclude.foreign_load: 0.5 in the result, 0.4 now"]


def test_a_result_of_an_earlier_version_has_the_default_rules(tmp_path: Path) -> None:
    campaign = with_rules(tmp_path, "")
    data = {key: value for key, value in campaign.to_json().items() if key != "exclude"}
    read = Campaign.from_json(json.loads(json.dumps(data)), "campaign.json", providers=PROVIDERS, kinds=KINDS)
    assert read.exclude == Exclude()
