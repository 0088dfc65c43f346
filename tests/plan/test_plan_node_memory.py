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
