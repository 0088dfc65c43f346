# SPDX-License-Identifier: Apache-2.0
"""Simulated campaigns with a planted truth: what Tare promises of its numbers holds, and what it refuses does not.

``python -m bench.statistics`` prints the full tables; docs/statistics.md keeps them.
"""

import math
from functools import lru_cache

import numpy as np
import pytest
from bench.simulation import intervals
from bench.simulation.papers import best_of_five, plain_t, ratio, trimmed
from bench.simulation.scenarios import (
    PLANTED,
    RUN,
    SCENARIOS,
    Arms,
    Floats,
    Scenario,
    booted,
    clean,
    drifting,
    loaded,
    noisy,
    unequal,
)
from bench.simulation.signed_ranks import signed_rank
from bench.simulation.stopping import stopped

from tare.records import Design
from tare.statistics.blocks import quantile
from tare.statistics.multiplicity import ERROR, benjamini_hochberg, holds, holm

CAMPAIGNS = 10_000
"""Three standard errors of a coverage near 95 % are 0.65 points."""
SEQUENCES = 3000
"""Campaigns that may stop early, for which the ends of intervals must be found; a standard error is 0.4 points."""
DESIGN = Design(looks=intervals.LOOKS, margin=0.01)
FRESH = ("S1", "S2", "S3", "S4", "S5", "S7", "S8")
"""Those in which every block has a start of its own, as Tare's have."""
NULL = {
    "quiet": clean(0.01, planted=0.0),
    "S1": clean(planted=0.0),
    "S2": noisy(RUN, 0.0, 0.05, 0.05),
    "S2, quiet": noisy(0.01, 0.0, 0.05, 0.05),
    "S4": drifting(planted=0.0),
    "S5": booted(planted=0.0),
    "S7": loaded(planted=0.0),
    "S8": unequal(planted=0.0),
}
"""No overhead at all."""


def above(probability: float, count: int = CAMPAIGNS) -> float:
    """The most that chance alone makes of it: three standard errors."""
    return probability + 3 * math.sqrt(probability * (1 - probability) / count)


def share(flags: intervals.Bools) -> float:
    return float(np.mean(flags))


def drawn(scenario: Scenario, blocks: int, campaigns: int = CAMPAIGNS) -> Arms:
    return scenario(np.random.default_rng(blocks), campaigns, blocks)


@lru_cache
def truth(name: str) -> float:
    """What is planted, but in S3, where spikes in unequal shares of the arms are a part of the overhead."""
    return intervals.centre(SCENARIOS[name], 30) if name == "S3" else PLANTED


@pytest.mark.parametrize("n", [10, 30])
@pytest.mark.parametrize("name", FRESH)
def test_the_default_interval_covers_in_93_5_to_96_5_of_100_campaigns(name: str, n: int) -> None:
    covered = share(intervals.contains(drawn(SCENARIOS[name], n), truth(name)))
    assert 0.935 <= covered <= 0.965


def test_spikes_in_all_arms_do_not_move_the_typical_overhead() -> None:
    assert intervals.centre(SCENARIOS["S2"], 30) == pytest.approx(PLANTED, abs=0.0005)


def test_signed_ranks_against_the_mean_of_both_natives_miss_too_often_where_a_load_delays_runs() -> None:
    arms = drawn(SCENARIOS["S7"], 30, 4000)
    assert share(intervals.covers(signed_rank(arms.log_ratios), PLANTED)) < 0.92
    assert share(intervals.contains(arms, PLANTED)) >= 0.935


def test_one_start_for_five_blocks_makes_an_interval_of_ten_too_narrow_also_when_it_is_widened() -> None:
    assert share(intervals.contains(drawn(SCENARIOS["S6"], 10), PLANTED)) < 0.80


def test_of_thirty_blocks_with_one_start_for_five_widening_gives_back_nearly_all_of_the_coverage() -> None:
    arms = drawn(SCENARIOS["S6"], 30)
    unwidened = np.abs(intervals.statistic(arms, PLANTED)) <= quantile(ERROR)
    assert share(unwidened) < 0.70
    assert 0.92 <= share(intervals.contains(arms, PLANTED)) <= 0.95


def test_native_first_and_the_environment_after_it_misses_under_drift_where_random_order_does_not() -> None:
    assert share(intervals.contains(drawn(drifting(interleaved=False), 30), PLANTED)) < 0.60
    assert share(intervals.contains(drawn(drifting(), 30), PLANTED)) > 0.935


@pytest.mark.parametrize("name", FRESH)
def test_where_a_campaign_stops_its_interval_covers_in_94_of_100(name: str) -> None:
    assert share(stopped(drawn(SCENARIOS[name], 32, SEQUENCES), DESIGN).contains(truth(name))) >= 0.94


