# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy.stats import shapiro

from tare.statistics.shape import normality, skew


def test_a_long_tail_is_called_asymmetric_and_its_mirror_leans_the_other_way() -> None:
    tail = [float(value) for value in np.expm1(np.linspace(0, 5, 32))]
    np.random.default_rng(4).shuffle(tail)
    statistic, p = skew(tail)
    mirrored, same_p = skew([-value for value in tail])
    assert p <= 0.01
    assert mirrored == pytest.approx(-statistic)
    assert same_p == p


def test_normality_agrees_with_shapiro_and_wilk() -> None:
    generator = np.random.default_rng(9)
    ours, theirs = [], []
    for _ in range(200):
        values = generator.normal(0, 1, 20)
        ours.append(normality(list(values))[1])
        theirs.append(float(shapiro(values).pvalue))
    assert float(np.corrcoef(ours, theirs)[0, 1]) > 0.85
    assert np.mean(np.array(ours) <= 0.05) == pytest.approx(0.05, abs=0.05)
    assert normality(list(np.exp(3 * generator.normal(0, 1, 20))))[1] < 0.001
