# SPDX-License-Identifier: Apache-2.0
"""How the clocks of one system ran relative to each other over a trial.

CLOCK_REALTIME and CLOCK_MONOTONIC are disciplined alike, so that only a step separates them; CLOCK_MONOTONIC_RAW is
not disciplined at all, so that CLOCK_MONOTONIC's rate against it is the discipline (clock_gettime(2)).
"""

import statistics
import time
from collections.abc import Mapping, Sequence

from tare.measure.clock_line import MILLION

READINGS = 5
"""Number of readings at each end; their medians count, as a reader may be interrupted between two clocks."""
_LEAST_SPAN_NS = 1_000_000_000
_LEAST_STEP_NS = 1_000_000

_Readings = Mapping[str, int]


def host_readings() -> list[_Readings]:
    """The host's clocks, read in direct succession, several times."""
    return [
        {
            "monotonic_raw_ns": time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW),
            "monotonic_ns": time.clock_gettime_ns(time.CLOCK_MONOTONIC),
            "realtime_ns": time.clock_gettime_ns(time.CLOCK_REALTIME),
        }
        for _ in range(READINGS)
    ]


def relations(before: Sequence[_Readings], after: Sequence[_Readings]) -> dict[str, str]:
    """Facts from readings at the beginning and at the end of a trial; none without readings."""
    if not before or not after:
        return {}
    span_ns = _median(after, "monotonic_raw_ns") - _median(before, "monotonic_raw_ns")
    gained_ns = _offset(after, "monotonic_raw_ns") - _offset(before, "monotonic_raw_ns")
    step_ns = _offset(before, "realtime_ns") - _offset(after, "realtime_ns")
    stepped = abs(step_ns) > _LEAST_STEP_NS
    facts = {"step of CLOCK_REALTIME": f"{step_ns * 1e-6:+.3f} ms" if stepped else "none"}
    if span_ns >= _LEAST_SPAN_NS:
        rate = f"{gained_ns / span_ns * MILLION:+.1f} ppm"
        facts["rate of CLOCK_MONOTONIC against CLOCK_MONOTONIC_RAW"] = rate
    return facts


def _offset(readings: Sequence[_Readings], other: str) -> float:
    """How far CLOCK_MONOTONIC is ahead of another clock."""
    return statistics.median(reading["monotonic_ns"] - reading[other] for reading in readings)


def _median(readings: Sequence[_Readings], name: str) -> float:
    return statistics.median(reading[name] for reading in readings)
