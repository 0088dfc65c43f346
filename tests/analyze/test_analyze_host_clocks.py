# SPDX-License-Identifier: Apache-2.0
"""Clocks of hosts over a whole result: their offset, drift and bounds, and how far apart instances began."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.series_example import outcome, trial

from tare.analyze import host_clock_summaries, start_skew
from tare.records import Outcome
from tare.records.host_clocks import HostClock
from tare.report.host_clocks import clock_said, skew_said


def clock(at_s: float, offset_s: float | None, bound_s: float | None = 0.0005) -> HostClock:
    return HostClock(
        offset_s=offset_s,
        bound_s=None if offset_s is None else bound_s,
        drift_low_ppm=None,
        drift_high_ppm=None,
        exchanges=16,
        least_round_trip_s=0.001,
        span_s=1.0,
        at_s=at_s,
    )


def seen(clocks: Sequence[HostClock]) -> list[Outcome]:
    return [
        replace(outcome(trial(block, "native"), [1.0]), host_clocks={"far": each})
        for block, each in enumerate(clocks)
    ]


@given(st.floats(-90, 90), st.lists(st.tuples(st.floats(1, 1000), st.floats(-1, 1)), min_size=2, max_size=20))
def test_the_drift_over_a_result_is_within_its_bounds(ppm: float, trials: list[tuple[float, float]]) -> None:
    """Each trial's offset errs by up to its bound."""
    clocks, at_s = [], 0.0
    for pause_s, error in trials:
        at_s += pause_s
        clocks.append(clock(at_s, 3.0 + ppm * 1e-6 * at_s + 0.0004 * error))
    (summary,) = host_clock_summaries(seen(clocks))
    assert summary.drift_low_ppm is not None
    assert summary.drift_high_ppm is not None
    assert summary.drift_low_ppm - 1e-3 <= ppm <= summary.drift_high_ppm + 1e-3


def test_a_host_that_gains_fifty_millionths_is_said_to() -> None:
    (summary,) = host_clock_summaries(
        seen([clock(float(at), 3 + 50e-6 * at, 0.0001) for at in range(0, 600, 60)])
    )
    assert clock_said(summary) == (
        "far: +3.027000 s, within 0.100 ms in each of 10 trials; it gains +49.6 to +50.4 ppm"
    )


def test_a_clock_that_stepped_is_said_not_to_be_known() -> None:
    (summary,) = host_clock_summaries(seen([clock(0.0, None), clock(10.0, 3.0)]))
    assert (summary.trials, summary.refuted, summary.drift_low_ppm) == (1, 1, None)
    assert clock_said(summary).endswith("NOT KNOWN in 1: it stepped, or runs at another rate")


def test_a_host_that_started_anew_between_two_trials_has_no_drift() -> None:
    (summary,) = host_clock_summaries(seen([clock(0.0, 3.0), clock(10.0, 3.0), clock(20.0, -500.0)]))
    assert summary.drift_low_ppm is None


def test_without_a_list_of_hosts_nothing_is_said() -> None:
    plain = [outcome(trial(0, "native"), [1.0])]
    assert host_clock_summaries(plain) == ()
    assert start_skew(plain) is None


def test_the_start_skew_has_its_median_its_most_and_its_bound() -> None:
    skews = ((0.001, 0.0001), (0.003, 0.0002), (0.002, 0.0001), (0.5, 0.0))
    made = [
        replace(outcome(trial(0, "native"), [1.0]), barrier_skew_s=skew_s, barrier_skew_bound_s=bound_s)
        for skew_s, bound_s in skews
    ]
    skew = start_skew(made)
    assert skew is not None
    assert (skew.trials, skew.median_s, skew.longest_s, skew.bound_s) == (3, 0.002, 0.003, 0.0002)
    assert (
        "2.000 ms apart (median; at most 3.000 ms), each known within 0.200 ms (n = 3 trials)"
        in skew_said(skew)
    )
