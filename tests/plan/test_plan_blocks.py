# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from tare.errors import CampaignError, InputError
from tare.plan.blocks import parse_fail_if
from tare.plan.campaign import Campaign, differences, with_overrides
from tests.plan.plan_example import GOOD, kept_and_read, load_text

ENVIRONMENTS = ("docker", "small-bottle", "no-op")


@pytest.mark.parametrize(
    ("text", "threshold", "environment", "metric"),
    [
        ("overhead > 2%", 0.02, None, None),
        ("overhead>2.5 %", 0.025, None, None),
        ("docker overhead > 0%", 0.0, "docker", None),
        ("small-bottle: overhead > 10%", 0.1, "small-bottle", None),
        ("cpu_s overhead > -5%", -0.05, None, "cpu_s"),
        ("docker wall_s overhead > 2%", 0.02, "docker", "wall_s"),
        ("docker:wall_s overhead > 2%", 0.02, "docker", "wall_s"),
    ],
)
def test_a_condition_names_an_environment_a_metric_both_or_none(
    text: str, threshold: float, environment: str | None, metric: str | None
) -> None:
    fail_if = parse_fail_if(text, ENVIRONMENTS)
    assert fail_if.threshold == pytest.approx(threshold)
    assert (fail_if.text, fail_if.environment, fail_if.metric) == (text, environment, metric)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is no condition"),
        ("overhead > 2", "is no condition"),
        ("overhead < 2%", "is no condition"),
        ("overhead > much%", "is no condition"),
        ("overhead > nan%", "is no condition"),
        ("overhead > -100%", "no overhead is below -100 %"),
        ("a b c overhead > 2%", "names more than an environment and a metric"),
        ("dokcer overhead > 2%", "no environment 'dokcer'; did you mean 'docker'"),
        ("podman wall_s overhead > 2%", "no environment 'podman'"),
        ("native overhead > 2%", "no environment 'native'"),
        ("docker small-bottle overhead > 2%", "is no name of a metric"),
    ],
)
def test_what_is_no_condition_is_told(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse_fail_if(text, ENVIRONMENTS)


def declared(folder: Path, text: str) -> Campaign:
    return load_text(folder, f"{GOOD}\n[decision]\n{text}\n")


def test_a_campaign_declares_conditions_and_keeps_them(tmp_path: Path) -> None:
    campaign = declared(tmp_path, 'fail_if = ["overhead > 2%", "docker overhead > 5%"]\nundecided = "pass"')
    assert [condition.threshold for condition in campaign.fail_if] == [0.02, 0.05]
    assert not campaign.undecided_fails
    assert kept_and_read(campaign) == campaign
    assert campaign.design.fail_if == campaign.fail_if


def test_one_condition_needs_no_list(tmp_path: Path) -> None:
    (condition,) = declared(tmp_path, 'fail_if = "overhead > 2%"').fail_if
    assert condition.text == "overhead > 2%"


@pytest.mark.parametrize("text", ['fail_if = "soon"', "fail_if = 2", 'undecided = "maybe"', 'fail_iff = "x"'])
def test_a_wrong_decision_is_told_with_its_key(tmp_path: Path, text: str) -> None:
    with pytest.raises(CampaignError, match=r"campaign\.toml:\d+: decision\.(fail_if|undecided)"):
        declared(tmp_path, text)


def test_the_command_line_replaces_the_conditions(tmp_path: Path) -> None:
    campaign = declared(tmp_path, 'fail_if = "overhead > 2%"')
    asked = with_overrides(campaign, fail_if=["docker overhead > 7%"], undecided_fails=False)
    assert [condition.text for condition in asked.fail_if] == ["docker overhead > 7%"]
    assert not asked.undecided_fails
    assert differences(campaign, asked) == [
        "fail_if: overhead > 2% in the result, docker overhead > 7% now",
        "undecided_fails: True in the result, False now",
    ]
    with pytest.raises(InputError, match="--fail-if: 'soon' is no condition"):
        with_overrides(campaign, fail_if=["soon"])


def test_a_number_of_blocks_on_the_command_line_is_one_look(tmp_path: Path) -> None:
    text = GOOD.replace(
        "{ count = 12, margin = 0.02 }", "{ looks = [6, 12], precision = { absolute = 0.05 } }"
    )
    campaign = load_text(tmp_path, text)
    assert (campaign.looks, campaign.precise_absolute, campaign.precise_relative) == ((6, 12), 0.05, 0.2)
    assert kept_and_read(campaign) == campaign
    assert with_overrides(campaign, blocks=8).looks == (8,)
    assert differences(campaign, with_overrides(campaign, blocks=12)) == [
        "looks: after 6, 12 blocks in the result, after all blocks now"
    ]
