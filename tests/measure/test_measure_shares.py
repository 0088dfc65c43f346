# SPDX-License-Identifier: Apache-2.0
"""A job measures one block and begins nothing that would outlast it; a lost host takes no trial with it."""

import math
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fake_campaign import Listener, fake_campaign, fake_environment, fake_request
from tests.plan.plan_example import outcome

from tare.errors import HostError, InputError
from tare.measure.campaign import measure_campaign
from tare.measure.hosts import ReachedHost
from tare.measure.left import standing
from tare.measure.lost_hosts import require_hosts
from tare.measure.session import Allowance
from tare.measure.shares import Share
from tare.measure.stopping import never
from tare.plan.trials import plan_trials
from tare.records import NamedHost, Status

CAMPAIGN = fake_campaign(fake_environment(), blocks=2)
PLANNED = plan_trials(CAMPAIGN, 1)
ANYTHING = Allowance(may_begin=lambda _: True, remaining_s=lambda: math.inf)


def test_a_job_begins_no_second_block() -> None:
    within = Share().of(ANYTHING, PLANNED, [])
    assert [trial.block for trial in PLANNED if within.may_begin(trial)] == [0, 0, 0]
    assert within.remaining_s() == math.inf


def test_what_the_budget_forbids_no_job_begins() -> None:
    nothing = replace(ANYTHING, may_begin=lambda _: False, remaining_s=lambda: 3.0)
    within = Share(ends_s=time.monotonic() + 1000).of(nothing, PLANNED, [])
    assert not within.may_begin(PLANNED[0])
    assert within.remaining_s() == 3.0


def test_a_trial_that_would_outlast_the_job_is_left_to_the_next() -> None:
    outcomes = [outcome(trial, elapsed_s=50.0) for trial in PLANNED[:1]]
    within = Share(ends_s=time.monotonic() + 60).of(ANYTHING, PLANNED, outcomes)
    assert within.may_begin(PLANNED[1]), "as slow as the slowest and 10 % more fits"
    outcomes.append(outcome(PLANNED[1], elapsed_s=80.0))
    assert not within.may_begin(PLANNED[2])
    assert within.remaining_s() <= 60


def test_a_job_too_short_for_its_first_trial_asks_for_more_time() -> None:
    outcomes = [outcome(trial, elapsed_s=100.0) for trial in PLANNED[:1]]
    within = Share(ends_s=time.monotonic() + 60).of(ANYTHING, PLANNED, outcomes)
    with pytest.raises(InputError, match=r"no trial fits into this job: b000-.* --time"):
        within.may_begin(PLANNED[1])


@pytest.mark.usefixtures("fake_image")
def test_jobs_after_each_other_measure_each_trial_once(tmp_path: Path) -> None:
    request = replace(fake_request(CAMPAIGN, tmp_path / "r"), share=Share())
    for left in (3, 0):
        measure_campaign(request, Listener())
        assert standing(request.folder, never).left_trials == left
    now = standing(request.folder, never)
    assert (now.measured_trials, now.trials, now.left_blocks, now.blocks) == (6, 6, 0, 2)
    assert set(Counter(each.trial.identity for each in now.outcomes).values()) == {1}


def test_a_failed_trial_of_a_lost_host_counts_as_not_begun() -> None:
    lost = NamedHost(name="gone", address="gone.invalid")
    reached = {"gone": ReachedHost(host=lost, processors=(0,), memory_byte=1, facts={}, interfaces=())}
    trial = replace(PLANNED[0], hosts=("gone",))
    require_hosts(outcome(trial, 1.0), reached)
    with pytest.raises(HostError, match=r"a host was lost, and b000-.* counts as not begun: host gone: "):
        require_hosts(outcome(trial, 1.0, status=Status.FAILED), reached)
    require_hosts(outcome(PLANNED[0], 1.0, status=Status.FAILED), reached)
