# SPDX-License-Identifier: Apache-2.0
"""In every kind of campaign each arm follows each arm, itself included, equally often in each cell."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from tare.plan.campaign import Campaign
from tare.plan.succession import arm_of
from tare.plan.trials import plan_trials
from tests.plan.plan_example import load_text
from tests.plan.test_plan_factors import varied
from tests.plan.test_plan_knobs import planned
from tests.plan.test_plan_sharing import BESIDE, TOGETHER

BLOCKS = 800


def with_factors(folder: Path) -> Campaign:
    return varied(folder, ("memory", '["64 MiB", "1 GiB"]'), ("workload.steps", "[5, 10]"))


CAMPAIGNS: dict[str, Callable[[Path], Campaign]] = {
    "a knob of tare explain": lambda _: planned("seccomp-off"),
    "two factors": with_factors,
    "instances together": lambda folder: load_text(folder, TOGETHER),
    "a neighbour": lambda folder: load_text(folder, BESIDE),
}


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_each_arm_follows_each_arm_equally_often_in_each_cell(name: str, tmp_path: Path) -> None:
    campaign = replace(CAMPAIGNS[name](tmp_path), blocks=BLOCKS, looks=())
    followed = Counter(
        (after.workload.name, after.setting, arm_of(before), arm_of(after))
        for before, after in pairwise(plan_trials(campaign, 1))
    )
    arms, cells = len(campaign.environments) + 2, len(campaign.cells)
    expected = BLOCKS / arms
    assert len(followed) == cells * arms**2
    assert all(abs(count - expected) < 5 * expected**0.5 for count in followed.values())
