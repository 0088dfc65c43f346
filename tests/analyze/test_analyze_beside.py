# SPDX-License-Identifier: Apache-2.0
"""CPU time over wall time, and clocks that go backward: what verdicts are told of them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.activity_example import COMPUTING, TALKING, profiled_outcomes
from tests.report.report_example import example
from tests.series_example import outcome, trial

from tare.analyze import activity_splits, timer_agreements, verdicts, with_clock_warnings
from tare.records import (
    NATIVE,
    Activity,
    ActivitySplit,
    ActivitySummary,
    Cell,
    ClockQuality,
    ClockTest,
    Outcome,
    Scope,
    Signal,
    TimerAgreement,
)
from tare.treat import activity_summaries, summaries, timer_summaries


def told(block: int, name: str, slot: int, rho: float, waited_s: float = 0.0) -> Outcome:
    """A trial of 10 s whose node tells ``rho`` times the CPU time of what was left of them."""
    result = outcome(trial(block, name, slot), [10.0])
    (run,) = result.instances
    clocks = replace(run.clocks, wall_s=10.0)
    waits = Signal(name="steal_s", unit="s", scope=Scope.NODE, value=waited_s, lost_time=True)
    return replace(
        result,
        instances=(replace(run, clocks=clocks, user_s=rho * (10.0 - waited_s)),),
        signals=(waits,) if waited_s else (),
    )


def agreement(share: float, waited_s: float = 0.0) -> TimerAgreement:
    chance = np.random.default_rng(5)
    outcomes = []
    for block in range(10):
        noise = chance.normal(1.0, 0.002, 3)
        outcomes += [told(block, NATIVE, slot, 0.99 * noise[slot]) for slot in (0, 1)]
        outcomes.append(told(block, "box", 0, 0.99 * share * noise[2], waited_s))
    (timer_agreement,) = timer_agreements(timer_summaries(outcomes))
    return timer_agreement


def test_a_node_that_tells_less_cpu_time_than_it_used_disagrees() -> None:
    timer_agreement = agreement(0.9)
    assert timer_agreement.disagrees
    assert timer_agreement.difference.point == pytest.approx(-0.1, abs=0.01)


def test_a_node_that_counts_like_native_agrees() -> None:
    assert not agreement(1.0).disagrees


def test_time_that_was_stolen_is_no_disagreement() -> None:
    assert not agreement(1.0, waited_s=3.0).disagrees


def quality(backward: int, steps: int = 0) -> ClockQuality:
    test = ClockTest(resolution_ns=1, least_step_ns=20, readings=1000, backward_steps=steps)
    return ClockQuality(
        node=0,
        own_clock=True,
        source="tsc",
        tsc_flags=(),
        invariant_tsc=False,
        clocks={"CLOCK_MONOTONIC": test},
        pairs=1,
        exchanges=1000,
        backward_exchanges=backward,
        worst_backward_ns=80 if backward else 0,
    )


def warned(quality: ClockQuality, name: str) -> set[str]:
    outcomes = [replace(outcome(trial(0, name), [1.0]), clock_quality=(quality,))]
    judged = with_clock_warnings(example(blocks=6).verdicts, outcomes)
    return {verdict.overhead.summary.environment for verdict in judged if verdict.warnings}


def test_a_clock_that_goes_backward_qualifies_every_verdict_of_its_environment() -> None:
    assert warned(quality(backward=3), "docker") == {"docker"}
    assert warned(quality(backward=0, steps=1), "docker") == {"docker"}


def test_native_clocks_concern_every_verdict() -> None:
    assert len(warned(quality(backward=3), NATIVE)) == 5


def test_clocks_that_agree_are_no_warning() -> None:
    assert warned(quality(backward=0), "docker") == set()


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
