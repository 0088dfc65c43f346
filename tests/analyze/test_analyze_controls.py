# SPDX-License-Identifier: Apache-2.0
"""When native differs from itself, among all rows that ask."""

import numpy as np
import pytest
from tests.analyze.looks_example import summary_of

from tare.analyze import controls
from tare.analyze.controls import differs_from_itself
from tare.records import Summary
from tare.statistics.estimate import leaves_out_0
from tare.statistics.multiplicity import ERROR

BLOCKS = 16
METRICS = 28
CAMPAIGNS = 60
_IN_ORDER = (7, 12, 1, 16, 4, 9, 14, 2, 11, 5, 13, 8, 3, 10, 15, 6)
SUSPICIOUS = tuple(0.001 * (-each if each in (5, 10, 11) else each) for each in _IN_ORDER)
"""By itself native differs from itself here (p = 0.03); among 28 metrics chance makes such a row in most campaigns."""


def natives(control_log_ratios: tuple[float, ...], metric: str = "wall_s") -> Summary:
    return summary_of([0.03] * len(control_log_ratios), metric=metric, controls=control_log_ratios)


def alike(seed: int) -> list[Summary]:
    """Metrics of a good machine, each with noise of its own."""
    noise = np.random.default_rng(seed).normal(0.0, 0.01, (METRICS, BLOCKS)).tolist()
    return [natives(tuple(values), f"metric {number}") for number, values in enumerate(noise)]


@pytest.mark.slow
def test_among_28_metrics_native_differs_from_itself_in_at_most_one_good_campaign_of_twenty() -> None:
    campaigns = [controls(alike(seed)) for seed in range(CAMPAIGNS)]
    alone = np.mean([any(leaves_out_0(row.typical) for row in rows) for rows in campaigns])
    together = np.mean([any(map(differs_from_itself, rows)) for rows in campaigns])
    assert alone > 0.5
    assert together <= ERROR + 3 * (ERROR * (1 - ERROR) / CAMPAIGNS) ** 0.5


def test_a_row_that_differs_by_itself_is_no_difference_among_many_and_a_clear_one_is() -> None:
    (alone,) = controls([natives(SUSPICIOUS)])
    assert differs_from_itself(alone)
    among = controls([natives(SUSPICIOUS), *alike(1)])
    assert not differs_from_itself(among[0])
    (clear, *_) = controls([natives(tuple(0.05 + value for value in SUSPICIOUS)), *alike(1)])
    assert differs_from_itself(clear)


def test_with_too_few_blocks_for_an_interval_native_never_differs_from_itself() -> None:
    (row,) = controls([natives((0.05,) * 5)])
    assert row.native_p == 1.0
    assert not differs_from_itself(row)


def test_the_noise_that_withholds_claims_is_that_of_the_row_by_itself_however_many_there_are() -> None:
    (alone,), (among, *_) = controls([natives(SUSPICIOUS)]), controls([natives(SUSPICIOUS), *alike(1)])
    assert among.noise_floor == among.typical == alone.typical
