# SPDX-License-Identifier: Apache-2.0
"""What simulations compute for many campaigns at once is what Tare computes for each."""

import math

import numpy as np
import pytest
from bench.simulation import intervals
from bench.simulation.papers import plain_t, trimmed
from bench.simulation.scenarios import SCENARIOS, Arms
from bench.simulation.signed_ranks import signed_rank
from bench.simulation.stopping import stopped

from tare.analyze import busy
from tare.analyze.contrasts import contrast_of
from tare.analyze.decisions import rulings
from tare.analyze.estimation import overhead
from tare.analyze.looks import courses, looks_at
from tare.analyze.papers import replications
from tare.records import BlockValue, Cell, Course, Design, Direction, FailIf, Ruling, Stop, Summary, Treatment
from tare.statistics.boundary import ERROR
from tare.statistics.contrasts import Blocks, Differences, estimate
from tare.statistics.evidence import Reach, difference_p, equivalence_p

CELL = Cell(workload="work", layout="1c1p1i")
DESIGN = Design(looks=intervals.LOOKS, margin=0.01)
SAME = 2e-4
"""The coarse search for an interval's ends, as a share of their distance."""


def summary(arms: Arms, place: int) -> Summary:
    """One campaign as treat would hand it on."""
    times = (np.exp(arm[place]).tolist() for arm in (arms.first, arms.second, arms.environment))
    rows = list(zip(*times, strict=True))
    return Summary(
        cell=CELL,
        environment="other",
        metric="wall_s",
        unit="s",
        direction=Direction.LESS,
        primary=True,
        blocks=tuple(
            BlockValue(block=number, native=(first, second), environment=other)
            for number, (first, second, other) in enumerate(rows)
        ),
        log_ratios=tuple(arms.log_ratios[place].tolist()),
        control_log_ratios=tuple(arms.control_log_ratios[place].tolist()),
        dropped_blocks=0,
    )


def campaigns(seed: int, count: int, blocks: int) -> Arms:
    """Every size of noise and overhead, so that all kinds of ends occur."""
    generator = np.random.default_rng(seed)
    size = np.exp(generator.uniform(math.log(0.002), math.log(0.1), (count, 1)))
    planted = generator.choice([0.0, 0.01, 0.05, 0.2], (count, 1))
    first, second, here = size * generator.normal(size=(3, count, blocks))
    return Arms(first, second, planted + here)


def contrast(arms: Arms, place: int) -> Blocks:
    """As Tare judges it: widened where its blocks depend on each other."""
    result = contrast_of(summary(arms, place))
    assert isinstance(result, Blocks)
    return result


def course(done: int) -> Course:
    """It has passed all looks up to this one, and not stopped before."""
    looks = tuple(n for n in intervals.LOOKS if n <= done)
    over = done == intervals.LOOKS[-1]
    return Course(looks=looks, total=intervals.LOOKS[-1], stop=Stop.OUT_OF_BLOCKS if over else None)


