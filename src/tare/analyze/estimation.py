# SPDX-License-Identifier: Apache-2.0
"""Block log-ratios to overheads, and the A/A control; docs/method.md gives the reasons."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from tare.analyze.signed_rank import hodges_lehmann
from tare.analyze.student import mean_estimate
from tare.records import BlockValue, Cell, Direction, Estimate, Overhead, Summary
from tare.treat.aggregate import median, time_per_work

CONTROL_NAME = "native again"
"""The environment of the A/A rows; no campaign may use it for an environment of its own."""
SPIKE_FACTOR = 1.2
_LARGEST_EXPONENT = 700.0
_ROUNDING = 1e-12


def overhead(summary: Summary) -> Overhead:
    """Estimate the overhead and all that must stand beside it; ``ValueError`` without a complete block."""
    if not summary.blocks:
        raise ValueError(f"{summary.environment}, {summary.metric}: no complete block to estimate from")
    typical = as_fraction(hodges_lehmann(summary.log_ratios))
    mean = as_fraction(mean_estimate(summary.log_ratios))
    if typical.low is None:
        mean = replace(mean, low=None, high=None)  # a t interval over so few blocks is wide beyond use
    native = [value for block in summary.blocks for value in block.native]
    own = [block.environment for block in summary.blocks]
    return Overhead(
        summary=summary,
        typical=typical,
        mean=mean,
        tail_cost=_has_tail_cost(typical, mean),
        spike_rate=_spike_rate(own, summary.direction),
        native_spike_rate=_spike_rate(native, summary.direction),
        native_median=median(native, summary.direction),
        noise_floor=as_fraction(hodges_lehmann(summary.control_log_ratios)),
    )


def controls(summaries: Sequence[Summary]) -> tuple[Overhead, ...]:
    """Make the A/A rows, one per cell and metric: the second native slot as if it were an environment.

    A row uses each block that is complete for any environment of its cell, so that one environment's
    failures do not thin the control of the others.
    """
    groups: dict[tuple[Cell, str, str, Direction], list[Summary]] = {}
    for summary in summaries:
        key = (summary.cell, summary.metric, summary.unit, summary.direction)
        groups.setdefault(key, []).append(summary)
    rows = (_control_summary(group) for group in groups.values())
    return tuple(overhead(row) for row in rows if row.blocks)


def as_fraction(log_estimate: Estimate) -> Estimate:
    """From the scale of logarithms to fractions: exp(x) - 1."""
    return transformed(log_estimate, _fraction)


def transformed(estimate: Estimate, function: Callable[[float], float]) -> Estimate:
    """Point and interval on another scale; the rising ``function`` keeps their order."""
    low, high = estimate.low, estimate.high
    return replace(
        estimate,
        point=function(estimate.point),
        low=None if low is None else function(low),
        high=None if high is None else function(high),
    )


def _fraction(log_ratio: float) -> float:
    # Garbage values may lie further apart than a float's exponent can say.
    return math.expm1(min(log_ratio, _LARGEST_EXPONENT))


def _has_tail_cost(typical: Estimate, mean: Estimate) -> bool:
    if typical.low is None or typical.high is None:
        return False
    return abs(mean.point - typical.point) > (typical.high - typical.low) / 2 + _ROUNDING


def _spike_rate(values: Sequence[float], direction: Direction) -> float:
    times = [time_per_work(value, direction) for value in values]
    limit = SPIKE_FACTOR * median(times, Direction.LESS)
    return sum(time > limit for time in times) / len(times)


def _control_summary(group: Sequence[Summary]) -> Summary:
    found: dict[int, tuple[BlockValue, float]] = {}
    for summary in group:
        for block, log_ratio in zip(summary.blocks, summary.control_log_ratios, strict=True):
            found[block.block] = (replace(block, environment=block.native[1]), log_ratio)
    rows = [found[number] for number in sorted(found)]
    begun = len(group[0].blocks) + group[0].dropped_blocks
    log_ratios = tuple(log_ratio for _, log_ratio in rows)
    return replace(
        group[0],
        environment=CONTROL_NAME,
        blocks=tuple(block for block, _ in rows),
        log_ratios=log_ratios,
        control_log_ratios=log_ratios,
        dropped_blocks=begun - len(rows),
    )
