# SPDX-License-Identifier: Apache-2.0
"""State that accumulates is found with its size, and is not seen where there is none."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.analyze.order import order_verdicts, permutation_p, slope
from tare.records import (
    Cell,
    OrderedBlock,
    OrderedRun,
    OrderedStart,
    Ordering,
    OrderSummary,
    OrderVerdict,
    OrderWord,
)

VALUES = (1.0, 2.0, 4.0, 8.0, 16.0)
SLOPES = st.floats(min_value=-1.0, max_value=1.0)


def start(chance: np.random.Generator, ordering: Ordering, growth: float, noise: float) -> OrderedStart:
    values = list(VALUES)
    if ordering is Ordering.DESCENDING:
        values.reverse()
    if ordering is Ordering.RANDOM:
        chance.shuffle(values)
    own = chance.normal(0.0, 0.02)  # this start is slower or faster as a whole
    runs, uptime_s = [], 0.3
    for place, value in enumerate(values):
        log_time = math.log(value) + own + place * math.log1p(growth) + chance.normal(0.0, noise)
        runs.append(OrderedRun(value=value, uptime_s=uptime_s, log_time=log_time))
        uptime_s += 1.0 + chance.uniform(0.0, 0.1)
    return OrderedStart(ordering=ordering, runs=tuple(runs))


def experiment(seed: int, growth: float = 0.0, noise: float = 0.01, blocks: int = 6) -> OrderSummary:
    chance = np.random.default_rng(seed)
    return OrderSummary(
        cell=Cell(workload="work", layout="1c1p1i"),
        environment="box",
        option="size",
        metric="time_s",
        unit="s",
        blocks=tuple(
            OrderedBlock(
                block=block, starts=tuple(start(chance, ordering, growth, noise) for ordering in Ordering)
            )
            for block in range(blocks)
        ),
        dropped_blocks=0,
    )


def judged(summary: OrderSummary) -> OrderVerdict:
    (verdict,) = order_verdicts([summary])
    return verdict


def words(seeds: Sequence[int], growth: float = 0.0, noise: float = 0.01) -> list[OrderWord]:
    return [judged(experiment(seed, growth, noise)).word for seed in seeds]


@given(SLOPES, st.integers(0, 1000))
def test_the_slope_is_exact_without_noise_whatever_values_and_starts_are(beta: float, seed: int) -> None:
    chance = np.random.default_rng(seed)
    uptimes = chance.uniform(0, 1, (3, 5))
    log_times = chance.normal(size=(1, 5)) + chance.normal(size=(3, 1)) + beta * uptimes
    assert slope(log_times, uptimes) == pytest.approx(beta, abs=1e-9)


def test_orders_that_are_all_alike_tell_nothing() -> None:
    uptimes = np.tile(np.arange(4.0), (3, 1))
    assert slope(np.random.default_rng(1).normal(size=(3, 4)), uptimes) == 0.0


def test_planted_growth_is_found_each_time() -> None:
    assert words(range(200), growth=0.02) == [OrderWord.ACCUMULATES] * 200


@pytest.mark.slow
def test_the_interval_covers_the_planted_growth_of_a_series() -> None:
    truth = 1.02 ** (len(VALUES) - 1) - 1
    covered = 0
    for seed in range(400):
        growth = judged(experiment(seed, growth=0.02)).growth
        assert growth.low is not None
        assert growth.high is not None
        covered += growth.low <= truth <= growth.high
    assert covered >= 0.94 * 400  # the promised level at n = 6 is 96.9 %


@pytest.mark.slow
def test_without_state_at_most_one_alarm_in_twenty() -> None:
    assert words(range(400)).count(OrderWord.ACCUMULATES) <= 20


def test_with_little_noise_no_state_is_shown_to_be_none() -> None:
    assert words(range(50), noise=0.0005) == [OrderWord.WITHIN] * 50


def test_a_growth_below_zero_is_state_too() -> None:
    verdict = judged(experiment(1, growth=-0.02))
    assert verdict.word is OrderWord.ACCUMULATES
    assert verdict.growth.point < 0


def test_fewer_than_six_starts_in_each_order_decide_nothing() -> None:
    verdict = judged(experiment(1, growth=0.5, blocks=5))
    assert verdict.word is OrderWord.UNDECIDED
    assert "takes 6 starts in each order" in verdict.sentence


def test_an_experiment_without_a_complete_block_has_no_verdict() -> None:
    assert order_verdicts([experiment(1, blocks=0)]) == ()


def test_the_permutation_test_is_exact_under_the_null() -> None:
    chance = np.random.default_rng(3)
    uptimes = np.array([[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]], dtype=float)
    chances = [permutation_p([(chance.normal(size=(3, 4)), uptimes) for _ in range(6)]) for _ in range(300)]
    assert 0.02 <= np.mean(np.array(chances) <= 0.1) <= 0.16  # 10 %, within four standard errors
    assert min(chances) > 0


def test_the_same_value_is_compared_late_and_early() -> None:
    contrasts = judged(experiment(1, growth=0.02, noise=0.0)).contrasts
    assert [contrast.value for contrast in contrasts] == sorted(VALUES)
    whole = contrasts[0].late_over_early  # first of the rising order, last of the falling one
    assert whole.point == pytest.approx(1.02**4 - 1, abs=0.05)
    assert whole.n == 6


def test_the_sentence_says_whose_growth_how_much_and_of_how_many_starts() -> None:
    sentence = judged(experiment(1, growth=0.02)).sentence
    assert sentence.startswith("box: state accumulates, time_s takes +")
    assert "n = 6 starts in each order" in sentence
