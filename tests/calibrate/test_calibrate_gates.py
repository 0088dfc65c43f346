# SPDX-License-Identifier: Apache-2.0
"""The number of misses that a gate forgives is the exact binomial one."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.calibrate.gates import FALSE_ALARM, MISS, most_misses


def chance_of_more(count: int, experiments: int, miss: float) -> float:
    """By summing the binomial distribution term by term, another way than the one that is tested."""
    terms = (
        math.comb(experiments, k) * miss**k * (1 - miss) ** (experiments - k)
        for k in range(count + 1, experiments + 1)
    )
    return math.fsum(terms)


@pytest.mark.parametrize(("experiments", "most"), [(40, 6), (60, 7), (100, 11), (120, 12), (200, 18)])
def test_the_limits_are_those_of_the_protocol(experiments: int, most: int) -> None:
    assert most_misses(experiments) == most


@given(st.integers(1, 400))
def test_a_sound_interval_fails_in_at_most_one_of_a_hundred_gates_and_no_limit_is_laxer(
    experiments: int,
) -> None:
    most = most_misses(experiments)
    assert chance_of_more(most, experiments, MISS) <= FALSE_ALARM * (1 + 1e-9)
    assert most == 0 or chance_of_more(most - 1, experiments, MISS) > FALSE_ALARM


@pytest.mark.parametrize(
    ("experiments", "coverage", "expected"),
    [(40, 0.85, 0.39), (60, 0.85, 0.70), (60, 0.80, 0.93), (100, 0.85, 0.84), (120, 0.85, 0.93)],
)
def test_the_power_is_that_of_the_protocol(experiments: int, coverage: float, expected: float) -> None:
    power = chance_of_more(most_misses(experiments), experiments, 1 - coverage)
    assert power == pytest.approx(expected, abs=0.01)


def test_nothing_is_forgiven_where_nothing_was_tried() -> None:
    with pytest.raises(ValueError, match="no experiments"):
        most_misses(0)
