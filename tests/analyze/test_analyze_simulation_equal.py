# SPDX-License-Identifier: Apache-2.0
"""What simulations compute for many campaigns at once is what Tare computes for each."""

import math

import numpy as np
import pytest
from bench.simulation import intervals
from bench.simulation.papers import plain_t, trimmed
from bench.simulation.scenarios import SCENARIOS, Floats

from tare.analyze.boundary import ERROR
from tare.analyze.estimation import overhead
from tare.analyze.evidence import Reach, difference_p, equivalence_p
from tare.analyze.looks import courses, looks_at
from tare.analyze.papers import replications
from tare.analyze.signed_rank import hodges_lehmann
from tare.records import BlockValue, Cell, Design, Direction, Stop, Summary, Treatment

CELL = Cell(workload="work", layout="1c1p1i")
DESIGN = Design(looks=intervals.LOOKS, margin=0.01)


def summary(natives: Floats, others: Floats, log_ratios: Floats) -> Summary:
    """One campaign as treat would hand it on."""
    times = zip(np.exp(natives).tolist(), np.exp(others).tolist(), strict=True)
    return Summary(
        cell=CELL,
        environment="other",
        metric="wall_s",
        unit="s",
        direction=Direction.LESS,
        primary=True,
        blocks=tuple(
            BlockValue(block=number, native=(native, native), environment=other)
            for number, (native, other) in enumerate(times)
        ),
        log_ratios=tuple(log_ratios.tolist()),
        control_log_ratios=(0.0,) * len(log_ratios),
        dropped_blocks=0,
    )


def campaigns(seed: int, count: int, blocks: int) -> Floats:
    """Log-ratios of every size of noise and overhead, so that all kinds of ends occur."""
    generator = np.random.default_rng(seed)
    size = np.exp(generator.uniform(math.log(0.002), math.log(0.1), (count, 1)))
    planted = generator.choice([0.0, 0.01, 0.05, 0.2], (count, 1))
    return planted + size * generator.normal(size=(count, blocks))


@pytest.mark.parametrize("n", [6, 10, 30])
@pytest.mark.parametrize("level", [0.90, 0.95])
def test_intervals_and_points_are_those_of_one_campaign(n: int, level: float) -> None:
    rows = campaigns(n, 40, n)
    low, high = intervals.signed_rank(rows, level)
    for place, row in enumerate(rows.tolist()):
        estimate = hodges_lehmann(row, level)
        assert (estimate.low, estimate.high) == (low[place], high[place])
        assert estimate.point == intervals.points(rows[place : place + 1])[0]


@pytest.mark.parametrize("n", [6, 15])
def test_p_values_are_those_of_one_campaign(n: int) -> None:
    rows = campaigns(n, 60, n)
    found = intervals.difference_p(rows)
    for place, row in enumerate(rows.tolist()):
        assert found[place] == difference_p(row, Reach.at_once(n))


@pytest.mark.parametrize("n", [10, 30])
def test_equivalence_is_what_the_p_value_says(n: int) -> None:
    rows = campaigns(n, 200, n)
    found = intervals.inside(intervals.signed_rank(rows, 0.90), 0.01)
    assert 5 < np.sum(found) < 195
    for place, row in enumerate(rows.tolist()):
        assert bool(found[place]) == (equivalence_p(row, 0.01, Reach.at_once(n)) <= ERROR)


def test_campaigns_stop_where_and_with_what_tare_stops_them() -> None:
    rows = campaigns(1, 150, 32)
    found = intervals.stopped(rows, DESIGN)
    reasons = set()
    for place, row in enumerate(rows):
        one = summary(np.zeros(32), row, row)
        course = courses([one], {(CELL, "other"): 32}, DESIGN, ended=False)[CELL, "other"]
        estimate = looks_at(one, course)[-1].estimate
        assert course.looks[-1] == found.blocks[place]
        assert estimate.low == pytest.approx(math.expm1(found.low[place]))
        assert estimate.high == pytest.approx(math.expm1(found.high[place]))
        reasons.add(course.stop)
    assert reasons == {Stop.PRECISE, Stop.EQUIVALENT, Stop.OUT_OF_BLOCKS}


def test_the_papers_figures_are_those_that_tare_shows_for_replication() -> None:
    arms = SCENARIOS["S3"](np.random.default_rng(5), 20, 32)
    figures = trimmed(np.exp(arms.environment))
    means = plain_t(np.exp(arms.environment))
    for place, row in enumerate(arms.environment):
        one = overhead(summary(arms.first[place], row, row - arms.first[place]))
        (b16,), (r15,) = (replications([one], way) for way in (Treatment.B16, Treatment.R15))
        assert b16.here.value == pytest.approx(figures.mean[place])
        assert b16.here.deviation == pytest.approx(figures.deviation[place])
        assert b16.here.used == figures.used == 30
        assert r15.here.low == pytest.approx(means.low[place])
        assert r15.here.high == pytest.approx(means.high[place])
