# SPDX-License-Identifier: Apache-2.0
"""Outcomes made up of known truths and known noise, without a run."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from tare.calibrate.bench import WORK
from tare.calibrate.evidence import Evidence
from tare.calibrate.judged import ALIGNED_RANKS, Estimator
from tare.calibrate.sizes import FULL, Size
from tare.records import (
    NATIVE,
    Direction,
    Environment,
    Gate,
    Layout,
    Limits,
    Outcome,
    Passing,
    Sample,
    Status,
    Trial,
    Workload,
)

_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def outcome(
    environment: str, block: int, replicate: int = 0, *, slot: int = 0, at_s: float = 0.0, **values: float
) -> Outcome:
    """One trial that ended well, with these metrics."""
    trial = Trial(
        identity=f"b{block}-{environment}-{replicate}",
        block=block,
        slot=slot,
        environment=Environment(name=environment, technology=NATIVE),
        replicate=replicate,
        layout=Layout(nodes=1, processors=1, instances=1),
        workload=Workload(name=WORK, kind="command"),
        limits=Limits(memory_byte=1 << 28, shm_byte=1 << 20),
    )
    samples = (
        Sample(name=name, value=value, unit="s", direction=Direction.LESS) for name, value in values.items()
    )
    return Outcome(
        trial=trial,
        status=Status.OK,
        reason=None,
        excerpt=None,
        started_utc=(_BEGIN + timedelta(seconds=at_s)).isoformat(timespec="milliseconds"),
        elapsed_s=0.1,
        node_start_s=0.01,
        node_stop_s=0.01,
        barrier_skew_s=None,
        cpu_s=None,
        samples=tuple(samples),
        instances=(),
        image_digest="sha256:0",
    )


def outcomes_of(
    truths: Mapping[str, float],
    *,
    blocks: int,
    source: np.random.Generator,
    noise: float = 0.03,
    cpu_noise: float = 0.002,
    spikes: float = 0.0,
) -> tuple[Outcome, ...]:
    """Blocks of native twice and of each environment with its overhead, lognormal, one run after the other.

    ``spikes``: the share of runs that take three times as long.
    """
    arms = [(NATIVE, 0, 0.0), (NATIVE, 1, 0.0), *((name, 0, truth) for name, truth in truths.items())]
    made = []
    for block in range(blocks):
        for slot, (name, replicate, truth) in enumerate(arms):
            wall_s, cpu_s = (
                (1 + truth) * math.exp(source.normal(0.0, spread)) for spread in (noise, cpu_noise)
            )
            wall_s *= 3 if spikes and source.random() < spikes else 1
            at_s = block * len(arms) + slot
            made.append(outcome(name, block, replicate, slot=slot, at_s=at_s, wall_s=wall_s, cpu_s=cpu_s))
    return tuple(made)


def evidence_of(
    *rounds: tuple[Outcome, ...],
    run: str,
    estimator: Estimator = ALIGNED_RANKS,
    size: Size = FULL,
    measured: Mapping[str, float] | None = None,
) -> Evidence:
    """What a phase judges when its run was made once or several times."""
    return Evidence(
        size=size,
        estimator=estimator,
        headline="wall_s",
        rounds={run: rounds} if rounds else {},
        measured=measured or {},
    )


def passing(gates: Sequence[Gate]) -> dict[str, Passing]:
    """Name → what became of it."""
    return {gate.name: gate.passing for gate in gates}
