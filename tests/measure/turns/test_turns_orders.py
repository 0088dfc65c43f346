# SPDX-License-Identifier: Apache-2.0
"""Every arm has its turn in every round, and follows every arm, itself included, equally often in every piece."""

import random
from collections import Counter
from itertools import chain, groupby, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.measure.turns.slices import drawn_rounds, orders
from tare.plan.turns import ROUNDS_TOGETHER
from tare.workloads.kind import Piece

NAMES = ("first", "second", "third")
PIECES = [Piece(name=name, metric=name, start_count=1) for name in NAMES]
MOST_UNEVEN = 3
"""Of a pair's count and the mean of all pairs: less than this."""


@given(arms=st.integers(1, 12), rounds=st.integers(0, 30), seed=st.integers())
def test_each_round_holds_every_arm_once(arms: int, rounds: int, seed: int) -> None:
    drawn = orders(arms, rounds, random.Random(seed))  # noqa: S311
    assert len(drawn) == rounds
    assert all(sorted(order) == list(range(arms)) for order in drawn)
    assert all(before[-1] == after[0] for before, after in pairwise(drawn))


@given(
    arms=st.integers(2, 8),
    counts=st.lists(st.integers(1, 30), min_size=1, max_size=3),
    seed=st.integers(),
)
def test_in_what_is_played_every_counted_turn_follows_one_of_its_own_piece(
    arms: int, counts: list[int], seed: int
) -> None:
    pieces = PIECES[: len(counts)]
    wanted = {piece.name: count for piece, count in zip(pieces, counts, strict=True)}
    rounds = drawn_rounds(pieces, wanted, arms, random.Random(seed))  # noqa: S311
    before: tuple[str, int] | None = None
    followed: Counter[tuple[str, int, int]] = Counter()
    for planned in rounds:
        if planned.leads_in:
            before = planned.piece.name, planned.order[0]
        for arm in planned.order:
            assert before is not None
            assert before[0] == planned.piece.name
            followed[planned.piece.name, before[1], arm] += 1
            before = planned.piece.name, arm
    for name, count in wanted.items():
        own = [followed[name, first, second] for first in range(arms) for second in range(arms)]
        assert sum(own) == count * arms
        assert max(abs(each - count / arms) for each in own) < MOST_UNEVEN


@given(counts=st.lists(st.integers(1, 30), min_size=1, max_size=3), seed=st.integers())
def test_each_piece_has_its_rounds_in_order_a_few_at_a_time(counts: list[int], seed: int) -> None:
    pieces = PIECES[: len(counts)]
    wanted = {piece.name: count for piece, count in zip(pieces, counts, strict=True)}
    rounds = drawn_rounds(pieces, wanted, 3, random.Random(seed))  # noqa: S311
    for name, count in wanted.items():
        assert [each.number for each in rounds if each.piece.name == name] == list(range(count))
    together = [len(list(group)) for _, group in groupby(rounds, lambda each: each.piece.name)]
    assert max(together[: -len(pieces)], default=0) <= ROUNDS_TOGETHER


def test_what_does_not_count_is_less_than_a_tenth_of_the_turns() -> None:
    rounds = drawn_rounds(PIECES, dict.fromkeys(NAMES, 22), 3, random.Random(1))  # noqa: S311
    assert sum(planned.leads_in for planned in rounds) / (3 * len(rounds)) < 0.1


@pytest.mark.parametrize("arms", [2, 5])
def test_a_glance_falls_before_every_place_equally_often(arms: int) -> None:
    rounds = drawn_rounds(PIECES[:1], {"first": 2000}, arms, random.Random(1))  # noqa: S311
    places = Counter(planned.glance for planned in rounds)
    assert set(places) == set(range(arms))
    assert all(abs(count - 2000 / arms) < 5 * (2000 / arms) ** 0.5 for count in places.values())


def test_another_seed_is_another_order() -> None:
    first, second = (orders(6, 6, random.Random(seed)) for seed in (1, 2))  # noqa: S311
    assert first != second
    assert first == orders(6, 6, random.Random(1))  # noqa: S311
    assert len(set(chain(*first))) == 6
