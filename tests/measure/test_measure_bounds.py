# SPDX-License-Identifier: Apache-2.0
"""What bounds a command: the same in all arms, whichever nodes they have, and as a result began."""

import resource
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fake_campaign import Listener, fake_campaign, fake_context, fake_request

from tare.errors import InputError
from tare.host import standing
from tare.measure.campaign import measure_campaign
from tare.measure.context import Context
from tare.measure.parity import expected_parity
from tare.measure.placement import places_of
from tare.measure.trial import run_trial
from tare.plan.trials import plan_trials
from tare.records import USUAL_BOUNDS, Bounds, Status

pytestmark = pytest.mark.usefixtures("state")


@pytest.fixture
def context(tmp_path: Path, programs: Path) -> Context:
    return fake_context(tmp_path, programs)


def test_native_has_in_one_node_as_many_processes_as_all_nodes_together(context: Context) -> None:
    campaign = fake_campaign(layout="4c1p1i")
    limits = replace(campaign.limits, bounds=Bounds(processes=64, open_files=10))
    trials = plan_trials(replace(campaign, limits=limits), 1)
    held = {}
    for trial in trials:
        places = places_of(trial, context.available_processors).measured
        (bounds,) = {spec.bounds for spec in context.node_specs(trial, places)}
        held[trial.environment.name] = bounds
    assert held == {
        "native": Bounds(processes=256, open_files=10),
        "slow": Bounds(processes=64, open_files=10),
    }


@pytest.mark.parametrize(("layout", "native"), [("4c1p1i", 4), ("1c2p2i", 1), ("200c1p1i", 100)])
def test_natives_one_node_weighs_as_much_as_all_nodes_of_the_layout(
    context: Context, layout: str, native: int
) -> None:
    """Else a neighbour takes twice as much of a shared processor from native as from one of two containers."""
    weights = {}
    for trial in plan_trials(fake_campaign(layout=layout), 1):
        places = places_of(trial, context.available_processors).measured
        (weights[trial.environment.name],) = {spec.weight for spec in context.node_specs(trial, places)}
    assert weights == {"native": native, "slow": 1}


def test_nobody_is_expected_to_have_more_than_the_runner() -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    some, many = (expected_parity("test", Bounds(open_files=count)) for count in (9, hard + 1))
    assert (some["limit of nofile"], many["limit of nofile"]) == ("9:9", f"{hard}:{hard}")
    assert expected_parity("test", Bounds(core_byte=0))["limit of core"] == "1:1"
    assert expected_parity("test")["limit of nofile"] == f"{hard}:{hard}"


def test_a_fake_command_is_held_to_its_open_files_and_cores(context: Context) -> None:
    campaign = fake_campaign()
    bounds = Bounds(open_files=99, core_byte=0)
    trial = plan_trials(replace(campaign, limits=replace(campaign.limits, bounds=bounds)), 1)[0]
    with standing.plain():
        outcome = run_trial(replace(context, expected=expected_parity("test", bounds)), trial)
    assert (outcome.status, outcome.reason) == (Status.OK, None)
    assert outcome.parity.host["limit of nofile"] == "99:99"
    assert outcome.parity.host["limit of core"] == "1:1"


def test_a_result_that_began_without_bounds_goes_on_without(tmp_path: Path, fake_image: object) -> None:  # noqa: ARG001 - it is run
    begun = fake_campaign(blocks=6)
    usual = replace(begun, limits=replace(begun.limits, bounds=USUAL_BOUNDS))
    stated = replace(begun, limits=replace(begun.limits, bounds=Bounds(processes=99)))
    folder = tmp_path / "result"
    listener = Listener()
    measure_campaign(fake_request(begun, folder), listener)
    measure_campaign(fake_request(usual, folder), listener)
    assert {outcome.trial.limits.bounds for outcome in listener.outcomes} == {Bounds()}
    with pytest.raises(InputError, match=r"limits.bounds.processes: none in the result, 99 now"):
        measure_campaign(fake_request(stated, folder), listener)