@pytest.fixture
def without_noise_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulations of many campaigns leave out what the noise floor withholds: it only makes some of them go on."""
    monkeypatch.setattr(busy, "drowns", lambda *_: False)


@pytest.mark.parametrize("n", [6, 10, 30])
@pytest.mark.parametrize("error", [0.10, 0.05, 0.005])
def test_intervals_and_points_are_those_of_one_campaign(n: int, error: float) -> None:
    arms = campaigns(n, 25, n)
    low, high = intervals.bounds(arms, error)
    points = intervals.points(arms)
    for place in range(arms.campaigns):
        result = estimate(contrast(arms, place), error)
        assert result.low is not None
        assert result.high is not None
        same = SAME * (result.high - result.low)
        assert low[place] == pytest.approx(result.low, abs=same)
        assert high[place] == pytest.approx(result.high, abs=same)
        assert points[place] == pytest.approx(result.point, abs=same)


@pytest.mark.parametrize("name", ["S1", "S2", "S5", "S7", "S8"])
def test_an_interval_contains_what_lies_between_its_ends(name: str) -> None:
    arms = SCENARIOS[name](np.random.default_rng(3), 200, 10)
    low, high = intervals.bounds(arms)
    width = high - low
    for value in (low + 0.001 * width, (low + high) / 2, high - 0.001 * width):
        assert intervals.contains(arms, value).all()
    for value in (low - 0.001 * width, high + 0.001 * width, low - width):
        assert not intervals.contains(arms, value).any()


@pytest.mark.parametrize("n", [7, 10, 20])
@pytest.mark.parametrize("error", [0.05, 0.004, 0.002])
def test_what_an_interval_leaves_out_is_what_one_campaigns_interval_leaves_out(n: int, error: float) -> None:
    arms = campaigns(100 * n, 60, n)
    values = arms.log_ratios.mean(axis=-1) - np.linspace(0, 3, 60) * arms.log_ratios.std(axis=-1)
    above, below = intervals.beyond(arms, values, error)
    assert 5 < np.sum(above) < 60
    for place in range(arms.campaigns):
        result = estimate(contrast(arms, place), error)
        assert result.low is not None
        assert result.high is not None
        assert bool(above[place]) == (result.low > values[place])
        assert bool(below[place]) == (result.high < values[place])


def test_no_interval_of_five_blocks_leaves_out_anything() -> None:
    arms = campaigns(1, 10, 5)
    assert intervals.contains(arms, 100.0).all()
    assert not intervals.equivalent(arms, 0.99).any()


@pytest.mark.parametrize("n", [6, 15])
def test_signed_ranks_are_those_of_one_campaign(n: int) -> None:
    rows = campaigns(n, 20, n).control_log_ratios
    low, high = signed_rank(rows)
    for place, row in enumerate(rows.tolist()):
        result = estimate(Differences(tuple(row)))
        assert (result.low, result.high) == (low[place], high[place])


@pytest.mark.parametrize("n", [6, 15])
def test_p_values_are_those_of_one_campaign(n: int) -> None:
    arms = campaigns(n, 60, n)
    values = intervals.difference_p(arms)
    assert np.any(values < 0.01)
    assert np.any(values > 0.01)
    for place in range(arms.campaigns):
        assert values[place] == pytest.approx(difference_p(contrast(arms, place), Reach.at_once(n)), rel=1e-9)


@pytest.mark.parametrize("n", [10, 30])
def test_equivalence_is_what_the_p_value_says(n: int) -> None:
    arms = campaigns(n, 200, n)
    values = intervals.equivalent(arms, 0.01)
    assert 5 < np.sum(values) < 195
    for place in range(arms.campaigns):
        p = equivalence_p(contrast(arms, place), 0.01, Reach.at_once(n))
        assert bool(values[place]) == (2 * p <= ERROR)


@pytest.mark.parametrize("name", ["S2", "S7"])
def test_repeated_intervals_are_those_of_every_look(name: str) -> None:
    arms = SCENARIOS[name](np.random.default_rng(4), 8, 32)
    for n, level in intervals.levels():
        low, high = intervals.bounds(arms.leading(n), level)
        for place in range(arms.campaigns):
            result = looks_at(summary(arms, place), course(n))[-1].estimate
            assert result.low == pytest.approx(math.expm1(low[place]), abs=1e-4)
            assert result.high == pytest.approx(math.expm1(high[place]), abs=1e-4)


@pytest.mark.usefixtures("without_noise_rule")
def test_campaigns_stop_where_and_with_what_tare_stops_them() -> None:
    arms = campaigns(1, 120, 32)
    result = stopped(arms, DESIGN)
    holding = {value: result.contains(math.log1p(value)) for value in (0.0, 0.01, 0.05, 0.2)}
    reasons = set()
    for place in range(arms.campaigns):
        left = summary(arms, place)
        passed = courses([left], {(CELL, "other"): 32}, DESIGN, ended=False)[CELL, "other"]
        interval = looks_at(left, passed)[-1].estimate
        assert passed.looks[-1] == result.blocks[place]
        assert interval.low is not None
        assert interval.high is not None
        for value, held in holding.items():
            assert bool(held[place]) == (interval.low <= value <= interval.high)
        reasons.add(passed.stop)
    assert reasons == {Stop.PRECISE, Stop.EQUIVALENT, Stop.OUT_OF_BLOCKS}


def test_what_the_noise_floor_withholds_lets_campaigns_go_on_and_never_stops_them_earlier() -> None:
    arms = campaigns(1, 120, 32)
    result = stopped(arms, DESIGN)
    later = 0
    for place in range(arms.campaigns):
        passed = courses([summary(arms, place)], {(CELL, "other"): 32}, DESIGN, ended=False)
        blocks = passed[CELL, "other"].looks[-1]
        assert blocks >= result.blocks[place]
        later += blocks > result.blocks[place]
    assert later <= 0.05 * arms.campaigns


@pytest.mark.usefixtures("without_noise_rule")
def test_campaigns_decide_what_and_when_tare_decides() -> None:
    arms = campaigns(2, 80, 32)
    decided = intervals.decided(arms, 0.01)
    design = Design(
        looks=intervals.LOOKS, margin=0.01, fail_if=(FailIf(text="overhead > 1%", threshold=0.01),)
    )
    answers = set()
    for place in range(arms.campaigns):
        (ruled,) = rulings([summary(arms, place)], course(32), design, (CELL, "other"))
        assert (ruled.ruling is Ruling.EXCEEDED) == bool(decided.exceeded[place])
        assert (ruled.ruling is Ruling.KEPT) == bool(decided.kept[place])
        assert ruled.n == decided.blocks[place]
        answers.add(ruled.ruling)
    assert answers == set(Ruling)


def test_the_papers_figures_are_those_that_tare_shows_for_replication() -> None:
    arms = SCENARIOS["S3"](np.random.default_rng(5), 20, 32)
    figures = trimmed(np.exp(arms.environment))
    means = plain_t(np.exp(arms.environment))
    for place in range(arms.campaigns):
        result = overhead(summary(arms, place))
        (b16,), (r15,) = (replications([result], way) for way in (Treatment.B16, Treatment.R15))
        assert b16.here.value == pytest.approx(figures.mean[place])
        assert b16.here.deviation == pytest.approx(figures.deviation[place])
        assert b16.here.used == figures.used == 30
        assert r15.here.low == pytest.approx(means.low[place])
        assert r15.here.high == pytest.approx(means.high[place])
