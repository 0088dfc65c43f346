# SPDX-License-Identifier: Apache-2.0
"""Comparing the node's clock with the host's: a hard bound, not a guess.

Each probe is a question to the stopwatch and its answer: host stamp before, node stamp, host stamp after. The node's
stamp was taken between the two, so its clock's offset lies within half a round trip of the middle (Cristian 1989; the
bound holds for any asymmetry). The best probes before and after the run bound the difference between the node's
duration and the host's. A clock that runs at another rate, or steps, shows a larger difference.
"""

import time
from collections.abc import Sequence

from tare.measure.clock_fit import TOLERANCE_PPM
from tare.measure.clock_line import ClockProbe
from tare.records import Clocks

PROBES = 5
_NS = 1e-9


def host_ns() -> int:
    """The host's CLOCK_MONOTONIC_RAW, in nanoseconds."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


def compare(start_ns: int, end_ns: int, before: Sequence[ClockProbe], after: Sequence[ClockProbe]) -> Clocks:
    """The duration by the node's clock and by the host's, and the bound on an honest difference.

    Two honest clocks drift apart during the time between the probes, which exceeds the command's if it waited for the
    other instances of its trial.
    """
    first = min(before, key=lambda probe: probe.round_trip_ns)
    last = min(after, key=lambda probe: probe.round_trip_ns)
    wall_ns = end_ns - start_ns
    drift_ns = TOLERANCE_PPM * 1e-6 * (last.answered_ns - first.asked_ns)
    bound_ns = (first.round_trip_ns + last.round_trip_ns) / 2 + drift_ns
    return Clocks(
        wall_s=wall_ns * _NS,
        host_wall_s=(wall_ns - (last.offset_ns - first.offset_ns)) * _NS,
        round_trip_s=bound_ns * _NS,
    )


def is_the_hosts(probes: Sequence[ClockProbe]) -> bool:
    """Whether every probe allows the node's clock to be the host's own."""
    return all(probe.asked_ns <= probe.node_ns <= probe.answered_ns for probe in probes)


def offset_ns(probes: Sequence[ClockProbe]) -> float:
    """The node's clock minus the host's.

    The host's own clock has no offset: an estimate would err by up to half a round trip, which is long in some nodes.
    """
    if is_the_hosts(probes):
        return 0.0
    return min(probes, key=lambda probe: probe.round_trip_ns).offset_ns


def host_start_ns(start_ns: int, before: Sequence[ClockProbe]) -> float:
    """The start, as a reading of the host's clock."""
    return start_ns - offset_ns(before)


def disagreement(clocks: Clocks) -> str | None:
    """Why the node's clock cannot be trusted, in words; ``None`` if it can."""
    difference_s = abs(clocks.wall_s - clocks.host_wall_s)
    if difference_s <= clocks.round_trip_s:
        return None
    return (
        f"the node's clock says {clocks.wall_s:.6f} s and the host's {clocks.host_wall_s:.6f} s: "
        f"they differ by {difference_s * 1000:.3f} ms, and the round trips allow {clocks.round_trip_s * 1000:.3f} ms"
    )
