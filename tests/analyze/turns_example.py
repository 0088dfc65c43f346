# SPDX-License-Identifier: Apache-2.0
"""Summaries of arms that took turns, from the times of their slices."""

import numpy as np
from numpy.typing import NDArray

from tare.records import BlockValue, Cell, Direction, SlowRuns, Summary
from tare.treat.rounds import block_rounds

CLEAN = SlowRuns(runs=10, slow=0, native_runs=20, native_slow=0, by=None)
NATIVES, ENVIRONMENT = slice(0, 2), 2


def slices(seed: int, blocks: int = 10, rounds: int = 22) -> NDArray[np.float64]:
    """Logarithms of three equal arms' times, with noise of 2 % in a slice and 0.2 % in a start."""
    generator = np.random.default_rng(seed)
    starts = generator.normal(0.0, 0.002, (blocks, 3, 1))
    return starts + generator.normal(0.0, 0.02, (blocks, 3, rounds))


def in_turns(log_times: NDArray[np.float64]) -> Summary:
    """``log_times``: (blocks, arms, rounds), the arms being the two natives and the environment."""
    blocks = tuple(_block(number, arms) for number, arms in enumerate(log_times))
    rounds = [block.rounds for block in blocks if block.rounds is not None]
    return Summary(
        cell=Cell(workload="work", layout="1c1p1i"),
        environment="docker",
        metric="wall_s",
        unit="s",
        direction=Direction.LESS,
        primary=True,
        blocks=blocks,
        log_ratios=tuple(block.log_ratio for block in rounds),
        control_log_ratios=tuple(block.control_log_ratio for block in rounds),
        dropped_blocks=0,
    )


def _block(number: int, arms: NDArray[np.float64]) -> BlockValue:
    first, second, environment = (dict(enumerate(arm)) for arm in arms.tolist())
    means = np.exp(arms).mean(axis=1).tolist()
    return BlockValue(
        block=number,
        native=(means[0], means[1]),
        environment=means[2],
        rounds=block_rounds((first, second), environment),
    )
