# SPDX-License-Identifier: Apache-2.0
"""Which trials are measured together."""

from dataclasses import replace

from tests.fake_campaign import fake_campaign

from tare.measure.session import units
from tare.plan.trials import plan_trials
from tare.records import Way, Workload

CAMPAIGN = fake_campaign(blocks=2)


def planned(*workloads: Workload) -> list[tuple[str, ...]]:
    trials = plan_trials(replace(CAMPAIGN, workloads=workloads), 1)
    return [tuple(trial.workload.name for trial in unit) for unit in units(trials)]


def test_whole_runs_of_a_cell_and_block_are_a_unit() -> None:
    """What is left of it is ordered anew when it begins."""
    first, second = (Workload(name=name, kind="fake") for name in ("first", "second"))
    arms = len(CAMPAIGN.environments) + 2
    assert sorted(planned(first, second)) == [("first",) * arms] * 2 + [("second",) * arms] * 2


def test_resident_programs_of_a_block_share_their_nodes() -> None:
    first, second = (Workload(name=name, kind="fake", way=Way.SLICES) for name in ("first", "second"))
    result = planned(first, second)
    assert len(result) == CAMPAIGN.blocks
    assert all(set(unit) == {"first", "second"} for unit in result)


def test_unmodified_programs_take_turns_workload_by_workload() -> None:
    first, second = (Workload(name=name, kind="fake", way=Way.FREEZER) for name in ("first", "second"))
    result = planned(first, second)
    assert len(result) == 2 * CAMPAIGN.blocks
    assert all(len(set(unit)) == 1 for unit in result)


def test_every_trial_is_in_one_unit() -> None:
    mixed = (Workload(name="slices", kind="fake", way=Way.SLICES), Workload(name="whole", kind="fake"))
    trials = plan_trials(replace(CAMPAIGN, workloads=mixed), 1)
    together = [trial.identity for unit in units(trials) for trial in unit]
    assert sorted(together) == sorted(trial.identity for trial in trials)
