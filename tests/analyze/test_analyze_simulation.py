# SPDX-License-Identifier: Apache-2.0
"""Simulated campaigns with a planted truth: what Tare promises of its numbers holds, and what it refuses does not.

``python -m bench.statistics`` prints the full tables; docs/statistics.md keeps them.
"""

import math

import numpy as np
import pytest
from bench.simulation import intervals
from bench.simulation.papers import best_of_five, plain_t, ratio, trimmed
from bench.simulation.scenarios import (
    PLANTED,
    RUN,
    SCENARIOS,
    Floats,
    Scenario,
    booted,
    clean,
    drifting,
    noisy,
)

from tare.analyze.multiplicity import ERROR, benjamini_hochberg, holds, holm
from tare.records import Design

CAMPAIGNS = 10_000
"""Three standard errors of a coverage near 95 % are 0.65 points."""
DESIGN = Design(looks=intervals.LOOKS, margin=0.01)
FRESH = ("S1", "S2", "S3", "S4", "S5")
"""Those in which every block has a start of its own, as Tare's have."""
NULL = {
    "quiet": clean(0.01, planted=0.0),
    "S1": clean(planted=0.0),
    "rare spikes": noisy(RUN, 0.0, 0.01, 0.01),
    "S4": drifting(planted=0.0),
    "S5": booted(planted=0.0),
}
"""No overhead at all."""


def above(probability: float, count: int = CAMPAIGNS) -> float:
    """The most that chance alone makes of it: three standard errors."""
    return probability + 3 * math.sqrt(probability * (1 - probability) / count)


def drawn(scenario: Scenario, blocks: int, campaigns: int = CAMPAIGNS) -> Floats:
    return scenario(np.random.default_rng(blocks), campaigns, blocks).log_ratios


