# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a clock is said in words that the probes bear out."""

from collections.abc import Callable

import pytest

from tare.measure.clock_line import ClockProbe
from tare.measure.clock_verdict import ClockFindings, findings

SECOND = 1_000_000_000
MILLISECOND = 1_000_000

Clock = Callable[[int], int]


def honest(host_ns: int) -> int:
    return host_ns


def stepping(*steps: tuple[float, int]) -> Clock:
    """Seconds and milliseconds of each."""
    return lambda host_ns: host_ns + sum(ms * MILLISECOND for at_s, ms in steps if host_ns >= at_s * SECOND)


def fast(percent: int, since_s: int = 0) -> Clock:
    return lambda host_ns: host_ns + max(host_ns - since_s * SECOND, 0) * percent // 100


def probes(clock: Clock, during: int) -> list[ClockProbe]:
    begins = [*range(5), *(1000 * second for second in range(1, during + 1))]
    begins += [1000 * (during + 1) + number for number in range(5)]
    asked = [at * MILLISECOND for at in begins]
    return [ClockProbe(asked_ns=at, node_ns=clock(at + 10), answered_ns=at + 200_000) for at in asked]


def found(
    clock: Clock, *, raw: Clock | None = None, realtime: Clock | None = None, during: int = 9
) -> ClockFindings:
    clocks = {
        "monotonic_raw_ns": probes(raw or clock, during),
        "monotonic_ns": probes(clock, during),
        "realtime_ns": probes(realtime or clock, during),
    }
    return findings({"the node": clocks})


def fault(clock: Clock, during: int = 9) -> str:
    words = found(clock, during=during).fault
    assert words is not None
    assert words.startswith("CLOCK_MONOTONIC_RAW, CLOCK_MONOTONIC, CLOCK_REALTIME of the node ")
    return words


def test_honest_clocks_have_facts_and_no_fault() -> None:
    clock_findings = found(honest)
    assert clock_findings.fault is None
    (facts,) = clock_findings.facts
    assert facts["clock probes"] == "19"
    assert facts["worst round trip to the clock"] == "0.200 ms"
    assert facts["clock steps"] == "0"
    assert facts["drift of CLOCK_MONOTONIC"].endswith(" ppm")
    low, _, high = facts["drift of CLOCK_MONOTONIC"].removesuffix(" ppm").partition(" to ")
    assert float(low) < 0 < float(high)


def test_a_wrong_rate_is_called_a_rate_and_counts_no_steps() -> None:
    words = fault(fast(3))
    assert "runs at another rate than the host's: +29" in words
    assert "stepped" not in words
    assert found(fast(3)).facts[0]["clock steps"] == "0"


def test_between_two_bursts_a_step_and_a_rate_cannot_be_told_apart_and_both_are_named() -> None:
    words = fault(stepping((0.5, 50)), during=0)
    assert "stepped by +49." in words
    assert ", or runs at another rate" in words


def test_steps_are_told_one_by_one_with_their_sum() -> None:
    words = fault(stepping((2.5, 50), (4.5, -50)))
    assert words.count("by +49.") == 1
    assert words.count("by -50.") == 1
    assert "in all by -" in words
    assert found(stepping((2.5, 50), (4.5, -50))).facts[0]["clock steps"] == "2"


def test_many_steps_are_counted() -> None:
    every_other = tuple((second + 0.5, 50 if second % 2 else -50) for second in range(1, 9))
    assert ", 5 times more, in all by " in fault(stepping(*every_other))


def test_a_changed_rate_is_told_by_both() -> None:
    words = fault(fast(3, since_s=20), during=40)
    assert "changed its rate: " in words
    assert "ppm, then +" in words


@pytest.mark.parametrize(
    ("findings", "name"),
    [
        (found(honest, raw=stepping((3.5, 700))), "CLOCK_MONOTONIC_RAW"),
        (found(honest, realtime=stepping((3.5, 700))), "CLOCK_REALTIME"),
    ],
)
def test_one_clock_that_is_wrong_by_itself_is_named_alone(findings: ClockFindings, name: str) -> None:
    assert findings.fault is not None
    assert findings.fault.startswith(f"{name} of the node stepped by +699.")


def test_clocks_that_go_wrong_each_in_its_way_are_told_each() -> None:
    text = found(honest, raw=fast(3), realtime=stepping((3.5, 700))).fault
    assert text is not None
    assert text.startswith("CLOCK_MONOTONIC_RAW of the node runs at another rate")
    assert ", and CLOCK_REALTIME of the node stepped" in text
