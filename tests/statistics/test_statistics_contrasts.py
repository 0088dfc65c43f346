# SPDX-License-Identifier: Apache-2.0
"""What an interval alone gives: the p-values that go with it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.statistics.contrasts import (
    Blocks,
    ByInterval,
    Contrast,
    Differences,
    Interval,
    estimate,
    joined,
    mirrored,
    part,
)
from tare.statistics.estimate import Estimate
from tare.statistics.median import median_estimate


def signed_ranks(contrast: Contrast, error: float) -> Estimate:
    return estimate(Differences(contrast.log_ratios), error)


def median(contrast: Contrast, error: float) -> Estimate:
    return median_estimate(contrast.log_ratios, 1 - error)


@given(st.integers(6, 16), st.integers(0, 1000))
def test_the_p_values_of_an_interval_are_those_of_the_test_that_it_inverts(n: int, seed: int) -> None:
    values = tuple(np.random.default_rng(seed).normal(0.3, 1.0, n).tolist())
    exact, inverted = Differences(values), ByInterval(signed_ranks, values)
    for of_exact, of_inverted in ((exact.above, inverted.above), (exact.below, inverted.below)):
        p = of_exact(0.0)
        assert of_inverted(0.0) == (pytest.approx(p, rel=1e-4) if p <= 0.4 else pytest.approx(1.0, abs=0.6))


@pytest.mark.parametrize("interval", [signed_ranks, median])
def test_without_an_interval_nothing_is_shown(interval: Interval) -> None:
    few = ByInterval(interval, (1.0, 2.0, 3.0))
    assert few.bounds(0.05) is None
    assert few.bounds(0.0) is None
    assert ByInterval(signed_ranks, (1.0, 2.0, 3.0)).above(0.0) == 1.0


@pytest.mark.parametrize(
    "whole",
    [
        Blocks((1.0, 2.0, 4.0), (0.1, 0.2, 0.3)),
        Differences((1.0, 2.0, 4.0)),
        ByInterval(median, (1.0, 2.0, 4.0), (0.1, 0.2, 0.3)),
    ],
)
def test_parts_keep_their_interval_and_join_to_the_whole(whole: Contrast) -> None:
    assert joined([part(whole, slice(0, 1)), part(whole, slice(1, 3))]) == whole
    assert mirrored(mirrored(whole)) == whole
    assert mirrored(whole).log_ratios == (-1.0, -2.0, -4.0)


def test_contrasts_of_two_kinds_have_differences_in_common() -> None:
    assert joined([Blocks((1.0,), (0.1,)), Differences((2.0,))]) == Differences((1.0, 2.0))
    assert joined([]) == Differences(())
