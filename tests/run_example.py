# SPDX-License-Identifier: Apache-2.0
"""One run of an instance, as its stopwatch tells it."""

from dataclasses import replace

from tare.records import Clocks, InstanceRun

HONEST = Clocks(wall_s=2.0, host_wall_s=2.0, round_trip_s=0.001)

_PLAIN = InstanceRun(
    instance=0,
    clocks=HONEST,
    start_offset_s=0.0,
    user_s=0.0,
    system_s=0.0,
    maximum_rss_byte=0,
    minor_faults=0,
    major_faults=0,
    voluntary_switches=0,
    involuntary_switches=0,
    exit_code=0,
    signal=None,
    timed_out=False,
)


def instance_run(**changes: object) -> InstanceRun:
    """Two seconds of doing nothing, but for what is said."""
    return replace(_PLAIN, **changes)  # type: ignore[arg-type]
