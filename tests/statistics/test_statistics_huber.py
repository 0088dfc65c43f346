# SPDX-License-Identifier: Apache-2.0
"""A robust mean: the plain one without far values, and hardly moved by one."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.statistics.huber import centre


def test_values_of_which_none_is_far_have_the_plain_mean_and_its_standard_error() -> None:
    values = np.linspace(-1.0, 1.0, 9)
    result = centre(values)
    assert float(result.mean) == pytest.approx(values.mean(), abs=1e-12)
    assert float(result.error) == pytest.approx(values.std(ddof=1) / 3)
    assert int(result.freedom) == 8
    assert result.values == pytest.approx(values)


def test_one_far_value_counts_the_same_however_far_it_is() -> None:
    near, far = (centre(np.array([*np.linspace(-1.0, 1.0, 8), end])) for end in (10.0, 1e4))
    assert float(near.mean) == pytest.approx(float(far.mean), rel=1e-4)
    assert float(near.error) == pytest.approx(float(far.error), rel=1e-4)
    assert int(near.freedom) == int(far.freedom) == 7
    assert float(near.mean) < 0.3


def test_far_values_that_are_more_than_a_few_all_count() -> None:
    result = centre(np.array([0.0] * 6 + [5.0] * 3))
    assert float(result.mean) == pytest.approx(5 / 3)
    assert int(result.freedom) == 8


@given(st.integers(0, 10_000), st.integers(2, 20), st.floats(1e-6, 1e6), st.floats(-10, 10))
def test_scale_and_place_of_the_values_are_those_of_the_result(
    seed: int, n: int, scale: float, place: float
) -> None:
    values = np.random.default_rng(seed).standard_t(2, n)
    plain, moved = centre(values), centre(scale * (values + place))
    assert float(moved.mean) == pytest.approx(scale * (float(plain.mean) + place), abs=1e-6 * scale)
    assert float(moved.error) == pytest.approx(scale * float(plain.error), rel=1e-6)


def test_samples_at_once_have_the_results_of_each() -> None:
    samples = np.random.default_rng(1).standard_t(2, (40, 10))
    at_once = centre(samples)
    for place, sample in enumerate(samples):
        assert at_once.mean[place] == pytest.approx(float(centre(sample).mean))
        assert at_once.error[place] == pytest.approx(float(centre(sample).error))


@pytest.mark.parametrize("n", [8, 14])
def test_the_standard_error_makes_students_t_of_normal_noise(n: int) -> None:
    campaigns = 40_000
    result = centre(np.random.default_rng(n).normal(size=(campaigns, n)))
    beyond = np.mean(np.abs(result.mean / result.error) > {8: 3.4995, 14: 3.0123}[n])
    assert beyond <= 0.0105 + 3 * math.sqrt(0.01 / campaigns)
