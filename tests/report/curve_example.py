# SPDX-License-Identifier: Apache-2.0
"""Synthetic campaigns of message curves, like those of NetPIPE."""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tare.analyze import controls, curve_estimates, verdicts
from tare.records import NATIVE, Analysis, Coordinate, Dimension, Direction, Outcome, Sample
from tare.treat import curves, summaries
from tare.workloads.netpipe import message_sizes
from tests.report.report_example import MARGIN, Figure, example, with_verdicts

ENVIRONMENTS = ("docker", "lxc", "systemd-nspawn", "bubblewrap", "charliecloud", "gvisor")
SIZE = Dimension("size", "B")
SIZES = message_sizes(1, 16 << 20, 0)
OVERHEADS: Mapping[str, tuple[float, float]] = {
    "docker": (0.03, 0.0),
    "systemd-nspawn": (-0.02, 0.05),
    "gvisor": (11.0, 0.6),
}
"""True overhead of a small and of a large message; of the others 0."""


def curve_analysis(
    *,
    blocks: int = 10,
    environments: Sequence[str] = ENVIRONMENTS,
    sizes: Sequence[int] = SIZES,
    variation: float = 0.05,
    dimension: Dimension = SIZE,
) -> Analysis:
    """An analysis of one cell whose trials report a latency and a bandwidth at every size."""
    figures = (Figure("small_latency_s", 3.9e-7, "s", Direction.LESS, 0.01, (0.0,) * 5),)
    plain = example(
        blocks=blocks, figures=figures, environments=environments, workload="netpipe", losing=False
    )
    chance = random.Random(11)  # noqa: S311 - samples, not secrets
    outcomes = tuple(with_curves(outcome, sizes, variation, chance, dimension) for outcome in plain.outcomes)
    treated = summaries(outcomes, {"netpipe": ("small_latency_s",)})
    return with_verdicts(
        plain,
        verdicts(treated, MARGIN),
        outcomes=outcomes,
        controls=controls(treated),
        curves=curve_estimates(curves(outcomes)),
    )


def native_time_s(size: float) -> float:
    """As shared memory behaves: a fixed cost, a jump where the protocol changes, then so many bytes a second."""
    jump_s = 1.2e-6 if size > 4096 else 0.0
    return 3.9e-7 + jump_s + size / (9e9 if size < 1 << 18 else 6e9)


def true_ratio(environment: str, size: float) -> float:
    small, large = OVERHEADS.get(environment, (0.0, 0.0))
    weight = 1 / (1 + size / 32768)
    return 1.0 if environment == NATIVE else 1 + small * weight + large * (1 - weight)


def with_curves(
    outcome: Outcome,
    sizes: Sequence[int],
    variation: float,
    chance: random.Random,
    dimension: Dimension = SIZE,
) -> Outcome:
    """The outcome with a latency and a bandwidth at each size, one hundredth of them disturbed."""
    samples = list(outcome.samples)
    for size in sizes:
        noise = math.exp(chance.gauss(0, variation)) * (3 if variation and chance.random() < 0.01 else 1)
        place = (Coordinate(dimension.name, float(size), dimension.unit),)
        time_s = native_time_s(size) * true_ratio(outcome.trial.environment.name, size) * noise
        samples += [
            Sample(name=name, value=value, unit=unit, direction=direction, coordinates=place)
            for name, value, unit, direction in (
                ("latency_s", time_s, "s", Direction.LESS),
                ("bandwidth_byte_per_s", size / time_s, "B/s", Direction.MORE),
            )
        ]
    return replace(outcome, samples=tuple(samples))
