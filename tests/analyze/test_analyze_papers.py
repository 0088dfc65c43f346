# SPDX-License-Identifier: Apache-2.0
import math
import statistics

import numpy as np
import pytest
from tests.analyze.verdict_example import around, summary_of

from tare.analyze import overhead, replications
from tare.records import Direction, Replication, Treatment

TIMES = [1.0, 5.0, 2.0, 3.0, 4.0, 9.0]


def treated(treatment: Treatment, direction: Direction = Direction.LESS) -> Replication:
    sign = 1 if direction is Direction.LESS else -1
    logs = [sign * math.log(time) for time in TIMES]
    (replication,) = replications([overhead(summary_of(logs, native=1.0, direction=direction))], treatment)
    return replication


def test_b16_leaves_out_the_highest_and_the_lowest() -> None:
    here = treated(Treatment.B16).here
    assert here.value == pytest.approx(3.5)
    assert (here.used, here.runs) == (4, 6)
    assert here.deviation == pytest.approx(statistics.stdev([2, 3, 4, 5]))
    assert (here.low, here.variation) == (None, None)


def test_b17_adds_the_coefficient_of_variation() -> None:
    here = treated(Treatment.B17).here
    assert here.variation == pytest.approx(statistics.stdev([2, 3, 4, 5]) / 3.5)


def test_r15_gives_the_mean_with_students_interval() -> None:
    here = treated(Treatment.R15).here
    half_width = 2.5706 * statistics.stdev(TIMES) / math.sqrt(6)
    assert here.value == pytest.approx(4.0)
    assert here.low == pytest.approx(4 - half_width, abs=1e-3)
    assert here.high == pytest.approx(4 + half_width, abs=1e-3)


def test_l12_takes_the_shortest_time_and_the_highest_rate_of_the_first_five() -> None:
    assert treated(Treatment.L12).here.value == pytest.approx(1.0)
    rate = treated(Treatment.L12, Direction.MORE).here
    assert rate.value == pytest.approx(5.0)
    assert (rate.used, rate.runs) == (5, 6)


def test_more_time_and_a_lower_rate_are_both_an_overhead() -> None:
    assert treated(Treatment.R15).overhead == pytest.approx(3.0)
    assert treated(Treatment.R15).percent_of_native == pytest.approx(400)
    rate = treated(Treatment.R15, Direction.MORE)
    assert rate.overhead == pytest.approx(1 / 4 - 1)
    assert rate.percent_of_native == pytest.approx(400)


def test_native_has_as_many_runs_as_the_environment() -> None:
    replication = treated(Treatment.R15)
    assert replication.native.runs == replication.here.runs == 6


def test_too_few_runs_to_leave_any_out_are_left_alone() -> None:
    assert replications([overhead(summary_of([0.1, 0.2]))], Treatment.B16) == ()


def test_our_own_estimate_stands_beside() -> None:
    given = overhead(summary_of(around(0.05, 0.01)))
    (replication,) = replications([given], Treatment.B16)
    assert replication.ours == given.typical


def test_an_interval_from_runs_less_the_extremes_promises_too_much() -> None:
    """As the papers did (docs/method.md): a plain t interval on what is left."""
    generator = np.random.default_rng(12)
    arms = np.sort(generator.normal(0, 0.03, (2, 8000, 10)), axis=-1)[..., 1:-1]
    means, variances = arms.mean(axis=-1), arms.var(axis=-1, ddof=1) / 8
    difference, error = means[1] - means[0], np.sqrt(variances.sum(axis=0))
    covered = float(np.mean(np.abs(difference) <= 2.145 * error))
    assert covered == pytest.approx(0.895, abs=0.012)
