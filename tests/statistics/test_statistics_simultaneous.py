# SPDX-License-Identifier: Apache-2.0
"""The band misses any of its points as rarely as it says: skew noise, points or blocks that depend on each other."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tare.statistics.simultaneous import band, exchange_p
from tare.statistics.student import mean_estimate

Floats = NDArray[np.float64]
_REPEATS = 100


def three_runs(
    chance: np.random.Generator, n: int, points: int, *, alike: float, skew: bool
) -> tuple[Floats, Floats]:
    def noise() -> Floats:
        own, common = chance.standard_normal((n, points)), chance.standard_normal((n, 1))
        drawn = np.sqrt(alike) * common + np.sqrt(1 - alike) * own
        return np.asarray(np.exp(0.5 * drawn) if skew else drawn)

    first, second = noise(), noise()
    return noise() - (first + second) / 2, second - first


@pytest.mark.parametrize(("alike", "skew"), [(0.0, False), (0.8, False), (0.0, True)])
def test_a_true_curve_lies_within_the_band_nineteen_times_in_twenty(alike: float, skew: bool) -> None:
    chance = np.random.default_rng(28)
    missed = 0
    for _ in range(_REPEATS):
        around = band(*three_runs(chance, 8, 15, alike=alike, skew=skew))
        assert around is not None
        missed += bool((around.low > 0).any() or (around.high < 0).any())
    assert missed / _REPEATS <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / _REPEATS)


def drifting(chance: np.random.Generator, n: int, points: int, rho: float) -> Floats:
    """AR(1) from block to block, with a variance of 1."""
    made = [chance.standard_normal(points)]
    for _ in range(n - 1):
        made.append(rho * made[-1] + np.sqrt(1 - rho**2) * chance.standard_normal(points))
    return np.array(made)


def own_drift(chance: np.random.Generator, n: int, points: int, rho: float) -> tuple[Floats, Floats]:
    first, second = chance.standard_normal((2, n, points))
    return drifting(chance, n, points, rho) - (first + second) / 2, second - first


@pytest.mark.parametrize(("rho", "limit"), [(0.5, 0.08), (0.7, 0.19)])
def test_a_drift_of_the_environment_alone_is_seen_by_all_points_together(rho: float, limit: float) -> None:
    """``limit``: as documented; without the common widening 0.4 and 0.7."""
    chance, missed = np.random.default_rng(31), 0
    for _ in range(_REPEATS):
        around = band(*own_drift(chance, 10, 20, rho))
        assert around is not None
        missed += bool((around.low > 0).any() or (around.high < 0).any())
    assert missed / _REPEATS <= limit + 3 * np.sqrt(limit * (1 - limit) / _REPEATS)


def test_a_drift_of_all_runs_is_rarely_called_a_dependence() -> None:
    """Without the common widening, in some 40 %."""
    chance, claimed = np.random.default_rng(32), 0
    for _ in range(_REPEATS):
        own, first, second = (drifting(chance, 20, 3, 0.7) for _ in range(3))
        p = exchange_p(*contrasts(own - (first + second) / 2, second - first))
        assert p is not None
        claimed += p <= 0.05
    assert claimed / _REPEATS <= 0.11 + 3 * np.sqrt(0.11 * 0.89 / _REPEATS)


def test_a_rare_spike_hardly_moves_or_widens_a_band() -> None:
    ratios, controls = three_runs(np.random.default_rng(6), 10, 5, alike=0, skew=False)
    spiked = ratios.copy()
    spiked[3, 2] += 1000.0
    before, after = band(ratios, controls), band(spiked, controls)
    assert before is not None
    assert after is not None
    assert abs(after.centre[2] - before.centre[2]) < 1
    assert np.max(after.high - after.low) < 2 * np.max(before.high - before.low)


def test_one_point_has_about_students_interval() -> None:
    ratios, controls = three_runs(np.random.default_rng(4), 20, 1, alike=0, skew=False)
    around, student = band(ratios, controls), mean_estimate(ratios[:, 0].tolist())
    assert around is not None
    assert around.low[0] == pytest.approx(student.low, abs=0.1)
    assert around.high[0] == pytest.approx(student.high, abs=0.1)


def test_points_that_go_together_have_a_narrower_band_than_independent_ones() -> None:
    widths = []
    for alike in (0.99, 0.0):
        around = band(*three_runs(np.random.default_rng(9), 12, 60, alike=alike, skew=False))
        assert around is not None
        widths.append(float((around.high - around.low).mean()))
    assert widths[0] < widths[1]


def test_a_shift_moves_the_band_and_nothing_else() -> None:
    ratios, controls = three_runs(np.random.default_rng(2), 8, 5, alike=0.5, skew=True)
    before, after = band(ratios, controls), band(ratios + 0.3, controls)
    assert before is not None
    assert after is not None
    assert after.low == pytest.approx(before.low + 0.3)
    assert after.high == pytest.approx(before.high + 0.3)


@pytest.mark.parametrize("ratios", [np.zeros((5, 3)), np.zeros((8, 0))])
def test_too_few_blocks_or_no_points_have_no_band(ratios: Any) -> None:
    assert band(ratios, ratios) is None


def test_equal_values_have_a_band_without_width() -> None:
    around = band(np.full((8, 3), 0.2), np.zeros((8, 3)))
    assert around is not None
    assert around.low == pytest.approx([0.2] * 3)
    assert around.high == pytest.approx([0.2] * 3)


def contrasts(ratios: Floats, controls: Floats) -> tuple[Floats, Floats]:
    return ratios[:, 1:] - ratios[:, :1], controls[:, 1:] - controls[:, :1]


@pytest.mark.parametrize(
    ("alike", "skew", "further"), [(0.0, False, 0.0), (0.7, False, 0.0), (0.0, True, 0.0), (0.0, False, 5.0)]
)
def test_an_overhead_that_is_the_same_at_all_levels_is_rarely_called_different(
    alike: float, skew: bool, further: float
) -> None:
    """``further``: noise that the environment has and native has not."""
    chance = np.random.default_rng(29)
    claimed = 0
    for _ in range(_REPEATS):
        ratios, controls = three_runs(chance, 6, 3, alike=alike, skew=skew)
        p = exchange_p(*contrasts(ratios + 0.3 + further * chance.standard_normal((6, 3)), controls))
        assert p is not None
        claimed += p <= 0.05
    assert claimed / _REPEATS <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / _REPEATS)


def test_an_overhead_that_grows_from_level_to_level_is_called_different() -> None:
    ratios, controls = three_runs(np.random.default_rng(3), 10, 3, alike=0, skew=False)
    p = exchange_p(*contrasts(ratios + np.array([0.0, 3.0, 6.0]), controls))
    assert p is not None
    assert p < 0.01


def test_too_few_blocks_have_no_p_value_and_equal_values_no_difference() -> None:
    assert exchange_p(np.zeros((5, 2)), np.zeros((5, 2))) is None
    assert exchange_p(np.zeros((8, 2)), np.zeros((8, 2))) == 1.0


def test_a_difference_that_does_not_vary_at_all_is_one() -> None:
    p = exchange_p(np.full((6, 1), 0.2), np.zeros((6, 1)))
    assert p is not None
    assert p < 0.01
