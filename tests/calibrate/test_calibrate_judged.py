# SPDX-License-Identifier: Apache-2.0
"""The estimator that is calibrated is the one that verdicts use; the broken one is broken."""

import numpy as np
import pytest

from tare.analyze import overhead
from tare.analyze.contrasts import contrast_of
from tare.calibrate.evidence import found
from tare.calibrate.judged import ALIGNED_RANKS, DEFAULT, ESTIMATORS, TRIMMED_T, Estimator
from tare.statistics.contrasts import Blocks
from tare.statistics.estimate import as_fraction
from tests.calibrate.outcomes import outcomes_of


def test_the_calibrated_estimator_is_the_one_behind_every_verdict() -> None:
    source = np.random.default_rng(1)
    made = outcomes_of({"arm": 0.05}, blocks=10, source=source)
    (summary,) = (
        summary for summary in found(made) if summary.environment == "arm" and summary.metric == "wall_s"
    )
    assert ESTIMATORS[DEFAULT] is ALIGNED_RANKS
    assert overhead(summary).typical == as_fraction(ALIGNED_RANKS.interval(contrast_of(summary), 0.05))


@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=lambda entry: entry.name)
@pytest.mark.parametrize("level", [0.90, 0.95])
def test_bounds_of_many_samples_are_those_of_each(estimator: Estimator, level: float) -> None:
    log_ratios, controls = np.random.default_rng(2).normal(size=(2, 20, 10))
    rows = zip(log_ratios.tolist(), controls.tolist(), strict=True)
    each = [estimator.interval(Blocks(tuple(value), tuple(other)), 1 - level) for value, other in rows]
    low, high = estimator.bounds(log_ratios, controls, level)
    assert low.tolist() == pytest.approx([estimate.low for estimate in each], abs=1e-4)
    assert high.tolist() == pytest.approx([estimate.high for estimate in each], abs=1e-4)


@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=lambda entry: entry.name)
def test_an_interval_misses_when_the_centre_is_outside_of_its_bounds(estimator: Estimator) -> None:
    log_ratios, controls = np.random.default_rng(4).normal(size=(2, 500, 10))
    low, high = estimator.bounds(log_ratios, controls, 0.95)
    outside = (low > 0.3) | (high < 0.3)
    assert 10 < outside.sum() < 490
    assert np.mean(estimator.misses(log_ratios, controls, 0.3, 0.95) == outside) > 0.99


def test_the_broken_estimator_covers_less_than_it_says() -> None:
    log_ratios = np.random.default_rng(3).normal(size=(20_000, 10))
    assert np.mean(TRIMMED_T.misses(log_ratios, log_ratios, 0.0, 0.95)) > 0.09


def test_too_few_values_for_the_level_are_refused() -> None:
    with pytest.raises(ValueError, match="give no interval"):
        ALIGNED_RANKS.bounds(np.zeros((2, 5)), np.zeros((2, 5)), 0.95)
