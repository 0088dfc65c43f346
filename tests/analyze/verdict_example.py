# SPDX-License-Identifier: Apache-2.0
"""Verdicts made of nothing but log-ratios."""

import math
from collections.abc import Sequence

from tare.analyze import overhead, verdict
from tare.records import BlockValue, Cell, Direction, Look, Summary, Verdict

MARGIN = 0.01


def summary_of(  # noqa: PLR0913
    log_ratios: Sequence[float],
    environment: str = "docker",
    *,
    metric: str = "wall_s",
    primary: bool = True,
    workload: str = "work",
    layout: str = "1c1p1i",
    direction: Direction = Direction.LESS,
    native: float = 2.0,
    first_block: int = 0,
) -> Summary:
    sign = 1 if direction is Direction.LESS else -1
    return Summary(
        cell=Cell(workload=workload, layout=layout),
        environment=environment,
        metric=metric,
        unit="s" if direction is Direction.LESS else "flop/s",
        direction=direction,
        primary=primary,
        blocks=tuple(
            BlockValue(block=block, native=(native, native), environment=native * math.exp(sign * log_ratio))
            for block, log_ratio in enumerate(log_ratios, start=first_block)
        ),
        log_ratios=tuple(log_ratios),
        control_log_ratios=tuple(0.001 * (-1) ** block for block in range(len(log_ratios))),
        dropped_blocks=0,
    )


def verdict_of(log_ratios: Sequence[float], environment: str = "docker", **of: object) -> Verdict:
    return verdict(overhead(summary_of(log_ratios, environment, **of)), MARGIN)  # type: ignore[arg-type]


def looks_of(ns: Sequence[int], spent: Sequence[float], given: Verdict) -> tuple[Look, ...]:
    """Looks for a test of what follows from them; their own estimates are not read."""
    return tuple(
        Look(blocks=n, n=n, spent=share, level=0.95, estimate=given.overhead.typical)
        for n, share in zip(ns, spent, strict=True)
    )


def around(centre: float, spread: float, n: int = 10) -> list[float]:
    """Values in no order that a check would find, symmetric about ``centre``."""
    shape = (0.1, -0.7, 1.0, -0.2, 0.4, -1.0, 0.7, -0.4, 0.2, -0.1)
    return [centre + spread * shape[block % len(shape)] for block in range(n)]
