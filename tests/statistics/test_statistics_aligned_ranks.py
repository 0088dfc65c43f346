# SPDX-License-Identifier: Apache-2.0
"""The studentized aligned ranks: shifts, order, ties and few blocks; and their honesty under any noise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tare.statistics.aligned_ranks import bounds, log_ratios_of, points, reaches, runs_of, statistic
from tare.statistics.blocks import farthest, quantile

ERROR = 0.05
SEEDS = st.integers(0, 10_000)
Floats = NDArray[np.float64]


def sample(seed: int, blocks: int) -> tuple[Floats, Floats]:
    return log_ratios_of(np.random.default_rng(seed).normal(0.0, 0.03, (blocks, 3)))


@given(SEEDS, st.integers(6, 30), st.floats(-3, 3))
def test_a_shift_moves_the_estimate_and_its_interval(seed: int, blocks: int, shift: float) -> None:
    log_ratios, controls = sample(seed, blocks)
    before = (points(log_ratios, controls), *bounds(log_ratios, controls, ERROR))
    after = (points(log_ratios + shift, controls), *bounds(log_ratios + shift, controls, ERROR))
    assert np.asarray(after) == pytest.approx(np.asarray(before) + shift, abs=1e-8)


@given(SEEDS, st.integers(1, 30))
def test_runs_and_their_log_ratios_are_each_made_of_the_other(seed: int, blocks: int) -> None:
    log_ratios, controls = sample(seed, blocks)
    again = log_ratios_of(runs_of(log_ratios, controls))
    assert np.stack(again) == pytest.approx(np.stack([log_ratios, controls]))


@given(SEEDS, st.integers(6, 30))
def test_a_faster_environment_is_a_slower_one_mirrored(seed: int, blocks: int) -> None:
    log_ratios, controls = sample(seed, blocks)
    low, high = bounds(log_ratios, controls, ERROR)
    assert np.asarray(bounds(-log_ratios, -controls, ERROR)) == pytest.approx(
        np.asarray([-high, -low]), abs=1e-8
    )


@given(SEEDS, st.integers(6, 30))
def test_which_native_run_comes_first_is_nothing(seed: int, blocks: int) -> None:
    log_ratios, controls = sample(seed, blocks)
    assert bounds(log_ratios, controls, ERROR) == bounds(log_ratios, -controls, ERROR)


@given(SEEDS, st.integers(6, 30))
def test_the_statistic_falls_from_one_end_of_the_interval_to_the_other(seed: int, blocks: int) -> None:
    log_ratios, controls = sample(seed, blocks)
    low, high = bounds(log_ratios, controls, ERROR)
    just = 1e-8
    assert (
        statistic(log_ratios, controls, low - just)
        > quantile(ERROR)
        >= statistic(log_ratios, controls, low + just)
    )
    assert statistic(log_ratios, controls, high + just) < -quantile(ERROR)
    assert low <= points(log_ratios, controls) <= high


@given(SEEDS, st.integers(6, 40))
def test_an_environment_that_is_always_the_slowest_shows_at_least_what_the_count_of_blocks_promises(
    seed: int, blocks: int
) -> None:
    log_ratios, controls = sample(seed, blocks)
    assert statistic(log_ratios, controls, np.asarray(-5.0)) >= farthest(blocks) - 1e-12


@given(SEEDS, st.integers(6, 30))
def test_many_samples_at_once_are_as_each_alone(seed: int, blocks: int) -> None:
    rows = [sample(seed + row, blocks) for row in range(3)]
    together = bounds(np.stack([values for values, _ in rows]), np.stack([other for _, other in rows]), ERROR)
    alone = [bounds(*row, ERROR) for row in rows]
    assert np.stack(together) == pytest.approx(np.asarray(alone).T, abs=1e-8)


@given(SEEDS, st.integers(6, 20))
def test_coarse_clocks_that_make_runs_equal_are_no_evidence(seed: int, blocks: int) -> None:
    """Times in whole steps: logarithms of equal quotients may differ in their last digits."""
    steps = np.random.default_rng(seed).integers(1, 4, (blocks, 3)).astype(float)
    value, other = log_ratios_of(np.log(steps * 0.1)), log_ratios_of(np.log(steps * 0.7))
    assert statistic(*value, np.asarray(0.0)) == statistic(*other, np.asarray(0.0))


def test_without_any_noise_the_interval_is_the_overhead() -> None:
    low, high = bounds(np.full(10, 0.05), np.zeros(10), ERROR)
    assert (float(low), float(high)) == pytest.approx((0.05, 0.05), abs=1e-9)


@pytest.mark.parametrize(("error", "fewest"), [(0.1, 6), (0.05, 6), (0.01, 8), (0.05 / 6, 8), (0.0025, 10)])
def test_so_few_blocks_are_enough_and_fewer_are_refused(error: float, fewest: int) -> None:
    assert reaches(fewest, error)
    assert np.isfinite(bounds(*sample(1, fewest), error)).all()
    with pytest.raises(ValueError, match="no interval"):
        bounds(*sample(1, fewest - 1), error)


NOISES = {
    "alike and normal": lambda g, shape: g.normal(0, 1, shape),
    "loads that only delay": lambda g, shape: (
        g.normal(0, 0.05, shape) + (g.random(shape) < 0.3) * g.exponential(1.0, shape)
    ),
    "three times as much in the environment": lambda g, shape: (
        g.normal(0, 1, shape) * np.array([3.0, 1.0, 1.0])
    ),
    "three times as much natively": lambda g, shape: g.normal(0, 1, shape) * np.array([1.0, 3.0, 3.0]),
    "another in each block": lambda g, shape: g.normal(0, 1, shape) * np.exp(g.normal(0, 1, (*shape[:2], 1))),
}


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("blocks", [6, 10, 30])
@pytest.mark.parametrize("error", [0.05, 0.01])
def test_whatever_the_noise_the_interval_misses_as_seldom_as_it_says(
    noise: str, blocks: int, error: float
) -> None:
    campaigns = 20_000
    runs = NOISES[noise](np.random.default_rng(3), (campaigns, blocks, 3))
    missed = np.abs(statistic(*log_ratios_of(runs), np.zeros(campaigns))) > quantile(error)
    assert float(missed.mean()) <= error + 4 * float(np.sqrt(error * (1 - error) / campaigns))
