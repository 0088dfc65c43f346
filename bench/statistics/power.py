# SPDX-License-Identifier: Apache-2.0
"""How many blocks an equivalence needs."""

import numpy as np

from bench.simulation.intervals import equivalent
from bench.simulation.scenarios import clean
from bench.statistics.markdown import table
from tare.statistics.blocks import LEAST_BLOCKS

DEVIATIONS = (0.005, 0.01, 0.03, 0.10)
MARGINS = (0.01, 0.02, 0.05)
POWERS = (0.8, 0.9)
MOST_BLOCKS = 240


def equivalence(campaigns: int, seed: int) -> str:
    """Blocks at which a truth of 0 is shown to lie within the margin, with 80 / 90 % power; two native runs."""
    rows = []
    for deviation in DEVIATIONS:
        cells = [
            " / ".join(_needed(deviation, margin, power, campaigns, seed) for power in POWERS)
            for margin in MARGINS
        ]
        rows.append([f"{100 * deviation:g} %", *cells])
    return table(["a run's coefficient of variation", *(f"±{100 * margin:g} %" for margin in MARGINS)], rows)


def _needed(deviation: float, margin: float, power: float, campaigns: int, seed: int) -> str:
    """By halving, as power grows with the number of blocks."""
    low, high = LEAST_BLOCKS, MOST_BLOCKS
    if _power(deviation, margin, high, campaigns, seed) < power:
        return f"> {MOST_BLOCKS}"
    while low < high:
        middle = (low + high) // 2
        if _power(deviation, margin, middle, campaigns, seed) >= power:
            high = middle
        else:
            low = middle + 1
    return str(low)


def _power(deviation: float, margin: float, blocks: int, campaigns: int, seed: int) -> float:
    arms = clean(deviation, 0.0)(np.random.default_rng([seed, blocks]), campaigns, blocks)
    return float(np.mean(equivalent(arms, margin)))
