# SPDX-License-Identifier: Apache-2.0
"""Profiles of single trials to shares block by block: whole, or not at all."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.activity_example import COMPUTING, TALKING, profile_samples, profiled, profiled_outcomes
from tests.sharing_example import ALONE

from tare.records import NATIVE, Activity, ActivitySummary, Outcome, Rule, Status
from tare.treat import activity_summaries

PLANTED = {"native": COMPUTING, "docker": TALKING}
SECONDS = st.floats(1e-9, 1e6)


def outcomes(settings: tuple[str, ...] = (ALONE,)) -> list[Outcome]:
    return profiled_outcomes(PLANTED, settings=settings, blocks=4)


def by_environment(outcomes: list[Outcome]) -> dict[str, ActivitySummary]:
    return {
        activity_summary.environment: activity_summary for activity_summary in activity_summaries(outcomes)
    }


def test_each_cell_has_its_environments_native_first_whatever_the_outcomes_order() -> None:
    summaries = activity_summaries(outcomes((ALONE, "1c2p2i"))[::-1])
    assert [
        (activity_summary.cell.layout, activity_summary.environment) for activity_summary in summaries
    ] == [(layout, name) for layout in ("1c1p1i", "1c2p2i") for name in ("native", "docker")]
    assert all(activity_summary.blocks == (0, 1, 2, 3) for activity_summary in summaries)


def test_an_activity_without_a_sample_took_no_time() -> None:
    docker = by_environment(outcomes())["docker"]
    assert docker.times_s[Activity.IO] == (0.0,) * 4
    assert docker.shares[Activity.COMMUNICATION][0] == pytest.approx(0.3)


@given(st.lists(st.tuples(*(SECONDS | st.just(0.0) for _ in Activity)).filter(any), min_size=1, max_size=6))
def test_the_shares_of_every_block_add_up_to_one_and_its_times_to_the_whole(
    rows: list[tuple[float, ...]],
) -> None:
    (first, *_) = [outcome for outcome in outcomes() if outcome.trial.environment.name == "docker"]
    texts = [
        replace(
            first,
            trial=replace(first.trial, identity=f"b{block}", block=block),
            samples=profile_samples(dict(zip(Activity, row, strict=True))),
        )
        for block, row in enumerate(rows)
    ]
    (summary,) = activity_summaries(texts)
    for block, row in enumerate(rows):
        assert math.fsum(shares[block] for shares in summary.shares.values()) == pytest.approx(1, abs=1e-12)
        assert all(0 <= shares[block] <= 1 for shares in summary.shares.values())
        assert summary.whole_s[block] == pytest.approx(math.fsum(row))


def test_native_is_the_mean_of_its_two_slots_and_needs_both() -> None:
    result = outcomes()
    longer = [
        profiled(replace(outcome, samples=()), {Activity.COMPUTE: 3.0})
        if (outcome.trial.environment.name, outcome.trial.replicate, outcome.trial.block) == (NATIVE, 1, 0)
        else outcome
        for outcome in result
        if (outcome.trial.environment.name, outcome.trial.replicate, outcome.trial.block) != (NATIVE, 0, 2)
    ]
    native = by_environment(longer)["native"]
    assert native.blocks == (0, 1, 3)
    assert native.times_s[Activity.COMPUTE][0] == pytest.approx((1.5 + 3.0) / 2)
    assert by_environment(longer)["docker"].blocks == (0, 1, 2, 3)


def test_of_several_instances_the_slowest_counts_as_of_any_time() -> None:
    (first, *_) = [outcome for outcome in outcomes(("1c2p2i",)) if outcome.trial.environment.name == "docker"]
    samples = (*profile_samples(COMPUTING, 0), *profile_samples(TALKING, 1))
    (summary,) = activity_summaries([replace(first, samples=samples)])
    assert summary.times_s[Activity.COMMUNICATION] == (0.75,)
    assert activity_summaries([replace(first, samples=samples[:-1])]) == ()


def test_what_was_not_profiled_has_no_summary() -> None:
    assert activity_summaries([replace(outcome, samples=()) for outcome in outcomes()]) == ()


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0])
def test_a_profile_with_a_value_that_cannot_be_is_none_at_all(value: float) -> None:
    broken = [
        replace(outcome, samples=(replace(outcome.samples[-1], value=value), *outcome.samples[:-1]))
        if (outcome.trial.environment.name, outcome.trial.block) == ("docker", 1)
        else outcome
        for outcome in outcomes()
    ]
    assert by_environment(broken)["docker"].blocks == (0, 2, 3)


def test_only_trials_that_count_are_taken() -> None:
    lost = [
        replace(outcome, status=Status.INVALID) if outcome.trial.block == 1 else outcome
        for outcome in outcomes()
    ]
    assert {activity_summary.blocks for activity_summary in activity_summaries(lost)} == {(0, 2, 3)}


def test_a_block_in_which_the_host_was_disturbed_goes_for_all() -> None:
    result = outcomes()
    result[0] = replace(result[0], status=Status.INVALID, excluded_by=Rule.FOREIGN_LOAD)
    assert {activity_summary.blocks for activity_summary in activity_summaries(result)} == {(1, 2, 3)}


def test_a_cold_first_iteration_is_not_mixed_with_the_others() -> None:
    (first, *_) = [outcome for outcome in outcomes() if outcome.trial.environment.name == "docker"]
    cold, warm = profile_samples(TALKING), profile_samples(COMPUTING)
    samples = [replace(sample, iteration=0) for sample in cold] + [
        replace(sample, iteration=1) for sample in warm
    ]
    (summary,) = activity_summaries([replace(first, samples=tuple(samples))])
    assert summary.times_s[Activity.INIT] == (0.2,)
