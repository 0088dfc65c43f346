# SPDX-License-Identifier: Apache-2.0
"""The spread of each arm's runs: median, 95th percentile and slowest run."""

import math
from collections.abc import Iterator, Sequence

from tare.records import NATIVE, ArmSpread, BlockValue, Direction, Estimate, Summary
from tare.statistics.estimate import transformed
from tare.statistics.median import median_estimate
from tare.treat.aggregate import time_per_work

FEWEST_FOR_P95 = 20
"""With fewer runs the 95th percentile would be the slowest run."""


def arm_spreads(summaries: Sequence[Summary]) -> tuple[ArmSpread, ...]:
    """Describe native and then each environment for each metric, from all blocks complete for any environment."""
    groups: dict[tuple[object, ...], list[Summary]] = {}
    for summary in summaries:
        key = (summary.cell, summary.metric, summary.unit, summary.direction)
        groups.setdefault(key, []).append(summary)
    return tuple(spread for group in groups.values() for spread in _of_metric(group))


def _of_metric(group: Sequence[Summary]) -> Iterator[ArmSpread]:
    blocks: dict[int, BlockValue] = {block.block: block for summary in group for block in summary.blocks}
    native = [value for number in sorted(blocks) for value in blocks[number].native]
    if native:
        yield _spread(group[0], NATIVE, native)
    for summary in group:
        if summary.blocks:
            yield _spread(summary, summary.environment, [block.environment for block in summary.blocks])


def _spread(summary: Summary, name: str, values: Sequence[float]) -> ArmSpread:
    times = sorted(time_per_work(value, summary.direction) for value in values)
    n = len(times)
    return ArmSpread(
        cell=summary.cell,
        environment=name,
        metric=summary.metric,
        unit=summary.unit,
        direction=summary.direction,
        primary=summary.primary,
        p50=_in_unit(median_estimate(times), summary.direction),
        p95=time_per_work(_nearest_rank(times, 0.95), summary.direction) if n >= FEWEST_FOR_P95 else None,
        slowest=time_per_work(times[-1], summary.direction),
        n=n,
    )


def _nearest_rank(ordered: Sequence[float], share: float) -> float:
    """The smallest value that at least ``share`` of the values do not exceed: always a measured one."""
    return ordered[math.ceil(share * len(ordered) - 1e-9) - 1]


def _in_unit(times: Estimate, direction: Direction) -> Estimate:
    """Times converted to the metric's unit; a rate swaps its bounds."""
    if direction is Direction.LESS:
        return times
    rate = transformed(times, lambda time: 1 / time)
    return Estimate(point=rate.point, low=rate.high, high=rate.low, level=rate.level, n=rate.n)
