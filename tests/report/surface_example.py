# SPDX-License-Identifier: Apache-2.0
"""Synthetic campaigns whose metric lies over two or three dimensions, with losses planted in parts of them."""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from tare.analyze import controls, curve_estimates, verdicts
from tare.records import Analysis, Coordinate, Direction, Outcome, Sample
from tare.treat import curves, summaries
from tests.report.report_example import MARGIN, Figure, example, with_verdicts

RECORDS = tuple(4096 << step for step in range(5))
SIZES = tuple(65536 << step for step in range(4))
LOSS = {"docker": 0.3, "gvisor": 0.0}
"""With the smallest record alone; none elsewhere."""


def surface_analysis(
    *,
    blocks: int = 8,
    ranks: Sequence[int] = (),
    variation: float = 0.01,
    environments: Sequence[str] = tuple(LOSS),
) -> Analysis:
    """An analysis of one cell; with ``ranks`` a third dimension."""
    figures = (Figure("wall_s", 1.0, "s", Direction.LESS, 0.01, (0.0,) * 5),)
    plain = example(blocks=blocks, figures=figures, environments=environments, workload="files", losing=False)
    chance = random.Random(3)  # noqa: S311 - samples, not secrets
    outcomes = tuple(
        replace(outcome, samples=(*outcome.samples, *_samples(outcome, ranks, variation, chance)))
        for outcome in plain.outcomes
    )
    treated = summaries(outcomes, {"files": ("wall_s",)})
    return with_verdicts(
        plain,
        verdicts(treated, MARGIN),
        outcomes=outcomes,
        controls=controls(treated),
        curves=curve_estimates(curves(outcomes)),
    )


def _samples(
    outcome: Outcome, ranks: Sequence[int], variation: float, chance: random.Random
) -> Iterator[Sample]:
    loss = LOSS.get(outcome.trial.environment.name, 0.0)
    for size, record, rank in product(SIZES, RECORDS, ranks or (1,)):
        slower = 1 + loss * (record == RECORDS[0])
        more = (Coordinate("ranks", float(rank), None),) if ranks else ()
        yield Sample(
            name="write_s",
            value=1e-9 * size * (1 + 4096 / record) * slower * math.exp(chance.gauss(0, variation)),
            unit="s",
            direction=Direction.LESS,
            coordinates=(
                Coordinate("size", float(size), "B"),
                Coordinate("record", float(record), "B"),
                *more,
            ),
        )
