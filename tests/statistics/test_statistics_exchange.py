# SPDX-License-Identifier: Apache-2.0
"""The two tests behind a candidate hold their level, and are exact where they can be counted by hand."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from tare.analyze.attribution.covariation import correlations
from tare.statistics import exchange
from tare.statistics.exchange import chance_above, holm

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


@given(st.integers(1, 120), st.integers(0, 9), st.sampled_from([0, 1, 4, 50]), st.floats(-1, 1))
def test_the_integral_gives_the_chance_that_all_sums_give(
    blocks: int, seed: int, most: int, shift: float
) -> None:
    """With ties from none to nearly all of the blocks; ``most`` is the largest count."""
    drawn = np.random.default_rng(seed).normal(size=(blocks, 3))
    values = np.minimum(np.abs(drawn * most).round(), most) if most else drawn
    values[:, 0] += shift if most == 0 else round(shift)
    added = chance_above(values[:, 0], values[:, 1:])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exchange, "MOST_ADDED", 0)
        assert chance_above(values[:, 0], values[:, 1:]) == pytest.approx(added, rel=1e-10)


def test_of_many_blocks_the_sums_are_not_added_up_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_much(*_: object) -> None:
        raise AssertionError("grows as n^2")

    monkeypatch.setattr(np, "convolve", too_much)
    drawn = np.random.default_rng(1).normal(size=(3000, 3))
    assert 0.001 < chance_above(drawn[:, 0], drawn[:, 1:]) < 0.999


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


def test_what_follows_from_the_order_is_taken_off_without_a_table_of_all_pairs_of_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def too_much(*_: object) -> None:
        raise AssertionError("grows as n^2")

    for name in ("eye", "outer"):
        monkeypatch.setattr(np, name, too_much)
    own, signals, order = drawn(3, 40, 1.0, 0.3)
    order = np.column_stack([order, 2 * order[:, 0] - 1])  # nothing that the others do not say
    found = correlations(own, signals, order)
    assert [one.r for one in found if one] == pytest.approx(_by_projection(own, signals, order), abs=1e-12)


def _by_projection(own: np.ndarray, signals: np.ndarray, order: np.ndarray) -> list[float]:
    """Of the residuals of ranks, regressed on the order one by one."""
    design = np.column_stack([np.ones(len(order)), order])

    def left(values: np.ndarray) -> np.ndarray:
        ranks = rankdata(values)
        return np.asarray(ranks - design @ np.linalg.lstsq(design, ranks, rcond=None)[0])

    return [float(np.corrcoef(left(own), left(signal))[0, 1]) for signal in signals]
