# SPDX-License-Identifier: Apache-2.0
"""How many misses a gate forgives: exact binomial limits for any number of experiments."""

from scipy.stats import binom

MISS = 0.05
"""Chance of a miss when an interval keeps its 95 %."""
FALSE_ALARM = 0.01
"""Largest chance that a sound interval fails one gate."""


def most_misses(experiments: int, miss: float = MISS, false_alarm: float = FALSE_ALARM) -> int:
    """Find the smallest c with P(X > c) <= ``false_alarm`` for X binomial with ``experiments`` tries of ``miss``.

    6 of 40, 7 of 60, 11 of 100, 12 of 120, 18 of 200. ``ValueError`` without experiments.
    """
    if experiments < 1:
        raise ValueError("no experiments to count misses in")
    return int(binom.isf(false_alarm, experiments, miss))


def power(experiments: int, coverage: float) -> float:
    """Give the chance that the gate fails an interval that truly covers only ``coverage``."""
    return float(binom.sf(most_misses(experiments), experiments, 1 - coverage))
