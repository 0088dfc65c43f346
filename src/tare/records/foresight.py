# SPDX-License-Identifier: Apache-2.0
"""What a campaign can and cannot decide, forecast from noise measured on this host."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """How much the block log-ratios of one arm vary."""

    spread: float
    """Standard deviation of the log-ratios, roughly the relative deviation of the ratios."""
    n: int
    """Number of blocks behind it."""
    source: str
    """Where they were measured, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LookForesight:
    """What one look can decide."""

    blocks: int
    smallest_slowdown: float | None
    """The overhead, as a fraction, that is detected as slower with 80 % power; ``None``: the look has no interval."""
    within: float
    """Probability that this look shows "within the margin" if there is no overhead at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedBlocks:
    """Mean number of blocks run for an overhead of a given size."""

    overhead: float
    blocks: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Foresight:
    """What a campaign can decide about one arm at this noise."""

    workload: str
    layout: str
    environment: str
    noise: Noise
    looks: tuple[LookForesight, ...]
    expected: tuple[ExpectedBlocks, ...]

    @property
    def within_from(self) -> int | None:
        """The first look that shows "within the margin" with 80 % power; ``None``: no look does."""
        return next((look.blocks for look in self.looks if look.within >= POWER), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceLength:
    """What slices of one length decide."""

    length_s: float
    deviation: float
    """Standard deviation of the log-ratio of two arms' slices."""
    half_width: float
    """Half-width of the 95 % interval, as a fraction."""


POWER = 0.8
"""Probability of detection that counts as detectable."""
