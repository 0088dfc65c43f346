# SPDX-License-Identifier: Apache-2.0
"""The interval of a spread without the extremes: what bench.simulation.spreads computes for many is Tare's own."""

import math

import pytest
from bench.simulation import spreads

from tare.statistics.variance import variation


def test_the_simulated_interval_is_the_one_that_claims_are_judged_by() -> None:
    values = [0.01 * math.sin(3 * place) for place in range(30)]
    own = variation(values)
    low, high = spreads.factors(len(values))
    square = math.log1p(own.point**2)
    assert own.low is not None
    assert own.high is not None
    assert math.log1p(own.low**2) == pytest.approx(low * square)
    assert math.log1p(own.high**2) == pytest.approx(high * square)


@pytest.mark.parametrize("runs", spreads.RUNS)
def test_it_holds_the_printed_spread_of_normal_runs_and_not_that_of_all_runs(runs: int) -> None:
    normal = spreads.simulated(spreads.normal, runs, campaigns=4000)
    assert normal.trimmed < normal.whole
    assert 0.92 < normal.holds_trimmed < 0.97
    assert 0.80 < normal.holds_whole < 0.88
    slow = spreads.simulated(spreads.spiked, 32, campaigns=4000)
    assert slow.holds_trimmed < 0.8
