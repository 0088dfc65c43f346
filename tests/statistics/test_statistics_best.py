# SPDX-License-Identifier: Apache-2.0
"""The best of several candidates, of which the first stays unless another is reliably better."""

import numpy as np
import pytest

from tare.statistics.best import best_of

TURNS, LEAST = 8, 4


def costs_of(*factors: float, seed: int = 1, noise: float = 0.01) -> list[dict[int, float]]:
    source = np.random.default_rng(seed)
    turns = np.exp(source.normal(0, 0.1, TURNS))  # what all candidates of a turn share
    return [
        dict(enumerate(map(float, factor * turns * np.exp(source.normal(0, noise, TURNS)))))
        for factor in factors
    ]


def test_the_cheapest_is_taken_with_its_lead() -> None:
    best = best_of(costs_of(1.0, 1.02, 0.9, 0.97), LEAST)
    assert (best.place, best.rival) == (2, 2)
    assert best.lead is not None
    assert best.lead.point == pytest.approx(1 / 0.9 - 1, abs=0.02)


def test_the_first_stays_where_a_cheaper_one_could_be_luck() -> None:
    best = best_of(costs_of(1.0, 0.99, noise=0.05), LEAST)
    assert best.place == 0
    assert best.rival == 1


def test_the_first_of_equal_candidates_is_replaced_in_at_most_one_of_forty_scans() -> None:
    taken = [best_of(costs_of(*[1.0] * 10, seed=seed), LEAST).place for seed in range(400)]
    assert sum(map(bool, taken)) <= 18  # 10 expected at most; of 400, more than 18 have a chance of 1 %


def test_candidates_that_ran_too_seldom_take_no_part() -> None:
    first, second, third = costs_of(1.0, 0.5, 0.9)
    few = {turn: second[turn] for turn in range(LEAST - 1)}
    assert best_of([first, few, third], LEAST).place == 2
    assert best_of([first, few, {}], LEAST).rival is None
    assert best_of([{}, second], LEAST).place == 0