def truth(scenario: Scenario, blocks: int) -> float:
    """What the signed ranks estimate there: the planted overhead, moved a little by spikes that are not symmetric."""
    generator = np.random.default_rng(99)
    return intervals.pseudo_median(scenario(generator, 600_000 // blocks, blocks).log_ratios, generator)


@pytest.mark.parametrize("n", [10, 30])
@pytest.mark.parametrize("name", FRESH)
def test_the_default_interval_covers_in_93_5_to_96_5_of_100_campaigns(name: str, n: int) -> None:
    scenario = SCENARIOS[name]
    covered = intervals.covers(intervals.signed_rank(drawn(scenario, n)), truth(scenario, n))
    assert 0.935 <= float(np.mean(covered)) <= 0.965


@pytest.mark.parametrize("n", [10, 30])
def test_one_start_for_five_blocks_makes_every_interval_too_narrow(n: int) -> None:
    covered = intervals.covers(intervals.signed_rank(drawn(SCENARIOS["S6"], n)), PLANTED)
    assert float(np.mean(covered)) < 0.80


def test_native_first_and_the_environment_after_it_misses_under_drift_where_random_order_does_not() -> None:
    apart = intervals.covers(intervals.signed_rank(drawn(drifting(interleaved=False), 30)), PLANTED)
    mixed = intervals.covers(intervals.signed_rank(drawn(drifting(), 30)), truth(drifting(), 30))
    assert float(np.mean(apart)) < 0.60
    assert float(np.mean(mixed)) > 0.935


@pytest.mark.parametrize("name", FRESH)
def test_where_a_campaign_stops_its_interval_covers_in_94_of_100(name: str) -> None:
    seen = intervals.stopped(drawn(SCENARIOS[name], 32), DESIGN)
    covered = intervals.covers((seen.low, seen.high), truth(SCENARIOS[name], 32))
    assert float(np.mean(covered)) >= 0.94


@pytest.mark.parametrize("planted", [0.0, 0.01, 0.05, 0.2])
def test_quiet_campaigns_stop_early_and_cover_all_the_same(planted: float) -> None:
    seen = intervals.stopped(drawn(clean(0.01, math.log1p(planted)), 32), DESIGN)
    assert float(np.mean(seen.blocks)) < 28
    assert float(np.mean(intervals.covers((seen.low, seen.high), math.log1p(planted)))) >= 0.94


@pytest.mark.parametrize("name", NULL)
def test_stopping_for_whatever_reason_finds_a_false_difference_in_at_most_one_of_twenty(name: str) -> None:
    looks = intervals.repeated(drawn(NULL[name], 32))
    any_look = np.any([intervals.excludes_0(bounds) for bounds in looks], axis=0)
    seen = intervals.stopped(drawn(NULL[name], 32), DESIGN)
    assert float(np.mean(any_look)) <= above(0.05)
    assert float(np.mean(intervals.excludes_0((seen.low, seen.high)))) <= 0.05


@pytest.mark.parametrize("deviation", [0.01, RUN])
def test_spikes_in_one_of_twenty_runs_of_every_arm_move_the_typical_overhead_by_a_quarter_point_at_most(
    deviation: float,
) -> None:
    """The mean of two native runs dilutes a spike, so log-ratios lean to one side: docs/statistics.md."""
    spiking = noisy(deviation, 0.0, 0.05, 0.05)
    rows = drawn(spiking, 32)
    seen = intervals.stopped(rows, DESIGN)
    any_look = np.any([intervals.excludes_0(bounds) for bounds in intervals.repeated(rows)], axis=0)
    assert -0.0025 < truth(spiking, 32) < 0
    assert float(np.mean(intervals.excludes_0((seen.low, seen.high)))) <= 0.05
    assert float(np.mean(any_look)) <= 0.07


def test_stopping_at_the_first_interval_without_0_would_find_one_in_more_than_one_of_ten() -> None:
    rows = drawn(NULL["S1"], 32, 2000)
    looks = [intervals.excludes_0(intervals.signed_rank(rows[:, :n])) for n in range(10, 33)]
    assert float(np.mean(np.any(looks, axis=0))) > 0.10


@pytest.mark.parametrize("looks", [(10,), (30,), intervals.LOOKS])
@pytest.mark.parametrize("side", [-1, 1])
def test_an_overhead_at_the_margin_is_called_within_in_at_most_one_of_twenty(
    looks: tuple[int, ...], side: int
) -> None:
    rows = drawn(clean(0.003, math.log1p(side * 0.01)), looks[-1], 4 * CAMPAIGNS)
    passed = [intervals.inside(bounds, 0.01) for bounds in intervals.repeated(rows, looks, 0.10)]
    within = float(np.mean(np.any(passed, axis=0)))
    assert 0.02 < within <= above(0.05, 4 * CAMPAIGNS)


def family(generator: np.random.Generator, campaigns: int, blocks: int, planted: Floats) -> Floats:
    """Log-ratios of shape (campaigns, claims, blocks); the claims share native's two runs."""
    native = generator.normal(0.0, RUN, (campaigns, 2, blocks)).mean(axis=1)
    here = generator.normal(0.0, RUN, (campaigns, len(planted), blocks))
    return np.asarray(planted[:, None] + here - native[:, None, :])


def p_values(rows: Floats) -> Floats:
    return intervals.difference_p(rows.reshape(-1, rows.shape[-1])).reshape(rows.shape[:2])


def test_of_five_environments_without_overhead_holm_claims_any_in_at_most_one_campaign_of_twenty() -> None:
    p = p_values(family(np.random.default_rng(5), 4000, 15, np.zeros(5)))
    assert float(np.mean(np.any(p <= ERROR, axis=1))) > 0.10
    assert float(np.mean(np.any(holm(p) <= ERROR, axis=1))) <= above(0.05, 4000)


def test_holm_errs_as_rarely_when_some_of_the_environments_are_slower() -> None:
    planted = np.array([0.0, 0.0, 0.0, 0.05, 0.10])
    adjusted = holm(p_values(family(np.random.default_rng(6), 4000, 15, planted)))
    assert float(np.mean(np.any(adjusted[:, planted == 0] <= ERROR, axis=1))) <= above(0.05, 4000)
    assert float(np.mean(adjusted[:, planted == 0.10] <= ERROR)) > 0.95


def test_simultaneous_intervals_of_a_family_all_cover_in_94_of_100_campaigns() -> None:
    planted = np.log1p(np.array([0.0, 0.01, 0.02, 0.05, 0.10]))
    rows = family(np.random.default_rng(7), 4000, 15, planted)
    low, high = intervals.signed_rank(rows.reshape(-1, 15), 1 - ERROR / 5)
    truths = np.tile(planted, 4000)
    covered = intervals.covers((low, high), truths).reshape(4000, 5)
    assert float(np.mean(np.all(covered, axis=1))) >= 0.94


def test_of_the_claims_of_benjamini_and_hochberg_at_most_one_of_twenty_is_false() -> None:
    planted = np.where(np.arange(40) < 8, 0.04, 0.0)
    adjusted = benjamini_hochberg(p_values(family(np.random.default_rng(8), 1000, 15, planted)))
    claimed = np.vectorize(holds)(adjusted)
    false = np.sum(claimed[:, 8:], axis=1) / np.maximum(1, np.sum(claimed, axis=1))
    assert float(np.mean(false)) <= 0.05
    assert float(np.mean(claimed[:, :8])) > 0.5


@pytest.mark.parametrize(("name", "runs", "most"), [("S1", 32, 0.94), ("S1", 10, 0.92), ("S3", 32, 0.80)])
def test_the_papers_treatment_covers_less_than_it_promises(name: str, runs: int, most: float) -> None:
    arms = SCENARIOS[name](np.random.default_rng(9), CAMPAIGNS, runs)
    large = SCENARIOS[name](np.random.default_rng(10), 1, 1_000_000)
    of_means = float(np.log(np.mean(np.exp(large.environment)) / np.mean(np.exp(large.first))))
    bounds = ratio(trimmed(np.exp(arms.environment)), trimmed(np.exp(arms.first)))
    assert float(np.mean(intervals.covers(bounds, of_means))) < most


def test_all_runs_with_their_mean_cover_where_noise_is_clean_so_the_papers_miss_by_what_they_leave_out() -> (
    None
):
    arms = SCENARIOS["S1"](np.random.default_rng(9), CAMPAIGNS, 32)
    bounds = ratio(plain_t(np.exp(arms.environment)), plain_t(np.exp(arms.first)))
    assert float(np.mean(intervals.covers(bounds, PLANTED))) > 0.94


def test_best_of_five_calls_a_noisier_environment_faster_although_it_is_slower() -> None:
    generator = np.random.default_rng(11)
    native = best_of_five(np.exp(generator.normal(0.0, 0.01, (CAMPAIGNS, 5))))
    here = best_of_five(np.exp(PLANTED + generator.normal(0.0, 0.06, (CAMPAIGNS, 5))))
    told = here / native - 1
    assert float(np.mean(told)) < 0.0
    assert float(np.mean(np.abs(told - 0.05) > 0.02)) > 0.80
