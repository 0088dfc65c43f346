# SPDX-License-Identifier: Apache-2.0
"""Slices are compared within their rounds; what slows a whole round down costs nobody anything."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.records import Direction, Sample
from tare.treat.rounds import block_rounds, centre, round_times

FINITE = st.floats(-5, 5, allow_nan=False)


def slice_of(number: int, value: float, instance: int | None = None) -> Sample:
    return Sample(
        name="t",
        value=value,
        unit="s",
        direction=Direction.LESS,
        instance=instance,
        round=number,
        process=0,
    )


@given(shared=st.lists(FINITE, min_size=3, max_size=12), cost=FINITE)
def test_what_a_round_has_in_common_cancels(shared: list[float], cost: float) -> None:
    native = dict(enumerate(shared))
    environment = {number: value + cost for number, value in native.items()}
    rounds = block_rounds((native, native), environment)
    assert rounds is not None
    assert rounds.log_ratio == pytest.approx(cost)
    assert rounds.control_log_ratio == pytest.approx(0)


def test_a_burst_in_one_slice_hardly_moves_the_block() -> None:
    native = dict.fromkeys(range(12), 0.0)
    environment = {**dict.fromkeys(range(12), 0.05), 7: 2.0}
    rounds = block_rounds((native, native), environment)
    assert rounds is not None
    assert rounds.log_ratio == pytest.approx(0.05)
    assert (rounds.slow, rounds.native_slow) == (1, 0)


def test_a_slow_slice_is_slow_beside_its_own_arm_and_each_side_has_the_mean_excess_of_its_own() -> None:
    quiet = dict.fromkeys(range(12), 0.0)
    native = {**quiet, 3: math.log(1.25)}
    slow_start = {**dict.fromkeys(range(12), math.log(1.5)), 5: math.log(1.5 * 4), 7: math.log(1.5 * 2)}
    rounds = block_rounds((quiet, native), slow_start)
    assert rounds is not None
    assert (rounds.slow, rounds.native_slow) == (2, 1)
    assert rounds.slow_by == pytest.approx(2.0)
    assert rounds.native_slow_by == pytest.approx(0.25)


def test_arms_that_are_alike_seem_so_where_a_load_delays_single_slices() -> None:
    """Whichever of three is set against the two others: the mean over many blocks is nothing, within 4 errors."""
    draw = np.random.default_rng(1)
    delays = draw.exponential(0.5, (300, 3, 22)) * (draw.random((300, 3, 22)) < 0.3)
    blocks = (delays + draw.normal(0.0, 0.003, delays.shape)).tolist()
    compared = [block_rounds(*_three(arms, own)) for arms in blocks for own in range(3)]
    ratios = np.reshape([each.log_ratio for each in compared if each is not None], (300, 3)).mean(axis=1)
    assert abs(np.mean(ratios)) < 4 * np.std(ratios) / math.sqrt(len(ratios))


Rounds = dict[int, float]


def _three(arms: list[list[float]], own: int) -> tuple[tuple[Rounds, Rounds], Rounds]:
    """Two natives, and the arm that is set against them."""
    first, second, environment = (dict(enumerate(arms[(own + place) % 3])) for place in (1, 2, 3))
    return (first, second), environment


def test_only_rounds_that_all_arms_have_are_compared() -> None:
    native = dict.fromkeys(range(6), 0.0)
    rounds = block_rounds((native, native), {1: 0.1, 2: 0.1, 4: 0.1})
    assert rounds is not None
    assert rounds.rounds == 3


def test_without_a_common_round_nothing_is_compared() -> None:
    native = dict.fromkeys(range(6), 0.0)
    assert block_rounds((native, native), {7: 0.1}) is None


def test_a_round_lasts_as_long_as_its_slowest_instance() -> None:
    times = round_times([slice_of(0, 1.0, 0), slice_of(0, 2.0, 1), slice_of(1, 3.0, 0)], instances=2)
    assert times == {0: pytest.approx(math.log(2))}


@given(values=st.lists(FINITE, min_size=1, max_size=15), shift=FINITE)
def test_the_centre_moves_with_the_values(values: list[float], shift: float) -> None:
    assert centre([value + shift for value in values]) == pytest.approx(centre(values) + shift, abs=1e-9)
