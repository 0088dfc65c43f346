# SPDX-License-Identifier: Apache-2.0
"""The two tests behind a candidate hold their level, and are exact where they can be counted by hand."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.analyze.attribution.covariation import correlations
from tare.analyze.attribution.exchange import chance_above, holm

blocks_of_three = st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=5)


def by_hand(blocks: list[tuple[int, int, int]]) -> float:
    """Count all ways to call one of each block's three values the environment's."""

    def rank(block: tuple[int, int, int], place: int) -> float:
        own = block[place]
        return sum(value < own for value in block) + (sum(value == own for value in block) + 1) / 2

    seen = sum(rank(block, 0) for block in blocks)
    ways = [
        sum(rank(block, place) for block, place in zip(blocks, places, strict=True))
        for places in itertools.product(range(3), repeat=len(blocks))
    ]
    return sum(way >= seen - 1e-9 for way in ways) / len(ways)


@given(blocks_of_three)
def test_the_chance_is_the_share_of_all_ways_to_name_the_environment(
    blocks: list[tuple[int, int, int]],
) -> None:
    values = np.array(blocks, dtype=float)
    assert chance_above(values[:, 0], values[:, 1:]) == pytest.approx(by_hand(blocks))


def test_ten_blocks_above_both_natives_have_one_chance_in_three_to_the_tenth() -> None:
    assert chance_above(np.full(10, 2.0), np.ones((10, 2))) == pytest.approx(3.0**-10)


def test_nothing_but_ties_says_nothing() -> None:
    assert chance_above(np.zeros(8), np.zeros((8, 2))) == pytest.approx(1.0)
    assert chance_above(np.zeros(0), np.zeros((0, 2))) == 1.0


def test_holm_multiplies_the_smallest_by_their_number_and_never_falls() -> None:
    assert holm([0.01, 0.5, 0.02]) == pytest.approx([0.03, 0.5, 0.04])
    assert holm([0.6, 0.5]) == pytest.approx([1.0, 1.0])


def drawn(seed: int, n: int, effect: float, trend: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Twelve signals, of which the first moves the overhead by ``effect``; all share a trend over the blocks."""
    random = np.random.default_rng(seed)
    order = np.column_stack([np.arange(n), random.integers(-2, 3, n)]).astype(float)
    signals = random.standard_normal((12, n)) + trend * order[:, 0]
    own = random.standard_normal(n) + trend * order[:, 0] + effect * (signals[0] - trend * order[:, 0])
    return own, signals, order


@pytest.mark.parametrize("trend", [0.0, 0.5])
def test_signals_without_effect_pass_the_gate_in_at_most_1_of_20_campaigns_also_under_a_trend(
    trend: float,
) -> None:
    named = 0
    for seed in range(200):
        found = correlations(*drawn(seed, 12, 0.0, trend))
        named += any(one is not None and one.chance <= 0.05 for one in found)
    assert named <= 18, "one in 20 of 200 is 10; 18 or more would come in 1 % of cases"


def test_a_strong_effect_passes_the_gate_and_no_other_signal_does_more_often() -> None:
    passed = np.zeros(12)
    for seed in range(20):
        found = correlations(*drawn(seed, 30, 2.0, 0.1))
        passed += [one is not None and one.chance <= 0.05 for one in found]
    assert passed[0] >= 19
    assert passed[1:].sum() <= 5


def test_a_signal_that_never_changes_has_no_correlation() -> None:
    own, signals, order = drawn(1, 12, 1.0, 0.0)
    signals[3] = 7.0
    found = correlations(own, signals, order)
    assert found[3] is None
    assert found[0] is not None


def test_the_same_values_give_the_same_chances() -> None:
    assert correlations(*drawn(2, 15, 0.5, 0.0)) == correlations(*drawn(2, 15, 0.5, 0.0))
