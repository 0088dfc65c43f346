# SPDX-License-Identifier: Apache-2.0
"""A campaign and a seed to trials in randomized blocks."""

import random
from collections.abc import Sequence

from tare.plan.campaign import Campaign
from tare.records import NATIVE, Environment, Layout, Trial, Workload

_Arm = tuple[Environment, int]
_NATIVE = Environment(name=NATIVE, technology=NATIVE)


def plan_trials(campaign: Campaign, seed: int) -> tuple[Trial, ...]:
    """List every trial of the campaign in the order to run it.

    Each block runs every cell (a workload in a layout) once: native twice and each environment once. A cell's
    trials stay together, so that what is compared lies close in time; the cells, and the arms in each, are in
    random order. A block's order follows from the seed and the block's number alone: a longer campaign begins
    like a shorter one, and the order of tables in the file does not matter.
    """
    return tuple(trial for block in range(campaign.blocks) for trial in plan_block(campaign, seed, block))


def plan_block(campaign: Campaign, seed: int, block: int) -> tuple[Trial, ...]:
    """List one block's trials in the order to run them; blocks count from 0."""
    source = random.Random(f"{seed}-{block}")  # noqa: S311 - an order that can be repeated, not a secret
    cells = [(workload, layout) for workload in campaign.workloads for layout in campaign.layouts]
    cells.sort(key=lambda cell: (cell[0].name, str(cell[1])))
    source.shuffle(cells)
    placed = [(cell, arm) for cell in cells for arm in _shuffled_arms(campaign.environments, source)]
    return tuple(_trial(campaign, block, slot, cell, arm) for slot, (cell, arm) in enumerate(placed))


def trial_identity(block: int, workload: str, layout: str, environment: str, replicate: int) -> str:
    """Name a trial: ``b003-hpcc-1c2p1i-docker-0``: what is run, never when."""
    return f"b{block:03d}-{workload}-{layout}-{environment}-{replicate}"


def _shuffled_arms(environments: Sequence[Environment], source: random.Random) -> list[_Arm]:
    arms: list[_Arm] = [(_NATIVE, 0), (_NATIVE, 1)]
    arms += [(environment, 0) for environment in sorted(environments, key=lambda entry: entry.name)]
    source.shuffle(arms)
    return arms


def _trial(campaign: Campaign, block: int, slot: int, cell: tuple[Workload, Layout], arm: _Arm) -> Trial:
    workload, layout = cell
    environment, replicate = arm
    return Trial(
        identity=trial_identity(block, workload.name, str(layout), environment.name, replicate),
        block=block,
        slot=slot,
        environment=environment,
        replicate=replicate,
        layout=layout,
        workload=workload,
        limits=campaign.limits,
    )
