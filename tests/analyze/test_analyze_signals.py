# SPDX-License-Identifier: Apache-2.0
"""Signals against native's: medians over blocks, and the names of what no trial has."""

from dataclasses import replace

import pytest
from tests.treat.test_treat_pairing import DOCKER, NATIVE, PRIMARY, outcome, time

from tare.analyze import signal_tables
from tare.records import InstanceRun, Outcome, Scope, Signal, SignalTable, Status
from tare.records.measured import Clocks
from tare.treat import signal_evidence, summaries

RUN = InstanceRun(
    instance=0,
    clocks=Clocks(wall_s=1.0, host_wall_s=1.0, round_trip_s=0.001),
    start_offset_s=0.0,
    user_s=1.0,
    system_s=0.0,
    maximum_rss_byte=1,
    minor_faults=0,
    major_faults=0,
    voluntary_switches=0,
    involuntary_switches=0,
    exit_code=0,
    signal=None,
    timed_out=False,
    host_span_s=1.0,
)


def told(outcome: Outcome, value: float | None, why: str = "not here") -> Outcome:
    run = replace(outcome, instances=(RUN,))
    if value is None:
        return replace(run, missing_signals={"throttled_s": why})
    signal = Signal(name="throttled_s", unit="s", scope=Scope.NODE, value=value, lost_time=True)
    return replace(run, signals=(signal,))


def block(number: int, first: float | None, second: float | None, own: float | None) -> list[Outcome]:
    return [
        told(outcome(NATIVE, number, [time(1.0)]), first),
        told(outcome(NATIVE, number, [time(1.0)], replicate=1), second),
        told(outcome(DOCKER, number, [time(1.5)]), own),
    ]


def table(outcomes: list[Outcome]) -> SignalTable:
    (signal_table,) = signal_tables(signal_evidence(outcomes, summaries(outcomes, PRIMARY)), outcomes)
    return signal_table


def test_a_difference_is_the_median_over_blocks_against_the_mean_of_both_natives() -> None:
    signal_table = table([item for number in range(7) for item in block(number, 0.1, 0.3, 0.5 + number)])
    (signal,) = signal_table.differences
    assert signal.native == pytest.approx(0.2)
    assert signal.difference.point == pytest.approx(3.3)
    assert signal.difference.n == 7
    assert signal.difference.low == pytest.approx(0.3)
    assert signal_table.missing == {}


def test_a_signal_that_no_trial_of_the_environment_has_is_named_with_why() -> None:
    signal_table = table([item for number in range(6) for item in block(number, 0.0, 0.0, None)])
    assert signal_table.differences == ()
    assert signal_table.missing == {"throttled_s": "not here"}


def test_a_signal_that_some_trials_lack_is_not_called_missing() -> None:
    blocks = [block(number, 0.0, 0.0, None if number else 1.0) for number in range(6)]
    signal_table = table([item for outcomes in blocks for item in outcomes])
    assert signal_table.missing == {}
    assert signal_table.differences[0].difference.n == 1


def test_a_trial_that_failed_is_no_block() -> None:
    outcomes = block(0, 0.0, 0.0, 1.0)
    outcomes[2] = replace(outcomes[2], status=Status.FAILED)
    assert table(outcomes).differences == ()
