# SPDX-License-Identifier: Apache-2.0
"""Shares to estimates: medians with exact intervals, and overheads told in one way only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.activity_example import COMPUTING, TALKING, profiled_outcomes

from tare.analyze import activity_splits, verdicts
from tare.records import Activity, ActivitySplit, ActivitySummary, Cell
from tare.treat import activity_summaries, summaries

CELL = Cell(workload="hpl", layout="1c1p1i")
PLANTED = {"native": COMPUTING, "docker": TALKING}


def splits(blocks: int = 10) -> dict[str, ActivitySplit]:
    outcomes = profiled_outcomes(PLANTED, blocks=blocks)
    judged = verdicts(summaries(outcomes, {}), 0.01)
    return {
        activity_split.summary.environment: activity_split
        for activity_split in activity_splits(activity_summaries(outcomes), judged)
    }


def test_times_and_shares_are_medians_over_blocks_with_their_intervals() -> None:
    _, _, communication, io = splits()["docker"].activities
    assert communication.activity is Activity.COMMUNICATION
    assert communication.time_s.n == communication.share.n == 10
    assert communication.time_s.point == pytest.approx(0.75 * 1.045)
    assert communication.time_s.low == pytest.approx(0.75 * 1.01)
    assert communication.time_s.high == pytest.approx(0.75 * 1.08)
    assert communication.share.point == pytest.approx(0.3093, abs=1e-3)
    assert (io.time_s.point, io.share.point) == (0, 0)
    assert splits()["docker"].whole_s.point == pytest.approx(1.75 + 0.75 * 1.045)


def test_overheads_are_those_of_the_verdicts() -> None:
    result = splits()
    init, compute, communication, io = (
        activity_estimate.overhead for activity_estimate in result["docker"].activities
    )
    assert init is not None
    assert init.point == pytest.approx(0.25)
    assert compute is not None
    assert compute.point == pytest.approx(0, abs=1e-9)
    assert communication is not None
    assert communication.point == pytest.approx(1.5)
    assert io is None
    assert [activity_estimate.overhead for activity_estimate in result["native"].activities] == [None] * 4


def test_few_blocks_have_no_interval() -> None:
    split = splits(blocks=4)["docker"]
    estimates = [split.whole_s, *(activity_estimate.share for activity_estimate in split.activities)]
    assert all(estimate.low is estimate.high is None for estimate in estimates)
    assert {estimate.n for estimate in estimates} == {4}


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0.1, 10)), min_size=1, max_size=12))
def test_the_shares_of_two_activities_add_up_to_one_though_they_are_medians(
    rows: list[tuple[float, float]],
) -> None:
    communication, compute = zip(*rows, strict=True)
    nothing = (0.0,) * len(rows)
    times_s = {
        Activity.INIT: nothing,
        Activity.COMPUTE: compute,
        Activity.COMMUNICATION: communication,
        Activity.IO: nothing,
    }
    summary = ActivitySummary(
        cell=CELL, environment="docker", blocks=tuple(range(len(rows))), times_s=times_s
    )
    (split,) = activity_splits([summary], [])
    assert sum(activity_estimate.share.point for activity_estimate in split.activities) == pytest.approx(
        1, abs=1e-12
    )
