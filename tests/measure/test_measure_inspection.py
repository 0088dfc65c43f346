# SPDX-License-Identifier: Apache-2.0
"""Tests of clocks, and how the clocks of one system go against each other."""

from collections.abc import Mapping
from typing import Any

import pytest

from tare.errors import NodeError
from tare.measure.clock_watch import host_readings, relations
from tare.measure.inspection import quality_of

SECOND_NS = 10**9
SAID: dict[str, Any] = {
    "source": "tsc",
    "tsc_flags": ["constant_tsc"],
    "invariant_tsc": True,
    "clocks": [
        {
            "name": "CLOCK_MONOTONIC",
            "resolution_ns": 1,
            "least_step_ns": 20,
            "readings": 9,
            "backward_steps": 0,
        }
    ],
    "pairs": 1,
    "exchanges": 100,
    "backward_exchanges": 2,
    "worst_backward_ns": 30,
}


def readings(raw_ns: int, monotonic_ns: int, realtime_ns: int) -> list[Mapping[str, int]]:
    return [{"monotonic_raw_ns": raw_ns, "monotonic_ns": monotonic_ns, "realtime_ns": realtime_ns}] * 5


def test_what_a_stopwatch_says_becomes_the_record() -> None:
    clock_quality = quality_of(SAID, 1, own_clock=True)
    assert (clock_quality.node, clock_quality.own_clock, clock_quality.source, clock_quality.tsc_flags) == (
        1,
        True,
        "tsc",
        ("constant_tsc",),
    )
    assert clock_quality.clocks["CLOCK_MONOTONIC"].least_step_ns == 20
    assert (clock_quality.backward_exchanges, clock_quality.worst_backward_ns) == (2, 30)


def test_what_is_not_there_stays_missing() -> None:
    clock_quality = quality_of(
        {**SAID, "source": None, "tsc_flags": None, "invariant_tsc": None}, 0, own_clock=False
    )
    assert (clock_quality.source, clock_quality.tsc_flags, clock_quality.invariant_tsc) == (None, None, None)


@pytest.mark.parametrize(
    "wrong",
    [
        {"clocks": 3},
        {"clocks": [{}]},
        {"clocks": ["x"]},
        {"exchanges": "many"},
        {"tsc_flags": 1},
    ],
)
def test_what_makes_no_sense_is_an_error(wrong: Mapping[str, Any]) -> None:
    with pytest.raises(NodeError, match="makes no sense"):
        quality_of({**SAID, **wrong}, 0, own_clock=False)


def test_the_rate_of_a_disciplined_clock_is_told() -> None:
    result = relations(
        readings(0, 0, 0), readings(10 * SECOND_NS, 10 * SECOND_NS + 50_000, 10 * SECOND_NS + 50_000)
    )
    assert result == {
        "step of CLOCK_REALTIME": "none",
        "rate of CLOCK_MONOTONIC against CLOCK_MONOTONIC_RAW": "+5.0 ppm",
    }


def test_a_clock_that_was_set_shows_its_step_with_its_sign() -> None:
    ahead = relations(readings(0, 0, 0), readings(SECOND_NS, SECOND_NS, SECOND_NS + 50_000_000))
    assert ahead["step of CLOCK_REALTIME"] == "+50.000 ms"


def test_one_interrupted_reading_is_no_step() -> None:
    after = readings(SECOND_NS, SECOND_NS, SECOND_NS)
    after[2] = {**after[2], "realtime_ns": SECOND_NS + 80_000_000}
    assert relations(readings(0, 0, 0), after)["step of CLOCK_REALTIME"] == "none"


def test_a_short_trial_tells_no_rate() -> None:
    assert list(relations(readings(0, 0, 0), readings(SECOND_NS // 2, 0, 0))) == ["step of CLOCK_REALTIME"]


def test_without_readings_nothing_is_told() -> None:
    assert relations([], []) == {}


def test_this_host_was_not_set_in_between() -> None:
    assert relations(host_readings(), host_readings()) == {"step of CLOCK_REALTIME": "none"}
