# SPDX-License-Identifier: Apache-2.0
"""Summaries with given log-ratios, as a journal would give them."""

import math
from collections.abc import Sequence

from tare.records import BlockValue, Cell, Direction, Summary

CELL = Cell(workload="work", layout="1c1p1i")


def summary_of(
    log_ratios: Sequence[float],
    *,
    environment: str = "docker",
    metric: str = "wall_s",
    primary: bool = True,
    missing: frozenset[int] = frozenset(),
) -> Summary:
    """Block b has the b-th of ``log_ratios``, unless it is ``missing``; native always takes one second."""
    there = [(number, value) for number, value in enumerate(log_ratios) if number not in missing]
    return Summary(
        cell=CELL,
        environment=environment,
        metric=metric,
        unit="s",
        direction=Direction.LESS,
        primary=primary,
        blocks=tuple(
            BlockValue(block=number, native=(1.0, 1.0), environment=math.exp(value))
            for number, value in there
        ),
        log_ratios=tuple(value for _, value in there),
        control_log_ratios=tuple(0.0 for _ in there),
        dropped_blocks=len(log_ratios) - len(there),
    )
