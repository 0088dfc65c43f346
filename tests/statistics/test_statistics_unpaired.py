# SPDX-License-Identifier: Apache-2.0
"""The difference of two independent centres: by hand, and how often it is wrong."""

import math
from functools import partial

import numpy as np
import pytest

from tare.statistics.contrasts import Blocks, Contrast
from tare.statistics.estimate import Estimate
from tare.statistics.evidence import Reach, interval
from tare.statistics.unpaired import Side, unpaired_difference, unpaired_difference_p, unpaired_equivalence_p

PAIRS = 250
"""docs/statistics.md has a run of 4000."""
ARMS = {
    "alike": (10, 10, 0.03, 0.03, False),
    "unequal noise": (10, 10, 0.01, 0.06, False),
    "unequal noise and number": (30, 8, 0.01, 0.06, False),
    "spikes": (12, 10, 0.03, 0.03, True),
}
"""Blocks before and after, standard deviations of a run, and whether one run in ten takes up to twice the time."""


def fixed(low: float, point: float, high: float) -> Side:
    return lambda error: Estimate(point=point, low=low, high=high, level=1 - error, n=9)


def side(contrast: Contrast) -> Side:
    return partial(interval, contrast, Reach.at_once(len(contrast.log_ratios)))


def drawn(chance: np.random.Generator, blocks: int, spread: float, spikes: bool) -> Side:
    runs = chance.normal(0.0, spread, (3, blocks))
    if spikes:
        runs += (chance.random((3, blocks)) < 0.1) * chance.uniform(0.0, math.log(2), (3, blocks))
    return side(Blocks(tuple(runs[2] - (runs[0] + runs[1]) / 2), tuple(runs[1] - runs[0])))


def test_squares_of_the_distances_add_up() -> None:
    made = unpaired_difference(fixed(0.07, 0.10, 0.13), fixed(0.16, 0.20, 0.24), 0.05)
    assert (made.point, made.low, made.high) == pytest.approx((0.10, 0.05, 0.15))
    assert (made.level, made.n) == (0.95, 9)


def test_no_interval_on_either_side_gives_none() -> None:
    unknown: Side = lambda error: Estimate(point=0.1, low=None, high=None, level=1 - error, n=3)  # noqa: E731
    made = unpaired_difference(fixed(0.0, 0.1, 0.2), unknown, 0.05)
    assert (made.low, made.high, made.n) == (None, None, 3)
    assert unpaired_difference_p(fixed(0.0, 0.1, 0.2), unknown, 0.05) == 1.0


def test_p_values_agree_with_the_intervals() -> None:
    chance = np.random.default_rng(3)
    before = drawn(chance, 12, 0.02, spikes=False)
    runs = chance.normal(0.0, 0.02, (3, 12))
    after = side(Blocks(tuple(0.06 + runs[2] - (runs[0] + runs[1]) / 2), tuple(runs[1] - runs[0])))
    p = unpaired_difference_p(before, after, 0.05)
    assert 0 < p < 0.05
    at_p, below = (unpaired_difference(before, after, error) for error in (p, p / 1.05))
    assert at_p.low is not None
    assert below.low is not None
    assert below.low <= 0 < at_p.low
    assert unpaired_equivalence_p(before, after, 0.01, 0.05) == 1.0
    assert unpaired_equivalence_p(before, after, 0.2, 0.05) < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("name", ARMS)
def test_equal_centres_seem_to_differ_in_about_one_of_twenty_pairs_at_most(name: str) -> None:
    blocks, later_blocks, spread, later_spread, spikes = ARMS[name]
    chance = np.random.default_rng(7)
    wrong = 0
    for _ in range(PAIRS):
        before, after = (
            drawn(chance, blocks, spread, spikes),
            drawn(chance, later_blocks, later_spread, spikes),
        )
        made = unpaired_difference(before, after, 0.05)
        assert made.low is not None
        assert made.high is not None
        wrong += made.low > 0 or made.high < 0
    assert wrong / PAIRS <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / PAIRS)
