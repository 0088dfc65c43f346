# SPDX-License-Identifier: Apache-2.0
"""Signed-rank intervals of block log-ratios for many campaigns at once.

Tare computes them of native against native. Of an environment against the mean of both natives they are what Tare
showed before: that mean counts half of what delays one native run, so the log-ratios are not symmetric where noise
only delays.
"""

from collections.abc import Iterator

import numpy as np

from bench.simulation.intervals import Bounds
from bench.simulation.scenarios import Floats
from tare.statistics.estimate import LEVEL
from tare.statistics.signed_rank import critical_value, walsh_averages

_AT_ONCE = 4_000_000
"""Walsh averages in memory."""


def signed_rank(log_ratios: Floats, level: float = LEVEL) -> Bounds:
    """Give ``contrasts.Differences``' interval of each row."""
    critical = critical_value(log_ratios.shape[-1], level)
    if critical is None:
        raise ValueError(f"{log_ratios.shape[-1]} values have no interval at {level}")
    low, high = [], []
    for rows in _chunks(log_ratios):
        averages = walsh_averages(rows)
        low.append(averages[:, critical])
        high.append(averages[:, -1 - critical])
    return np.concatenate(low), np.concatenate(high)


def pseudo_median(log_ratios: Floats, generator: np.random.Generator) -> float:
    """What the signed ranks estimate, from very many blocks: the median of the mean of two of them."""
    flat = log_ratios.ravel()
    return float(np.median((flat + generator.permutation(flat)) / 2))


def _chunks(values: Floats) -> Iterator[Floats]:
    """So many campaigns that their Walsh averages fit into memory."""
    n = values.shape[-1]
    count = max(1, _AT_ONCE // (n * (n + 1) // 2))
    yield from (values[begin : begin + count] for begin in range(0, len(values), count))
