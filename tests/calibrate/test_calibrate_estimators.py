# SPDX-License-Identifier: Apache-2.0
"""The estimator that is calibrated is the one that verdicts use; the broken one is broken."""

import numpy as np
import pytest

from tare.analyze import overhead
from tare.analyze.scale import as_fraction
from tare.calibrate.estimators import DEFAULT, ESTIMATORS, SIGNED_RANK, TRIMMED_T, Estimator
from tare.calibrate.evidence import found
from tests.calibrate.outcomes import outcomes_of


def test_the_calibrated_estimator_is_the_one_behind_every_verdict() -> None:
    source = np.random.default_rng(1)
    made = outcomes_of({"arm": 0.05}, blocks=10, source=source)
    (summary,) = (one for one in found(made) if one.environment == "arm" and one.metric == "wall_s")
    assert ESTIMATORS[DEFAULT] is SIGNED_RANK
    assert overhead(summary).typical == as_fraction(SIGNED_RANK.interval(summary.log_ratios, 0.95))


@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=lambda one: one.name)
@pytest.mark.parametrize("level", [0.90, 0.95])
def test_bounds_of_many_samples_are_those_of_each(estimator: Estimator, level: float) -> None:
    samples = np.random.default_rng(2).normal(size=(20, 10))
    each = [estimator.interval(row, level) for row in samples.tolist()]
    low, high = estimator.bounds(samples, level)
    assert low.tolist() == pytest.approx([one.low for one in each])
    assert high.tolist() == pytest.approx([one.high for one in each])


def test_the_broken_estimator_covers_less_than_it_says() -> None:
    low, high = TRIMMED_T.bounds(np.random.default_rng(3).normal(size=(20_000, 10)), 0.95)
    assert np.mean((low <= 0) & (high >= 0)) < 0.91


def test_too_few_values_for_the_level_are_refused() -> None:
    with pytest.raises(ValueError, match="give no interval"):
        SIGNED_RANK.bounds(np.zeros((2, 5)), 0.95)