@pytest.mark.parametrize("planted", [0.0, 0.01, 0.05, 0.2])
def test_quiet_campaigns_stop_early_and_cover_all_the_same(planted: float) -> None:
    seen = stopped(drawn(clean(0.01, math.log1p(planted)), 32, SEQUENCES), DESIGN)
    assert float(np.mean(seen.blocks)) < 28
    assert share(seen.contains(math.log1p(planted))) >= 0.94


@pytest.mark.parametrize("name", NULL)
def test_looking_several_times_finds_a_false_difference_at_any_look_in_at_most_one_of_twenty(
    name: str,
) -> None:
    assert share(intervals.ever_differs(drawn(NULL[name], 32))) <= above(0.05)


@pytest.mark.parametrize("name", NULL)
def test_where_a_campaign_stops_it_finds_a_false_difference_in_at_most_one_of_twenty(name: str) -> None:
    arms = drawn(NULL[name], 32, SEQUENCES)
    assert share(~stopped(arms, DESIGN).contains(0.0)) <= 0.05


def test_stopping_at_the_first_interval_without_0_would_find_one_in_more_than_one_of_ten() -> None:
    arms = drawn(NULL["S1"], 32, 2000)
    looks = [~intervals.contains(arms.leading(n), 0.0) for n in range(10, 33)]
    assert share(np.asarray(np.any(looks, axis=0))) > 0.10


@pytest.mark.parametrize("looks", [(10,), (30,), intervals.LOOKS])
@pytest.mark.parametrize("side", [-1, 1])
def test_an_overhead_at_the_margin_is_called_within_in_at_most_one_of_forty(
    looks: tuple[int, ...], side: int
) -> None:
    arms = drawn(clean(0.003, math.log1p(side * 0.01)), looks[-1], 2 * CAMPAIGNS)
    assert 0.01 < share(intervals.ever_equivalent(arms, 0.01, looks)) <= above(0.025, 2 * CAMPAIGNS)


@pytest.mark.parametrize("name", ["S2", "S7", "S8"])
def test_whatever_the_noise_an_overhead_at_the_margin_is_called_within_in_at_most_one_of_forty(
    name: str,
) -> None:
    """At a margin so wide that it can be shown; the arms are moved to lie at it."""
    arms = drawn(SCENARIOS[name], 30)
    moved = Arms(arms.first, arms.second, arms.environment - PLANTED + math.log1p(0.2))
    assert share(intervals.equivalent(moved, 0.2)) <= above(0.025)


def family(seed: int, planted: Floats, campaigns: int = 4000, blocks: int = 15) -> Arms:
    """Claims that share native's two runs: each campaign's one after the other."""
    generator = np.random.default_rng(seed)
    shape = (campaigns, len(planted), blocks)
    natives = generator.normal(0.0, RUN, (2, campaigns, 1, blocks))
    here = planted[:, None] + generator.normal(0.0, RUN, shape)
    first, second = (np.broadcast_to(native, shape).reshape(-1, blocks) for native in natives)
    return Arms(first, second, here.reshape(-1, blocks))


def p_values(seed: int, planted: Floats, campaigns: int = 4000) -> Floats:
    return intervals.difference_p(family(seed, planted, campaigns)).reshape(campaigns, len(planted))


def test_of_five_environments_without_overhead_holm_claims_any_in_at_most_one_campaign_of_twenty() -> None:
    p = p_values(5, np.zeros(5))
    assert share(np.any(p <= ERROR, axis=1)) > 0.10
    assert share(np.any(holm(p) <= ERROR, axis=1)) <= above(0.05, 4000)


def test_holm_errs_as_rarely_when_some_of_the_environments_are_slower() -> None:
    planted = np.array([0.0, 0.0, 0.0, 0.05, 0.10])
    adjusted = holm(p_values(6, planted))
    assert share(np.any(adjusted[:, planted == 0] <= ERROR, axis=1)) <= above(0.05, 4000)
    assert share(adjusted[:, planted == 0.10] <= ERROR) > 0.95


def test_simultaneous_intervals_of_a_family_all_cover_in_94_of_100_campaigns() -> None:
    planted = np.log1p(np.array([0.0, 0.01, 0.02, 0.05, 0.10]))
    covered = intervals.contains(family(7, planted), np.tile(planted, 4000), ERROR / 5).reshape(4000, 5)
    assert share(np.all(covered, axis=1)) >= 0.94


def test_of_the_claims_of_benjamini_and_hochberg_at_most_one_of_twenty_is_false() -> None:
    planted = np.where(np.arange(40) < 8, 0.04, 0.0)
    adjusted = benjamini_hochberg(p_values(8, planted, 1000))
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
    values = here / native - 1
    assert float(np.mean(values)) < 0.0
    assert float(np.mean(np.abs(values - 0.05) > 0.02)) > 0.80
