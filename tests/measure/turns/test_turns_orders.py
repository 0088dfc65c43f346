# SPDX-License-Identifier: Apache-2.0
"""Every arm has its turn in every round, and none always follows the same other."""

import random
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.measure.turns.slices import orders, williams


@given(arms=st.integers(1, 12), rounds=st.integers(0, 30), seed=st.integers())
def test_each_round_holds_every_arm_once(arms: int, rounds: int, seed: int) -> None:
    drawn = orders(arms, rounds, random.Random(seed))  # noqa: S311
    assert len(drawn) == rounds
    assert all(sorted(order) == list(range(arms)) for order in drawn)


@pytest.mark.parametrize("arms", range(2, 13))
def test_each_arm_follows_each_other_equally_often(arms: int) -> None:
    rows = williams(arms)
    followed = Counter(pair for row in rows for pair in pairwise(row))
    assert len(followed) == arms * (arms - 1)
    assert len(set(followed.values())) == 1


@pytest.mark.parametrize("arms", range(1, 13))
def test_each_arm_stands_equally_often_in_each_place(arms: int) -> None:
    places = Counter((place, arm) for row in williams(arms) for place, arm in enumerate(row))
    assert len(set(places.values())) == 1


def test_another_seed_is_another_order() -> None:
    first, second = (orders(6, 6, random.Random(seed)) for seed in (1, 2))  # noqa: S311
    assert first != second
    assert first == orders(6, 6, random.Random(1))  # noqa: S311
