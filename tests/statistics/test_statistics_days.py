# SPDX-License-Identifier: Apache-2.0
"""The newest of several results against another day: by hand, and how often it is wrong."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from tare.statistics.days import LEAST_DAYS, newest_difference
from tare.statistics.estimate import Estimate
from tare.statistics.student import mean_estimate
from tare.statistics.unpaired import Side

CAMPAIGNS = 1500
NORMAL_97_5 = 1.96


def around(point: float, half_width: float) -> Side:
    return lambda error: Estimate(
        point=point, low=point - half_width, high=point + half_width, level=1 - error, n=9
    )


def measured(chance: np.random.Generator, days: NDArray[np.float64], noise: Sequence[float]) -> list[Side]:
    """A result of ten blocks on each day; ``noise``: of the result's estimate."""
    made: list[Side] = []
    for day, own in zip(days.tolist(), noise, strict=True):
        values = chance.normal(day, own * math.sqrt(10), 10)
        made.append(lambda error, values=values: mean_estimate(list(values), 1 - error))  # type: ignore[misc]
    return made


def shown(difference: Estimate) -> bool:
    assert difference.low is not None
    assert difference.high is not None
    return difference.low > 0 or difference.high < 0


def test_the_interval_is_that_of_one_more_value_by_the_textbook() -> None:
    earlier = [around(point, 0.001) for point in (0.10, 0.11, 0.12, 0.13)]
    made = newest_difference(earlier, around(0.20, 0.001), 0.05)
    # t = 3.182 with three degrees of freedom, s = 0.01291, one more value: times the root of 1 + 1/4.
    assert made.high is not None
    assert made.high - made.point == pytest.approx(3.1824 * 0.012910 * math.sqrt(1.25), rel=1e-4)
    assert made.point == pytest.approx(0.085)
    assert (made.n, made.level) == (4, 0.95)


def test_a_newest_result_with_more_noise_than_the_earlier_has_a_wider_interval() -> None:
    earlier = [around(point, 0.001) for point in (0.10, 0.11, 0.12, 0.13)]
    alike, noisier = (newest_difference(earlier, around(0.2, own), 0.05) for own in (0.001, 0.05))
    assert alike.high is not None
    assert noisier.high is not None
    assert noisier.high - noisier.point == pytest.approx(
        math.sqrt((alike.high - alike.point) ** 2 + 0.05**2 - 0.001**2)
    )


def test_results_that_agree_by_chance_do_not_make_the_newest_more_exact() -> None:
    made = newest_difference([around(0.1, 0.02)] * 8, around(0.1, 0.03), 0.05)
    assert made.high is not None
    assert made.high - made.point == pytest.approx(math.sqrt(0.03**2 + 0.02**2 / 8))


def test_too_few_earlier_results_or_one_without_an_interval_give_none() -> None:
    enough = [around(0.1, 0.01)] * LEAST_DAYS
    unknown: Side = lambda error: Estimate(point=0.1, low=None, high=None, level=1 - error, n=3)  # noqa: E731
    for earlier, newest in (
        (enough[1:], enough[0]),
        (enough[:1], enough[0]),
        ([*enough, unknown], enough[0]),
        (enough, unknown),
    ):
        made = newest_difference(earlier, newest, 0.05)
        assert (made.low, made.high) == (None, None)
    assert newest_difference(enough, enough[0], 0.05).low is not None


@pytest.mark.parametrize("between_days", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("newest_noise", [0.3, 1.0, 3.0])
def test_no_change_is_found_in_one_of_twenty_at_every_difference_between_days(
    between_days: float, newest_noise: float
) -> None:
    """Both directions together; a gate asks about one of them."""
    chance = np.random.default_rng([3, int(10 * between_days), int(10 * newest_noise)])
    wrong = 0
    for _ in range(CAMPAIGNS):
        *earlier, newest = measured(chance, chance.normal(0.0, between_days, 9), [1.0] * 8 + [newest_noise])
        wrong += shown(newest_difference(earlier, newest, 0.05))
    assert wrong / CAMPAIGNS <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / CAMPAIGNS)


def test_five_times_the_spread_of_results_is_found_nearly_always() -> None:
    chance = np.random.default_rng(5)
    hits = 0
    for _ in range(200):
        days = chance.normal(0.0, 1.0, 9) + np.array([0.0] * 8 + [5 * math.sqrt(2)])
        *earlier, newest = measured(chance, days, [1.0] * 9)
        hits += shown(newest_difference(earlier, newest, 0.05))
    assert hits >= 180
