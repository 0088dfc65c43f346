# SPDX-License-Identifier: Apache-2.0
"""Summaries with given log-ratios, as a journal would give them."""

import math
from collections.abc import Sequence

import numpy as np

from tare.records import BlockValue, Cell, Direction, Summary
from tare.statistics.aligned_ranks import log_ratios_of

CELL = Cell(workload="work", layout="1c1p1i")


def summary_of(
    log_ratios: Sequence[float],
    *,
    environment: str = "docker",
    metric: str = "wall_s",
    primary: bool = True,
    missing: frozenset[int] = frozenset(),
    controls: Sequence[float] = (),
) -> Summary:
    """Block b has the b-th of ``log_ratios``, unless it is ``missing``; native takes 1 s, or as ``controls`` say."""
    there = [(number, value) for number, value in enumerate(log_ratios) if number not in missing]
    known = dict(enumerate(controls))
    return Summary(
        cell=CELL,
        environment=environment,
        metric=metric,
        unit="s",
        direction=Direction.LESS,
        primary=primary,
        blocks=tuple(
            BlockValue(block=number, native=natives(known.get(number, 0.0)), environment=math.exp(value))
            for number, value in there
        ),
        log_ratios=tuple(value for _, value in there),
        control_log_ratios=tuple(known.get(number, 0.0) for number, _ in there),
        dropped_blocks=len(log_ratios) - len(there),
    )


def natives(control: float) -> tuple[float, float]:
    return math.exp(-control / 2), math.exp(control / 2)


def noisy_summary(seed: int, spread: float, effect: float = 0.0, blocks: int = 32) -> Summary:
    """Native and the environment have the same normal noise; the log-ratios' standard deviation is ``spread``."""
    runs = np.random.default_rng(seed).normal(0.0, spread * math.sqrt(2 / 3), (blocks, 3))
    log_ratios, controls = log_ratios_of(runs)
    return summary_of((log_ratios + math.log1p(effect)).tolist(), controls=controls.tolist())
