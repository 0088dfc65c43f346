# SPDX-License-Identifier: Apache-2.0
import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.records import Direction, Sample
from tare.treat.aggregate import log_time_per_work, median, whole_trial

LESS, MORE = Direction.LESS, Direction.MORE
POSITIVE = st.floats(min_value=1e-9, max_value=1e12)


def sample(value: float, instance: int | None, direction: Direction = LESS) -> Sample:
    return Sample(name="m", value=value, unit="s", direction=direction, instance=instance)


def test_rates_of_instances_add_up() -> None:
    assert whole_trial([sample(3.0, 0, MORE), sample(4.0, 1, MORE)], 2) == 7.0


def test_the_slowest_instance_is_the_time_of_the_trial() -> None:
    assert whole_trial([sample(3.0, 0), sample(4.0, 1)], 2) == 4.0


def test_a_value_of_the_whole_trial_beats_the_per_instance_ones() -> None:
    assert whole_trial([sample(3.0, 0), sample(9.0, None), sample(4.0, 1)], 2) == 9.0


@pytest.mark.parametrize("instances", [[0], [0, 0], [0, 1, 2], [0, 1, 1]])
def test_instances_missing_or_repeated_leave_no_value(instances: list[int]) -> None:
    assert whole_trial([sample(1.0, instance) for instance in instances], 2) is None


def test_two_values_of_the_whole_trial_leave_no_value() -> None:
    assert whole_trial([sample(1.0, None), sample(2.0, None)], 1) is None


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("direction", list(Direction))
def test_one_unusable_instance_leaves_no_value(value: float, direction: Direction) -> None:
    assert whole_trial([sample(1.0, 0, direction), sample(value, 1, direction)], 2) is None


def test_a_sum_beyond_floating_point_leaves_no_value() -> None:
    assert whole_trial([sample(1.7e308, 0, MORE), sample(1.7e308, 1, MORE)], 2) is None


def test_the_middle_two_rates_are_never_averaged_arithmetically() -> None:
    assert median([1.0, 2.0, 4.0, 8.0], MORE) == pytest.approx(2 / (1 / 2 + 1 / 4))


@given(st.lists(POSITIVE, min_size=1, max_size=20))
def test_the_median_rate_is_the_reciprocal_of_the_median_time(values: list[float]) -> None:
    assert median(values, LESS) == statistics.median(values)
    assert median([1 / value for value in values], MORE) == pytest.approx(1 / median(values, LESS))


@given(POSITIVE)
def test_a_rate_and_its_time_have_one_logarithm(value: float) -> None:
    assert log_time_per_work(1 / value, MORE) == pytest.approx(log_time_per_work(value, LESS), abs=1e-12)
