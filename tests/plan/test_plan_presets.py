# SPDX-License-Identifier: Apache-2.0
import pytest

from tare.errors import CampaignError
from tare.plan.budget import fits
from tare.plan.campaign import Campaign, load_preset, preset_names, resolve
from tare.plan.source import preset_path
from tare.plan.trials import plan_trials
from tare.statistics.aligned_ranks import reaches
from tare.statistics.boundary import spending
from tare.statistics.evidence import Reach
from tare.statistics.multiplicity import ERROR
from tare.workloads import primary_metrics
from tests.plan.preset_hosts import resolved_preset

GIBIBYTE = 1024**3


def preset(name: str, processors: int = 4) -> Campaign:
    return resolved_preset(name, processors=processors, memory_byte=8 * GIBIBYTE)


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_is_valid_and_named_like_its_file(name: str) -> None:
    assert preset(name).name == name


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_says_what_it_is_for(name: str) -> None:
    first, second = preset_path(name).read_text().splitlines()[:2]
    assert first == "# SPDX-License-Identifier: Apache-2.0"
    assert second.startswith("# ")


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_can_be_planned_on_one_processor_too(name: str) -> None:
    small, usual = preset(name, processors=1), preset(name)
    assert {*small.layouts} <= {*usual.layouts}
    assert small.fit or small.layouts == usual.layouts


def test_quick_is_kept_within_ten_minutes_with_enough_blocks_for_intervals() -> None:
    campaign = preset("quick")
    assert campaign.blocks >= 8
    assert campaign.budget_s is not None
    assert campaign.budget_s <= 600
    assert {environment.technology for environment in campaign.environments} == {
        "docker",
        "lxc",
        "systemd-nspawn",
        "bubblewrap",
    }


def test_smoke_is_kept_within_a_minute_with_enough_blocks_for_intervals() -> None:
    campaign = preset("smoke")
    assert 6 <= campaign.blocks <= 8
    assert campaign.budget_s is not None
    assert campaign.budget_s <= 60


def test_sharing_is_kept_within_twenty_minutes_on_two_processors_with_enough_blocks_for_intervals() -> None:
    campaign = preset("sharing", processors=2)
    plan = fits(campaign, plan_trials(campaign, 1), budget_s=campaign.budget_s)
    assert campaign.budget_s is not None
    assert campaign.budget_s <= 1200
    assert plan.fitting_blocks is not None
    assert plan.fitting_blocks >= 8
    assert {str(setting) for setting in campaign.settings} == {"1c1p1i", "1c2p2i", "2c1p2i"}
    assert {"docker", "lxc", "podman", "systemd-nspawn"} == {
        environment.technology for environment in campaign.environments
    }


@pytest.mark.parametrize("name", preset_names())
def test_a_presets_blocks_can_decide_each_of_its_claims_together_with_all_others(name: str) -> None:
    """At each interval's error, after its last look, by the aligned ranks alone: the slowest in all blocks but few."""
    campaign = preset(name)
    plan = fits(campaign, plan_trials(campaign, 1), budget_s=campaign.budget_s)
    spent = tuple(spending(look, campaign.blocks) for look in campaign.looks)
    reach = Reach(campaign.looks, spent)
    assert reaches(campaign.blocks, reach.nominal(ERROR / plan.claims)), plan.claims


@pytest.mark.parametrize("name", preset_names())
def test_a_presets_budget_holds_blocks_enough_for_its_claims(name: str) -> None:
    campaign = preset(name)
    assert fits(campaign, plan_trials(campaign, 1), budget_s=campaign.budget_s).warnings == ()


def test_quick_counts_each_of_its_primary_metrics_as_a_claim() -> None:
    campaign = preset("quick")
    pieces = [metric for workload in campaign.workloads for metric in primary_metrics(workload)]
    assert len(pieces) > len(campaign.workloads)
    assert fits(campaign, plan_trials(campaign, 1)).claims == len(pieces) * len(campaign.environments)


def test_fake_needs_no_container() -> None:
    technologies = {trial.environment.technology for trial in plan_trials(preset("fake"), 1)}
    assert technologies == {"native", "fake"}


def test_an_unknown_preset_offers_the_nearest() -> None:
    with pytest.raises(CampaignError, match="did you mean 'smoke'"):
        load_preset("smoek", host_processors=1, host_memory_byte=GIBIBYTE)


def test_a_presets_name_is_not_looked_up_as_a_path() -> None:
    with pytest.raises(CampaignError):
        load_preset("../presets/smoke", host_processors=1, host_memory_byte=GIBIBYTE)
    assert resolve("smoke", host_processors=1, host_memory_byte=GIBIBYTE).name == "smoke"
