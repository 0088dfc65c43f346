# SPDX-License-Identifier: Apache-2.0
"""Where the noise arises: between blocks, starts or iterations, by the method of moments.

Model: ln T of an iteration = block + start + iteration, each with its own variance; all arms of a block share its part.
Each variance is a sum of independent mean squares with known factors.
"""

import math
import statistics
from collections.abc import Sequence

from tare.records import Estimate, Levels, Start, VarianceSplit
from tare.statistics.variance import MeanSquare, best_iterations, combined

_FEWEST_BLOCKS = 6


def variance_splits(levels: Sequence[Levels]) -> tuple[VarianceSplit, ...]:
    """Split the variance of each summary with at least six complete blocks."""
    return tuple(_split(each) for each in levels if len(each.blocks) >= _FEWEST_BLOCKS)


def _split(levels: Levels) -> VarianceSplit:
    n = len(levels.blocks)
    own = [block.environment for block in levels.blocks]
    firsts, seconds = ([_mean(block.native[which]) for block in levels.blocks] for which in (0, 1))
    apart = _square([second - first for first, second in zip(firsts, seconds, strict=True)])
    joint = _square([first + second for first, second in zip(firsts, seconds, strict=True)])
    centres = [(first + second) / 2 for first, second in zip(firsts, seconds, strict=True)]
    ratios = _square([_mean(start) - centre for start, centre in zip(own, centres, strict=True)])
    within, inner = _within(own), _harmonic(own)
    starts = [MeanSquare(1.0, ratios, n - 1), MeanSquare(-0.25, apart, n - 1)]
    if within:
        starts.append(MeanSquare(-1 / inner, within.value, within.freedom))
    between_starts = combined(starts, n)
    between_iterations = combined([within], within.freedom) if within else None
    return VarianceSplit(
        cell=levels.cell,
        environment=levels.environment,
        metric=levels.metric,
        between_blocks=combined([MeanSquare(0.25, joint, n - 1), MeanSquare(-0.25, apart, n - 1)], n),
        between_starts=between_starts,
        between_iterations=between_iterations,
        iterations=inner,
        best_iterations=_advised(levels, between_starts, between_iterations),
        start_cost_s=levels.start_cost_s,
        iteration_cost_s=levels.iteration_cost_s,
    )


def _advised(levels: Levels, between_starts: Estimate, between_iterations: Estimate | None) -> int | None:
    if between_iterations is None or levels.start_cost_s is None or levels.iteration_cost_s is None:
        return None
    return best_iterations(
        levels.start_cost_s, levels.iteration_cost_s, between_starts.point, between_iterations.point
    )


def _mean(start: Start) -> float:
    return statistics.fmean(start.log_times)


def _square(values: Sequence[float]) -> float:
    return statistics.variance(values)


def _within(starts: Sequence[Start]) -> MeanSquare | None:
    """Mean square within starts, pooled; ``None`` when each start had one iteration."""
    freedom = sum(len(start.log_times) - 1 for start in starts)
    if not freedom:
        return None
    means = [(_mean(start), start) for start in starts]
    total = math.fsum((value - mean) ** 2 for mean, start in means for value in start.log_times)
    return MeanSquare(1.0, total / freedom, freedom)


def _harmonic(starts: Sequence[Start]) -> float:
    return statistics.harmonic_mean([len(start.log_times) for start in starts])
