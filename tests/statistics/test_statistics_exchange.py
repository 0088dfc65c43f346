# SPDX-License-Identifier: Apache-2.0
"""The chance to stand out in blocks of three is exact where it can be counted by hand."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.statistics import exchange
from tare.statistics.exchange import chance_above

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
