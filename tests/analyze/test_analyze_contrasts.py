# SPDX-License-Identifier: Apache-2.0
"""Another interval is one function and one line, and all that is said of an overhead follows it."""

from functools import partial

import pytest
from scipy.stats import ttest_1samp
from tests.analyze.verdict_example import MARGIN, around, summary_of

from tare.analyze import contrasts, overhead, rankings, verdict
from tare.records import Course, Estimate, Stop, Word
from tare.statistics.contrasts import ByInterval, Contrast
from tare.statistics.estimate import as_fraction
from tare.statistics.evidence import Reach, difference_p
from tare.statistics.student import mean_estimate

LOG_RATIOS = [*around(0.05, 0.02, 11), 0.15]


def students(contrast: Contrast, error: float) -> Estimate:
    return mean_estimate(contrast.log_ratios, 1 - error)


@pytest.fixture(autouse=True)
def another_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contrasts, "AGAINST_NATIVES", partial(ByInterval, students))


def test_the_typical_overhead_is_that_of_the_other_interval() -> None:
    assert overhead(summary_of(LOG_RATIOS)).typical == as_fraction(mean_estimate(LOG_RATIOS))


def test_words_and_p_values_follow_it() -> None:
    seen = contrasts.contrast_of(summary_of(LOG_RATIOS))
    assert difference_p(seen, Reach.at_once(12)) == pytest.approx(ttest_1samp(LOG_RATIOS, 0).pvalue, rel=1e-4)
    assert verdict(overhead(summary_of(LOG_RATIOS)), MARGIN).word is Word.SLOWER
    near = summary_of(around(0.0, 0.001))
    assert verdict(overhead(near), MARGIN).word is Word.WITHIN


def test_a_look_and_a_ranking_follow_it() -> None:
    course = Course(looks=(12,), total=12, stop=Stop.OUT_OF_BLOCKS)
    given = verdict(overhead(summary_of(LOG_RATIOS), course), MARGIN)
    assert given.overhead.typical == as_fraction(mean_estimate(LOG_RATIOS))
    (ranking,) = rankings([given])
    (pair,) = ranking.pairs
    assert pair.difference == as_fraction(mean_estimate(LOG_RATIOS))
    assert pair.distinguished


def test_blocks_that_depend_on_each_other_widen_it_too() -> None:
    walk = [0.30, 0.31, 0.33, 0.34, 0.36, 0.37, 0.38, 0.10, 0.11, 0.12, 0.14, 0.15, 0.16, 0.17]
    typical, independent = overhead(summary_of(walk)).typical, as_fraction(mean_estimate(walk))
    assert typical.low is not None
    assert independent.low is not None
    assert typical.low < independent.low
