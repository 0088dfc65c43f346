# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import wilcoxon
from tests.analyze.verdict_example import around

from tare.records import Estimate
from tare.statistics.aligned_ranks import log_ratios_of, statistic
from tare.statistics.blocks import farthest, quantile
from tare.statistics.contrasts import Blocks, Contrast, Differences, estimate
from tare.statistics.estimate import as_fraction, lies_within
from tare.statistics.evidence import Reach, difference_p, equivalence_p, interval, least_error

LOOKS = Reach((10, 16, 24, 32), (100 / 1024, 256 / 1024, 576 / 1024, 1.0))
ERRORS = st.sampled_from([0.2, 0.1, 0.05, 0.01, 0.002, 0.0004])


def samples(least: int = 6, most: int = 20) -> st.SearchStrategy[Contrast]:
    """Of both kinds, of continuous noise."""
    sizes, seeds, shifts = st.integers(least, most), st.integers(0, 10_000), st.floats(-0.1, 0.1)
    return st.builds(sample, sizes, seeds, shifts, st.booleans())


def sample(n: int, seed: int, shift: float, paired: bool = False) -> Contrast:
    runs = np.random.default_rng(seed).normal(0, 0.05, (n, 3))
    log_ratios, controls = log_ratios_of(runs)
    log_ratios = log_ratios + shift
    if paired:
        return Differences(tuple(log_ratios.tolist()))
    return Blocks(tuple(log_ratios.tolist()), tuple(controls.tolist()))


def leaves_out(estimate: Estimate) -> bool:
    return estimate.low is not None and estimate.high is not None and (estimate.low > 0 or estimate.high < 0)


@given(samples(), ERRORS)
def test_the_interval_leaves_out_zero_exactly_when_p_is_at_most_its_error(
    contrast: Contrast, error: float
) -> None:
    result = estimate(contrast, error)
    assert leaves_out(result) == (difference_p(contrast, Reach.at_once(result.n)) <= error)


@given(samples())
def test_an_interval_lies_within_the_margin_exactly_when_p_of_both_ends_is_at_most_its_error(
    contrast: Contrast,
) -> None:
    p = equivalence_p(contrast, 0.03, Reach.at_once(len(contrast.log_ratios)))
    assert lies_within(as_fraction(estimate(contrast, 0.1)), 0.03) == (2 * p <= 0.1)


def test_p_of_pairs_is_that_of_scipys_exact_test() -> None:
    values = np.random.default_rng(3).normal(0.02, 0.03, 12)
    expected = wilcoxon(values, method="exact").pvalue
    assert difference_p(Differences(tuple(values)), Reach.at_once(12)) == pytest.approx(expected)


@pytest.mark.parametrize("n", [6, 10, 20])
def test_an_environment_that_is_always_the_slowest_has_the_smallest_p_there_is(n: int) -> None:
    """Of all placements there are; above ten blocks of those that are drawn."""
    smallest = 2 * 3.0**-n if n <= 10 else 2 * float(ndtr(-farthest(n)))
    assert difference_p(sample(n, 1, shift=5.0), Reach.at_once(n)) == pytest.approx(smallest)


def test_values_that_straddle_the_margin_on_both_sides_are_no_evidence_of_equivalence() -> None:
    straddling = Blocks(tuple(around(0.0, 1.0)), (0.0,) * 10)
    assert equivalence_p(straddling, 0.01, Reach.at_once(10)) > 0.4


@settings(max_examples=25)
@given(samples(32, 32), st.sampled_from([0.05, 0.05 / 3, 0.05 / 8]))
def test_with_looks_p_agrees_with_the_repeated_interval(contrast: Contrast, error: float) -> None:
    result = interval(contrast, LOOKS, error)
    assert result.low is not None
    assert leaves_out(result) == (difference_p(contrast, LOOKS) <= error)


def test_looking_more_often_costs_evidence() -> None:
    contrast = sample(32, 5, shift=0.02)
    assert difference_p(contrast, LOOKS) > difference_p(contrast, Reach.at_once(32))


def test_at_the_first_look_the_p_that_is_asked_for_is_the_nominal_level() -> None:
    first = Reach((10,), (100 / 1024,))
    assert first.nominal(0.05) == pytest.approx(0.05 * 100 / 1024)
    assert least_error(first, first.nominal(0.05)) <= 0.05 < least_error(first, 1.1 * first.nominal(0.05))


def test_an_error_out_of_reach_has_no_interval() -> None:
    contrast = sample(6, 2, shift=0.0)
    result = interval(contrast, Reach.at_once(6), 0.001)
    assert (result.low, result.high, result.n, result.point) == (None, None, 6, contrast.point())


def test_p_under_looks_is_no_smaller_than_chance_allows() -> None:
    """Whoever stops at the look with the smallest p still errs in at most one campaign of twenty."""
    spent = [(n / 32) ** 2 for n in (10, 16, 24, 32)]
    levels = [Reach((10, 16, 24, 32)[: k + 1], tuple(spent[: k + 1])).nominal(0.05) for k in range(4)]
    runs = np.random.default_rng(11).normal(0.0, 1.0, (4000, 32, 3))
    log_ratios, controls = log_ratios_of(runs)
    rejected = np.zeros(4000, dtype=bool)
    for n, level in zip((10, 16, 24, 32), levels, strict=True):
        rejected |= np.abs(statistic(log_ratios[:, :n], controls[:, :n], np.zeros(4000))) > quantile(level)
    assert float(rejected.mean()) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 4000)
