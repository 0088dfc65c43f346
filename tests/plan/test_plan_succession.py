# SPDX-License-Identifier: Apache-2.0
"""Orders in which every arm follows every arm, itself included, equally often."""

import random
from collections import Counter
from collections.abc import Sequence
from itertools import chain, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.plan.succession import TurnOrders, begun_by

MOST_UNEVEN = 3
"""Of a pair's count and the mean of all pairs: less than this."""


def drawn(arms: int, rounds: int, seed: int) -> list[list[int]]:
    turn_orders = TurnOrders[int](random.Random(seed))  # noqa: S311
    return [turn_orders.order(range(arms)) for _ in range(rounds)]


def followed(orders: Sequence[Sequence[int]]) -> Counter[tuple[int, int]]:
    """What follows what, from order to order too; the first arm of all follows itself."""
    return Counter(pairwise([orders[0][0], *chain(*orders)]))


@given(arms=st.integers(1, 12), rounds=st.integers(1, 30), seed=st.integers())
def test_each_order_holds_every_arm_once_and_begins_with_the_arm_that_ended_the_last(
    arms: int, rounds: int, seed: int
) -> None:
    orders = drawn(arms, rounds, seed)
    assert all(sorted(order) == list(range(arms)) for order in orders)
    assert all(before[-1] == after[0] for before, after in pairwise(orders))


@given(arms=st.integers(1, 12), rounds=st.integers(1, 60), seed=st.integers())
def test_every_arm_follows_every_arm_itself_included_nearly_equally_often(
    arms: int, rounds: int, seed: int
) -> None:
    counts = followed(drawn(arms, rounds, seed))
    pairs = [counts[first, second] for first in range(arms) for second in range(arms)]
    assert max(abs(count - rounds / arms) for count in pairs) < MOST_UNEVEN


@pytest.mark.parametrize("arms", [3, 4, 6])
def test_over_many_chains_each_arm_stands_in_each_place_and_after_each_arm_equally_often(arms: int) -> None:
    chains = 2000
    places: Counter[tuple[int, int, int]] = Counter()
    after: Counter[tuple[int, int]] = Counter()
    for seed in range(chains):
        orders = drawn(arms, 3, seed)
        places.update((number, *each) for number, order in enumerate(orders) for each in enumerate(order))
        after += followed(orders)
    expected = chains / arms
    assert len(places) == 3 * arms**2
    assert all(abs(count - expected) < 5 * expected**0.5 for count in places.values())
    assert all(abs(count - 3 * expected) < 5 * (3 * expected) ** 0.5 for count in after.values())


@given(rounds=st.integers(1, 10), seed=st.integers())
def test_after_an_arm_has_gone_the_others_go_on(rounds: int, seed: int) -> None:
    turn_orders = TurnOrders[int](random.Random(seed))  # noqa: S311
    whole = [turn_orders.order(range(4)) for _ in range(rounds)]
    left = [turn_orders.order(range(3)) for _ in range(rounds)]
    assert all(sorted(order) == [0, 1, 2] for order in left)
    assert all(before[-1] == after[0] for before, after in pairwise(left))
    assert whole[-1][-1] in {left[0][0], 3}


@given(st.permutations(range(5)), st.integers(0, 7))
def test_the_first_moves_to_the_front_and_nothing_else_moves(order: list[int], first: int) -> None:
    moved = begun_by(order, lambda each: each == first)
    assert sorted(moved) == sorted(order)
    assert first not in order or moved[0] == first
    assert [each for each in moved if each != first] == [each for each in order if each != first]
