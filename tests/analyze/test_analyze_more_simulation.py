# SPDX-License-Identifier: Apache-2.0
"""Simulated users who add blocks to a finished result for as long as it is undecided: how often they claim falsely."""

import math

import numpy as np
import pytest
from bench.simulation.scenarios import RUN, Arms, Scenario, clean, noisy

from tare.analyze.looks import courses, looks_at
from tare.records import BlockValue, Cell, Design, Direction, Look, Summary
from tare.statistics.boundary import ERROR, spending_with

CAMPAIGNS = 250
"""A run of 4000 is in docs/statistics.md."""
BLOCKS = 10
ADDITIONS = 2
DESIGN = Design(looks=(10, 20, 30), added_from=(10, 20), margin=0.01)
CELL = Cell(workload="work", layout="1c1p1i")
pytestmark = pytest.mark.slow
NULL = {"normal": clean(planted=0.0), "spikes": noisy(RUN, 0.0, 0.05, 0.05)}


def seen(arms: Arms, campaign: int) -> tuple[Look, ...]:
    """What each look at one simulated campaign shows, by the functions that judge a result."""
    total = DESIGN.looks[-1]
    summary = Summary(
        cell=CELL,
        environment="same",
        metric="wall_s",
        unit="s",
        direction=Direction.LESS,
        primary=True,
        blocks=tuple(BlockValue(block=block, native=(1.0, 1.0), environment=1.0) for block in range(total)),
        log_ratios=tuple(arms.log_ratios[campaign].tolist()),
        control_log_ratios=tuple(arms.control_log_ratios[campaign].tolist()),
        dropped_blocks=0,
    )
    course = courses([summary], {(CELL, "same"): total}, DESIGN, ended=False)[CELL, "same"]
    return looks_at(summary, course)


def differs(look: Look) -> bool:
    low, high = look.estimate.low, look.estimate.high
    return low is not None and high is not None and (low > 0 or high < 0)


def most(chance: float) -> float:
    """The chance and three standard errors of the simulation."""
    return chance + 3 * math.sqrt(chance * (1 - chance) / CAMPAIGNS)


@pytest.mark.parametrize("name", NULL)
def test_adding_blocks_while_undecided_claims_falsely_no_oftener_than_declared(name: str) -> None:
    scenario: Scenario = NULL[name]
    arms = scenario(np.random.default_rng(24), CAMPAIGNS, DESIGN.looks[-1])
    claimed = np.array([[differs(look) for look in seen(arms, campaign)] for campaign in range(CAMPAIGNS)])
    ever = np.maximum.accumulate(claimed, axis=1).mean(axis=0)
    assert ever[0] <= most(ERROR)
    for additions in range(1, ADDITIONS + 1):
        assert ever[additions] <= most(ERROR * spending_with(additions))
    assert ever[-1] > 0, "it can claim at all"


def test_the_permitted_error_never_doubles_however_often_blocks_are_added() -> None:
    assert [spending_with(additions) for additions in (1, 2, 3)] == [1.5, 1.75, 1.875]
    assert spending_with(50) <= 2
