# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wilcoxon
from tests.analyze.verdict_example import around

from tare.analyze.evidence import Reach, difference_p, equivalence_p, interval, least_error
from tare.analyze.judgement import is_equivalent
from tare.analyze.signed_rank import hodges_lehmann, walsh_averages

LOOKS = Reach((10, 16, 24, 32), (100 / 1024, 256 / 1024, 576 / 1024, 1.0))
VALUES = st.lists(st.floats(-0.2, 0.2), min_size=6, max_size=20)
ERRORS = st.sampled_from([0.2, 0.1, 0.05, 0.01])


@given(VALUES, ERRORS)
def test_the_interval_leaves_out_zero_exactly_when_p_is_at_most_its_error(
    values: list[float], error: float
) -> None:
    found = hodges_lehmann(values, 1 - error)
    leaves_out = found.low is not None and found.high is not None and (found.low > 0 or found.high < 0)
    assert leaves_out == (difference_p(values, Reach.at_once(len(values))) <= error)


@given(VALUES)
def test_equivalence_is_shown_exactly_when_its_p_is_at_most_one_in_twenty(values: list[float]) -> None:
    p = equivalence_p(values, 0.01, Reach.at_once(len(values)))
    assert is_equivalent(values, 0.01) == (p <= 0.05)


def test_p_is_that_of_scipys_exact_test() -> None:
    values = np.random.default_rng(3).normal(0.02, 0.03, 12)
    expected = wilcoxon(values, method="exact").pvalue
    assert difference_p(list(values), Reach.at_once(12)) == pytest.approx(expected)


def test_values_all_on_one_side_have_the_smallest_p_there_is() -> None:
    assert difference_p(around(1.0, 0.1), Reach.at_once(10)) == pytest.approx(2 ** (1 - 10))


def test_values_that_straddle_the_margin_on_both_sides_are_no_evidence_of_equivalence() -> None:
    assert equivalence_p(around(0.0, 1.0), 0.01, Reach.at_once(10)) > 0.4


@settings(max_examples=15)
@given(st.lists(st.floats(-0.1, 0.1), min_size=32, max_size=32), st.sampled_from([0.05, 0.05 / 3, 0.05 / 8]))
def test_with_looks_p_agrees_with_the_repeated_interval(values: list[float], error: float) -> None:
    found = interval(values, LOOKS, error)
    assert found.low is not None
    assert found.high is not None
    assert (found.low > 0 or found.high < 0) == (difference_p(values, LOOKS) <= error)


def test_looking_more_often_costs_evidence() -> None:
    values = around(0.02, 0.03, 32)
    assert difference_p(values, LOOKS) > difference_p(values, Reach.at_once(32))


def test_at_the_first_look_the_boundary_of_method_md_is_reached_at_one_walsh_average() -> None:
    first = Reach((10,), (100 / 1024,))
    assert first.critical(0.05) == 1
    assert least_error(first, 1) <= 0.05 < least_error(first, 2)


def test_an_error_out_of_reach_has_no_interval() -> None:
    found = interval(around(0.0, 0.1, 6), Reach.at_once(6), 0.01)
    assert (found.low, found.high, found.n) == (None, None, 6)
    assert found.point == pytest.approx(float(np.median(walsh_averages(around(0.0, 0.1, 6)))))


def test_p_under_looks_is_no_smaller_than_chance_allows() -> None:
    """Whoever stops at the look with the smallest p still errs in at most one campaign of twenty."""
    generator = np.random.default_rng(11)
    spent = [(n / 32) ** 2 for n in (10, 16, 24, 32)]
    criticals = [Reach((10, 16, 24, 32)[: k + 1], tuple(spent[: k + 1])).critical(0.05) for k in range(4)]
    values = generator.normal(0.0, 1.0, (4000, 32))
    rejected = np.zeros(4000, dtype=bool)
    for n, critical in zip((10, 16, 24, 32), criticals, strict=True):
        assert critical is not None
        averages = walsh_averages(values[:, :n])
        rejected |= (averages[:, critical] > 0) | (averages[:, -1 - critical] < 0)
    assert float(rejected.mean()) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 4000)
