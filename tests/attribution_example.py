# SPDX-License-Identifier: Apache-2.0
"""Campaigns whose outcomes carry signals: what slows an environment is planted, and what merely goes along with it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from tare.analyze import verdicts
from tare.analyze.attribution import attributions
from tare.records import (
    Attribution,
    Clocks,
    Direction,
    Environment,
    InstanceRun,
    Layout,
    Limits,
    Outcome,
    Sample,
    Scope,
    Signal,
    Status,
    Trial,
    Workload,
)
from tare.treat import signal_evidence, summaries

WALL_S = 2.0
MARGIN = 0.01
ENVIRONMENT = "docker"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One trial, before its signals are drawn."""

    is_native: bool
    wall_s: float
    lost_s: float
    """What was planted into it."""
    random: np.random.Generator


Drawn = Callable[[Run], float]
"""How much of a signal a trial has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A signal of the made-up trials."""

    drawn: Drawn
    unit: str = "1"
    lost_time: bool = False
    scope: Scope = Scope.NODE


def seconds(drawn: Drawn) -> Kind:
    return Kind(drawn=drawn, unit="s", lost_time=True)


def per_second(rate: float) -> Kind:
    """Comes by itself: a longer run has more of it."""
    return Kind(drawn=lambda run: float(run.random.poisson(rate * run.wall_s)))


def _nothing(run: Run) -> float:  # noqa: ARG001 - whatever was run
    return 0.0


BACKGROUND: Mapping[str, Kind] = {
    "runnable_wait_s": seconds(lambda run: 0.02 * run.wall_s * run.random.lognormal(0, 0.3)),
    "psi_cpu_some_s": seconds(lambda run: 0.02 * run.wall_s * run.random.lognormal(0, 0.3)),
    "psi_io_some_s": seconds(lambda run: 0.001 * run.random.exponential()),
    "throttled_s": seconds(_nothing),
    "softirq_s": seconds(lambda run: 0.002 * run.wall_s * run.random.lognormal(0, 0.1)),
    "involuntary_switches": per_second(200),
    "voluntary_switches": per_second(50),
    "minor_faults": Kind(drawn=lambda run: float(run.random.poisson(3000))),
    "major_faults": Kind(drawn=lambda run: float(run.random.poisson(0.2))),
    "tcp_timeouts": Kind(drawn=_nothing),
    "tcp_retransmissions": per_second(0.1),
    "frequency_hz": Kind(drawn=lambda run: 3e9 * run.random.lognormal(0, 0.005), unit="Hz"),
    "energy_j": Kind(drawn=lambda run: 40 * run.wall_s, unit="J"),
}
"""What a quiet machine shows of a run that nothing is done to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plant:
    """A campaign of one environment."""

    slowdown: Callable[[np.random.Generator], float] = lambda random: 0.0  # noqa: ARG005 - nothing is planted
    signals: Mapping[str, Kind] = field(default_factory=lambda: BACKGROUND)
    blocks: int = 10
    noise: float = 0.01
    threads: int = 1
    missing: Mapping[str, str] | None = None


def planted_outcomes(plant: Plant, seed: int = 1) -> tuple[Outcome, ...]:
    random = np.random.default_rng(seed)
    return tuple(
        _outcome(plant, block, slot, arm, random)
        for block in range(plant.blocks)
        for slot, arm in enumerate(random.permutation(3).tolist())
    )


def attributed(plant: Plant, seed: int = 1, margin: float = MARGIN) -> Attribution:
    outcomes = planted_outcomes(plant, seed)
    result = summaries(outcomes, {"work": ("wall_s",)})
    (attribution,) = attributions(signal_evidence(outcomes, result), verdicts(result, margin))
    return attribution


def _outcome(plant: Plant, block: int, slot: int, arm: int, random: np.random.Generator) -> Outcome:
    """Arms 0 and 1 are native."""
    plain_s = WALL_S * random.lognormal(0, plant.noise)
    lost_s = WALL_S * plant.slowdown(random) if arm == 2 else 0.0
    run = Run(is_native=arm < 2, wall_s=plain_s + lost_s, lost_s=lost_s, random=random)
    name = "native" if run.is_native else ENVIRONMENT
    signals = tuple(
        Signal(name=key, unit=kind.unit, scope=kind.scope, value=kind.drawn(run), lost_time=kind.lost_time)
        for key, kind in plant.signals.items()
    )
    return Outcome(
        trial=Trial(
            identity=f"b{block:03d}-work-1c{plant.threads}p1i-{name}-{arm % 2}",
            block=block,
            slot=slot,
            environment=Environment(name=name, technology=name),
            replicate=arm % 2,
            layout=Layout(nodes=1, processors=plant.threads, instances=1),
            workload=Workload(name="work", kind="command"),
            limits=Limits(memory_byte=1 << 28, shm_byte=1 << 20),
        ),
        status=Status.OK,
        reason=None,
        excerpt=None,
        started_utc="2025-01-01T00:00:00.000+00:00",
        elapsed_s=run.wall_s,
        node_start_s=0.1,
        node_stop_s=0.1,
        barrier_skew_s=None,
        cpu_s=plain_s * plant.threads,
        samples=(Sample(name="wall_s", value=run.wall_s, unit="s", direction=Direction.LESS),),
        instances=(_instance(run.wall_s),),
        signals=signals,
        missing_signals={} if run.is_native else dict(plant.missing or {}),
        image_digest="sha256:0",
    )


def _instance(wall_s: float) -> InstanceRun:
    return InstanceRun(
        instance=0,
        clocks=Clocks(wall_s=wall_s, host_wall_s=wall_s, round_trip_s=1e-4),
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
