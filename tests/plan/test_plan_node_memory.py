# SPDX-License-Identifier: Apache-2.0
"""``memory_per_node``: nodes of one size, whatever their number, as guests are sized."""

from pathlib import Path

import pytest

from tare.errors import CampaignError
from tare.plan.trials import plan_trials
from tests.plan.plan_example import kept_and_read, load_text

MEBIBYTE = 1 << 20
CAMPAIGN = """\
name = "guests"
blocks = 6
layouts = ["1c1p1i", "2c2p1i"]

[limits]
memory_per_node = "256 MiB"

[[environment]]
technology = "bottle"

[[workload]]
name = "count"
"""
SHARING = """
[[sharing]]
alone = "1c1p1i"
together = ["3c1p3i"]
neighbour = { workload = "count", count = 2 }
"""


def test_each_layout_has_the_memory_of_its_nodes_and_natives_one_node_as_much(tmp_path: Path) -> None:
    trials = plan_trials(load_text(tmp_path, CAMPAIGN), 1)
    memory = {(str(trial.layout), trial.limits.memory_byte) for trial in trials}
    assert memory == {("1c1p1i", 256 * MEBIBYTE), ("2c2p1i", 512 * MEBIBYTE)}
    assert {trial.limits.shm_byte for trial in trials} == {128 * MEBIBYTE}


def test_company_does_not_change_a_nodes_memory(tmp_path: Path) -> None:
    campaign = load_text(tmp_path, CAMPAIGN + SHARING)
    memory = {str(setting): setting.limits.memory_byte // MEBIBYTE for setting in campaign.settings}
    assert memory == {"1c1p1i": 256, "2c2p1i": 512, "3c1p3i": 768, "1c1p1i+2xcount": 256}
    beside = next(setting for setting in campaign.settings if setting.company)
    assert beside.neighbour_node[1].memory_byte == 256 * MEBIBYTE


def test_it_survives_being_kept(tmp_path: Path) -> None:
    campaign = load_text(tmp_path, CAMPAIGN)
    assert kept_and_read(campaign) == campaign


@pytest.mark.parametrize(
    ("written", "instead", "says"),
    [
        ("memory_per_node", 'memory = "1 GiB"\nmemory_per_node', "give one of them"),
        ("256 MiB", "5 GiB", "2 nodes of 5 GiB in 2c2p1i need more than this host's 8 GiB"),
        ("256 MiB", "9 GiB", "more than this host's 8 GiB"),
        ("256 MiB", "1 MiB", "too little"),
        ('256 MiB"', '256 MiB"\nshm = "512 MiB"', "more than the memory"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, written: str, instead: str, says: str) -> None:
    with pytest.raises(CampaignError, match=says):
        load_text(tmp_path, CAMPAIGN.replace(written, instead, 1))


def test_several_instances_in_one_node_are_refused_because_each_would_have_less(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="get less of it in 1c3p3i"):
        load_text(tmp_path, CAMPAIGN + SHARING.replace("3c1p3i", "1c3p3i"))


GUESTS = CAMPAIGN.replace('"1c1p1i", "2c2p1i"', '"70c1p1i"').replace("256 MiB", "64 MiB")


def test_more_nodes_share_a_processor_where_the_campaign_says_so(tmp_path: Path) -> None:
    with pytest.raises(
        CampaignError, match="at most 16 may share one; oversubscribe = 18 in a campaign lets more"
    ):
        load_text(tmp_path, GUESTS)
    campaign = load_text(tmp_path, f"oversubscribe = 18\n{GUESTS}")
    assert campaign.limits.memory_byte == 70 * 64 * MEBIBYTE


def test_a_campaign_may_also_refuse_to_share_processors(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="at most 1 may share one"):
        load_text(tmp_path, f"oversubscribe = 1\n{CAMPAIGN}".replace('"2c2p1i"', '"5c1p1i"'))


@pytest.mark.parametrize("value", ["0", "201", "true", '"18"'])
def test_a_wrong_oversubscription_is_told(tmp_path: Path, value: str) -> None:
    with pytest.raises(CampaignError, match="oversubscribe: must be"):
        load_text(tmp_path, f"oversubscribe = {value}\n{CAMPAIGN}")


def test_stated_memory_of_many_guests_must_still_fit_the_host(tmp_path: Path) -> None:
    with pytest.raises(
        CampaignError, match="70 nodes of 256 MiB in 70c1p1i need more than this host's 8 GiB"
    ):
        load_text(tmp_path, f"oversubscribe = 18\n{GUESTS}".replace("64 MiB", "256 MiB"))
