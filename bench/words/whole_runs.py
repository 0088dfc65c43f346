# SPDX-License-Identifier: Apache-2.0
"""Campaigns of whole runs in the order of ``tare.plan``, in which an arm leaves something to whatever runs next."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from bench.words.product import as_run
from bench.words.records import CELL, NATIVES, Arm, Place, after_effects, planned, summary_of
from tare.records import Cell, Summary

RUN = 0.01
"""Standard deviation of the logarithm of a run's time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A campaign of whole runs with after-effects."""

    leaves: Mapping[str, float]
    environments: int = 1
    workloads: int = 1
    beside: bool = False
    """Whether another workload takes turns in each block, which lies between the whole runs."""
    lasts: int = 1
    dropped: float = 0.0
    """Share of the environments' runs that fail, after they have left what they leave."""
    stops: int | None = None
    """Blocks after which the second environment runs no more."""
    truth: Mapping[str, float] = field(default_factory=dict)
    """Planted overheads, as logarithms."""


def campaign_of(order: Order, n: int, number: int, generator: np.random.Generator) -> list[Summary]:
    trials = as_run(
        trial
        for trial in planned(n, order.environments, order.workloads, number, beside=order.beside)
        if order.stops is None or trial.environment.name != "arm1" or trial.block < order.stops
    )
    runs = {
        place: added + order.truth.get(place[2][0], 0.0) + generator.normal(0.0, RUN)
        for place, added in after_effects(trials, order.leaves, order.lasts)
        if place[2] in NATIVES or generator.random() >= order.dropped
    }
    workloads = dict.fromkeys(workload for workload, _, _ in runs)
    return [
        _of_arm(runs, workload, (f"arm{place}", 0), n)
        for workload in workloads
        for place in range(order.environments)
    ]


def _of_arm(runs: Mapping[Place, float], workload: str, arm: Arm, n: int) -> Summary:
    blocks = [block for block in range(n) if (workload, block, arm) in runs]
    columns = [np.array([runs[workload, block, own] for block in blocks]) for own in (*NATIVES, arm)]
    cell = Cell(workload=workload, layout=CELL.layout)
    return summary_of(columns, arm[0], cell=cell, blocks=blocks)
