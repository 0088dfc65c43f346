# SPDX-License-Identifier: Apache-2.0
"""The interval for one more case."""

from random import Random
from statistics import fmean

import pytest

from tare.statistics.left_out import Without, fewest_cases, interval


def by_mean(values: list[float]) -> list[Without]:
    """Each value predicted by the mean of the others, and the new one by the same."""
    every = []
    for place, value in enumerate(values):
        mean = fmean(values[:place] + values[place + 1 :])
        every.append(Without(own=mean, own_scale=1.0, truth=value, new=mean, new_scale=1.0))
    return every


@pytest.mark.parametrize("count", [9, 14, 19])
def test_one_more_value_lies_within_as_often_as_promised(count: int) -> None:
    chance, held, times = Random(count), 0, 1500  # noqa: S311 - data
    for _ in range(times):
        *values, new = (chance.lognormvariate(0, 1) for _ in range(count + 1))
        ends = interval(by_mean(values), 0.9)
        assert ends is not None
        held += ends[0] <= new <= ends[1]
    assert held / times > 0.88


@pytest.mark.parametrize(("level", "fewest"), [(0.9, 9), (0.95, 19), (0.5, 1)])
def test_with_fewer_cases_than_the_level_needs_there_is_no_interval(level: float, fewest: int) -> None:
    assert fewest_cases(level) == fewest
    assert interval(by_mean([1.0, 2.0] * 10)[:fewest], level) is not None
    assert interval(by_mean([1.0, 2.0] * 10)[: fewest - 1], level) is None


def test_an_error_is_expected_to_grow_with_its_scale() -> None:
    every = [Without(own=1.0, own_scale=1.0, truth=1.5, new=4.0, new_scale=4.0)] * 9
    assert interval(every, 0.9) == (2.0, 6.0)
