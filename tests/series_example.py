# SPDX-License-Identifier: Apache-2.0
"""Made-up outcomes of trials with several runs within one start."""

from collections.abc import Sequence
from dataclasses import replace

from tare.records import (
    NATIVE,
    Clocks,
    Direction,
    Environment,
    InstanceRun,
    Layout,
    Limits,
    Ordering,
    Outcome,
    Sample,
    Series,
    Status,
    Trial,
    Workload,
)

LAYOUT = Layout(nodes=1, processors=1, instances=1)


def run(
    iteration: int | None = None, uptime_s: float = 0.0, wall_s: float = 1.0, instance: int = 0
) -> InstanceRun:
    return InstanceRun(
        instance=instance,
        clocks=Clocks(wall_s=wall_s, host_wall_s=wall_s, round_trip_s=0.001),
        start_offset_s=0.0,
        user_s=wall_s,
        system_s=0.0,
        maximum_rss_byte=0,
        minor_faults=0,
        major_faults=0,
        voluntary_switches=0,
        involuntary_switches=0,
        exit_code=0,
        signal=None,
        timed_out=False,
        iteration=iteration,
        uptime_s=uptime_s,
    )


def trial(block: int, name: str = NATIVE, replicate: int = 0, iterations: int = 1) -> Trial:
    return Trial(
        identity=f"b{block}-work-{name}-{replicate}",
        block=block,
        slot=replicate,
        environment=Environment(name=name, technology=name),
        replicate=replicate,
        layout=LAYOUT,
        workload=Workload(name="work", kind="fake", iterations=iterations),
        limits=Limits(memory_byte=1 << 28, shm_byte=1 << 20),
    )


def outcome(
    of: Trial, times: Sequence[float], metric: str = "time_s", uptimes_s: Sequence[float] = ()
) -> Outcome:
    """One run for each of ``times``; they are iterations when there are several."""
    numbers: list[int | None] = [None] if len(times) == 1 else [*range(len(times))]
    starts = uptimes_s or [float(place) for place in range(len(times))]
    return Outcome(
        trial=of,
        status=Status.OK,
        reason=None,
        excerpt=None,
        started_utc="2026-01-01T00:00:00.000",
        elapsed_s=1.0,
        node_start_s=None,
        node_stop_s=None,
        barrier_skew_s=None,
        cpu_s=None,
        samples=tuple(
            Sample(name=metric, value=value, unit="s", direction=Direction.LESS, instance=0, iteration=number)
            for number, value in zip(numbers, times, strict=True)
        ),
        instances=tuple(run(number, start) for number, start in zip(numbers, starts, strict=True)),
        image_digest="sha256:0",
    )


def ordered(
    block: int, name: str, ordering: Ordering, values: Sequence[float], times: Sequence[float]
) -> Outcome:
    """A start of an order experiment, its runs a second apart."""
    series = Series(option="size", ordering=ordering, values=tuple(values))
    of = replace(trial(block, name), series=series, slot=list(Ordering).index(ordering))
    return outcome(replace(of, identity=f"{of.identity}-{ordering}"), times)
