# SPDX-License-Identifier: Apache-2.0
"""What a campaign can and cannot decide, told before it starts, from noise that was measured on this host."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """How much the block log-ratios of one arm vary."""

    spread: float
    """Standard deviation of the log-ratios, which is about the ratios' own, as a fraction."""
    n: int
    """Blocks that it was taken from."""
    source: str
    """Where they were measured, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LookForesight:
    """What one look can decide."""

    blocks: int
    smallest_slowdown: float | None
    """The overhead, as a fraction, that is found slower with 80 % power; ``None``: the look has no interval."""
    within: float
    """The chance that "within the margin" is shown at this look, if there is no overhead at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedBlocks:
    """How many blocks are run on average, if the overhead is so large."""

    overhead: float
    blocks: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Foresight:
    """What a campaign can decide of one arm at this noise."""

    workload: str
    layout: str
    environment: str
    noise: Noise
    looks: tuple[LookForesight, ...]
    expected: tuple[ExpectedBlocks, ...]

    @property
    def within_from(self) -> int | None:
        """The first look that shows "within the margin" with 80 % power; ``None``: none of them does."""
        return next((look.blocks for look in self.looks if look.within >= POWER), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceLength:
    """What slices of one length decide."""

    length_s: float
    deviation: float
    """Standard deviation of the log-ratio of two arms' slices."""
    half_width: float
    """Of the 95 % interval, as a fraction."""


POWER = 0.8
"""The chance with which something must be found to count as found."""
