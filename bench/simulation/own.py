# SPDX-License-Identifier: Apache-2.0
"""Tare's own functions, campaign by campaign: for what no array does at once, in the few campaigns that need it."""

from collections.abc import Iterator

import numpy as np

from bench.simulation.scenarios import Arms, Floats
from tare.statistics.contrasts import Blocks, Contrast, widened
from tare.statistics.series import widenings as widenings_of
from tare.statistics.sharper import SHARPER


def contrasts(arms: Arms) -> Iterator[Contrast]:
    """Each campaign as Tare judges it: widened where its blocks depend on each other."""
    for log_ratios, controls in zip(arms.log_ratios.tolist(), arms.control_log_ratios.tolist(), strict=True):
        yield widened(Blocks(tuple(log_ratios), tuple(controls)))


def bounds(arms: Arms, error: float) -> tuple[Floats, Floats]:
    """Give the ends of each campaign's interval; it holds everything where Tare gives none."""
    ends = np.array([contrast.bounds(error) or (-np.inf, np.inf, 0.0) for contrast in contrasts(arms)])
    low, high, _ = ends.reshape(-1, 3).T
    return low, high


def difference_p(arms: Arms) -> Floats:
    """Two-sided, the number of blocks being fixed."""
    sided = [2 * min(contrast.above(0.0), contrast.below(0.0)) for contrast in contrasts(arms)]
    return np.minimum(1.0, np.array(sided, dtype=np.float64))


def widenings(arms: Arms) -> Floats:
    """How many times as wide as of independent blocks each campaign's interval is."""
    return widenings_of(arms.log_ratios)


def is_sharper(error: float) -> bool:
    """Whether an interval that misses with a chance of ``error`` may be narrower than the normal distribution's."""
    return error / 2 < SHARPER
