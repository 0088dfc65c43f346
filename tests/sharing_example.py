# SPDX-License-Identifier: Apache-2.0
"""Outcomes of sharing experiments with planted losses, unfairness and helpers."""

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tare.records import (
    NATIVE,
    Cell,
    Direction,
    Environment,
    Layout,
    Limits,
    Neighbour,
    Outcome,
    Sample,
    SharedCell,
    Status,
    Trial,
    Workload,
)

WORK = Workload(name="hpl", kind="fake")
STREAM = Workload(name="stream", kind="fake")
NEIGHBOUR = Neighbour(environment=Environment(name="docker", technology="docker"), workload=STREAM, count=1)
ALONE = "1c1p1i"
PRIMARY = {"hpl": "hpl_flop_per_s"}


@dataclass(frozen=True, kw_only=True)
class Planted:
    """What an environment does, as fractions."""

    overhead: float = 0.0
    """Alone and with company alike."""
    loss: float = 0.0
    """With company."""
    unfairness: float = 0.0
    """Further loss of each instance but the first."""
    helpers: int | None = None
    helper_share: float | None = None


def cells(setting: str, workload: str = "hpl") -> SharedCell:
    return SharedCell(
        shared=Cell(workload=workload, layout=setting), alone=Cell(workload=workload, layout=ALONE)
    )


def sharing_outcomes(
    planted: Mapping[str, Planted],
    *,
    settings: Sequence[str] = (ALONE, "1c2p2i"),
    blocks: int = 10,
    noise: float = 0.01,
    drift: float = 0.05,
    seed: int = 1,
) -> list[Outcome]:
    """Campaigns in blocks; ``planted`` has native's too. ``noise`` is of each instance, ``drift`` of each block."""
    chance = random.Random(seed)  # noqa: S311 - samples, not secrets
    collected = []
    for block in range(blocks):
        slow = chance.gauss(0, drift)
        collected += [
            _outcome(trial, planted[trial.environment.name], slow, noise, chance)
            for trial in _trials(block, settings, planted)
        ]
    return collected


def _trials(block: int, settings: Sequence[str], planted: Mapping[str, Planted]) -> Iterator[Trial]:
    slot = 0
    for setting in settings:
        layout, _, neighbour = setting.partition("+")
        for name in planted:
            for replicate in range(2 if name == NATIVE else 1):
                yield Trial(
                    identity=f"b{block:03}-hpl-{setting}-{name}-{replicate}",
                    block=block,
                    slot=slot,
                    environment=Environment(name=name, technology=name),
                    replicate=replicate,
                    layout=Layout.parse(layout),
                    workload=WORK,
                    limits=Limits(memory_byte=1 << 29, shm_byte=1 << 26),
                    neighbour=NEIGHBOUR if neighbour else None,
                )
                slot += 1


def _outcome(trial: Trial, planted: Planted, slow: float, noise: float, chance: random.Random) -> Outcome:
    company = trial.layout.instances > 1 or trial.neighbour is not None
    times = []
    for instance in range(trial.layout.instances):
        lost = (1 + planted.loss) * (1 + planted.unfairness * (instance > 0)) if company else 1.0
        times.append(2.0 * (1 + planted.overhead) * lost * math.exp(slow + chance.gauss(0, noise)))
    cpu_s = sum(times)
    share = planted.helper_share
    return Outcome(
        trial=trial,
        status=Status.OK,
        reason=None,
        excerpt=None,
        started_utc="2025-01-01T00:00:00Z",
        elapsed_s=3.0,
        node_start_s=0.1,
        node_stop_s=0.1,
        barrier_skew_s=chance.uniform(0.0001, 0.002) if len(times) > 1 else None,
        cpu_s=cpu_s,
        helper_cpu_s=None if share is None else cpu_s * share * math.exp(chance.gauss(0, 0.1)),
        helpers=planted.helpers,
        samples=(*_samples(times), Sample(name="cpu_s", value=cpu_s, unit="s", direction=Direction.LESS)),
        instances=(),
        image_digest="sha256:0",
    )


def _samples(times: Sequence[float]) -> Iterator[Sample]:
    for instance, time_s in enumerate(times):
        yield Sample(
            name="hpl_flop_per_s",
            value=1e11 / time_s,
            unit="flop/s",
            direction=Direction.MORE,
            instance=instance,
        )
        yield Sample(name="wall_s", value=time_s, unit="s", direction=Direction.LESS, instance=instance)
