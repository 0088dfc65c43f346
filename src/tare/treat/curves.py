# SPDX-License-Identifier: Apache-2.0
"""From samples with coordinates to curves and surfaces: blocks and native pairs as for figures, at each place."""

import math
from collections.abc import Iterator, Sequence

from tare.records import NATIVE, BlockValue, Cell, Curve, CurvePoint, Dimension, Direction, Outcome
from tare.treat.pairing import (
    BlockTable,
    Metric,
    busy_of,
    by_point,
    complete_blocks,
    control_log_ratio,
    log_ratio,
    tables,
)

_Whole = tuple[str, str, Direction, tuple[Dimension, ...]]
"""Name, unit, direction and dimensions of a curve."""


def curves(outcomes: Sequence[Outcome]) -> tuple[Curve, ...]:
    """One curve per cell, metric and environment, native first, in any order of outcomes.

    Only ``OK`` outcomes count. A block counts at a place when both native slots and the environment have a usable value
    there (for native: both slots); several instances are joined as ``whole_trial`` says. A curve without such a block
    is left out. Busy blocks are left out of the whole curve where enough others remain. Raises ``ValueError`` when a
    trial occurs twice among the outcomes.
    """
    return tuple(
        curve
        for cell, table in tables(outcomes, by_point).items()
        for curve in _of_cell(cell, table)
        if curve.points
    )


def _of_cell(cell: Cell, table: BlockTable) -> Iterator[Curve]:
    places: dict[_Whole, list[Metric]] = {}
    for metric in table.metrics:
        dimensions = tuple(each.dimension for each in metric.coordinates)
        places.setdefault((metric.name, metric.unit, metric.direction, dimensions), []).append(metric)
    for (name, unit, direction, dimensions), metrics in places.items():
        rising = sorted(metrics, key=_at)
        for environment in (NATIVE, *sorted(table.environments)):
            complete = [tuple(complete_blocks(table, metric, environment)) for metric in rising]
            busy = busy_of(table, environment, (block.block for blocks in complete for block in blocks))
            points = (
                _point(metric, environment, [block for block in blocks if block.block not in busy.gone])
                for metric, blocks in zip(rising, complete, strict=True)
            )
            yield Curve(
                cell=cell,
                environment=environment,
                metric=name,
                unit=unit,
                direction=direction,
                dimensions=dimensions,
                points=tuple(point for point in points if point.blocks),
                busy=busy,
            )


def _at(metric: Metric) -> tuple[float, ...]:
    return tuple(each.value for each in metric.coordinates)


def _point(metric: Metric, environment: str, blocks: Sequence[BlockValue]) -> CurvePoint:
    native = environment == NATIVE
    return CurvePoint(
        at=_at(metric),
        blocks=tuple(block.block for block in blocks),
        values=tuple(_geometric_mean(block.native) if native else block.environment for block in blocks),
        log_ratios=() if native else tuple(log_ratio(block, metric.direction) for block in blocks),
        control_log_ratios=tuple(control_log_ratio(block, metric.direction) for block in blocks),
    )


def _geometric_mean(pair: tuple[float, float]) -> float:
    return math.sqrt(pair[0]) * math.sqrt(pair[1])
