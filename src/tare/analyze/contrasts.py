# SPDX-License-Identifier: Apache-2.0
"""What an overhead is estimated from, block by block: of two kinds, each with the interval that holds for it."""

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol

import numpy as np

from tare.records import CONTROL_NAME, Estimate, Summary
from tare.statistics import aligned_ranks, sharper
from tare.statistics.blocks import LEAST_BLOCKS
from tare.statistics.estimate import LEVEL
from tare.statistics.series import widening
from tare.statistics.signed_rank import count_at_most, hodges_lehmann, share_at_most

_NEXT_TO_0 = 1e-12
"""A logarithm that is shown to differ from 0 is at least so large."""


class Contrast(Protocol):
    """Blocks whose centre, a log-ratio, is to be known."""

    @property
    def log_ratios(self) -> tuple[float, ...]:
        """One per block."""

    def point(self) -> float: ...

    def bounds(self, error: float) -> tuple[float, float, float] | None:
        """Low, high and the exact level of an interval that misses with a chance of ``error`` at most.

        ``None`` where so few blocks have none.
        """

    def above(self, shift: float) -> float:
        """One-sided p-value of "the centre is not above ``shift``"."""

    def below(self, shift: float) -> float:
        """One-sided p-value of "the centre is not below ``shift``"."""


@dataclass(frozen=True, slots=True)
class Differences:
    """One difference per block, symmetric around its centre: Wilcoxon's signed ranks, exactly."""

    log_ratios: tuple[float, ...]

    def point(self) -> float:
        return _signed(self, LEVEL).point

    def bounds(self, error: float) -> tuple[float, float, float] | None:
        ends = _signed(self, 1 - error)
        if ends.low is None or ends.high is None or ends.n < LEAST_BLOCKS:
            return None
        return ends.low, ends.high, ends.level

    def above(self, shift: float) -> float:
        return share_at_most(len(self.log_ratios), count_at_most(self.log_ratios, shift))

    def below(self, shift: float) -> float:
        return Differences(_turned(self.log_ratios)).above(-shift)


@dataclass(frozen=True, slots=True)
class Blocks:
    """An environment's run and two native ones per block: aligned ranks, whatever the noise is like."""

    log_ratios: tuple[float, ...]
    """Of the environment against the mean of both natives."""
    controls: tuple[float, ...]
    """Of the second native against the first."""

    def point(self) -> float:
        return _point(self)

    def bounds(self, error: float) -> tuple[float, float, float] | None:
        ends = _bounds(self, error)
        return None if ends is None else (*ends, 1 - error)

    def above(self, shift: float) -> float:
        return sharper.one_sided(self.log_ratios, self.controls, shift)

    def below(self, shift: float) -> float:
        return sharper.one_sided(_turned(self.log_ratios), self.controls, -shift)


def contrast_of(summary: Summary, numbers: Container[int] | None = None) -> Contrast:
    """The blocks of a summary that have one of the ``numbers``, widened; all of them without these."""
    return widened(unwidened_of(summary, numbers))


def unwidened_of(summary: Summary, numbers: Container[int] | None = None) -> Contrast:
    """The same as they were measured: what is made of several summaries is widened once, by its own dependence.

    Native against native has no third run, and its two are alike, which makes their difference symmetric.
    """
    log_ratios, controls = (
        _taken(summary, values, numbers) for values in (summary.log_ratios, summary.control_log_ratios)
    )
    return Differences(log_ratios) if summary.environment == CONTROL_NAME else Blocks(log_ratios, controls)


def controls_of(summary: Summary, numbers: Container[int] | None = None) -> Contrast:
    """Native against native in those blocks."""
    return widened(Differences(_taken(summary, summary.control_log_ratios, numbers)))


def widened(contrast: Contrast) -> Contrast:
    """The blocks stretched about their centre as far as they depend on each other.

    So every interval, p-value and word made of them is as of fewer independent blocks.
    """
    factor = widening(contrast.log_ratios)
    if factor <= 1:
        return contrast
    centre = contrast.point()
    stretched = tuple(centre + factor * (value - centre) for value in contrast.log_ratios)
    if isinstance(contrast, Blocks):
        return Blocks(stretched, tuple(factor * value for value in contrast.controls))
    return Differences(stretched)


def _taken(summary: Summary, values: Sequence[float], numbers: Container[int] | None) -> tuple[float, ...]:
    rows = zip(summary.blocks, values, strict=True)
    return tuple(value for block, value in rows if numbers is None or block.block in numbers)


def part(contrast: Contrast, blocks: slice) -> Contrast:
    """Those of its blocks."""
    if isinstance(contrast, Blocks):
        return Blocks(contrast.log_ratios[blocks], contrast.controls[blocks])
    return Differences(contrast.log_ratios[blocks])


def joined(contrasts: Sequence[Contrast]) -> Contrast:
    """All blocks of contrasts of one kind."""
    log_ratios = tuple(value for contrast in contrasts for value in contrast.log_ratios)
    whole = [contrast for contrast in contrasts if isinstance(contrast, Blocks)]
    if len(whole) < len(contrasts) or not contrasts:
        return Differences(log_ratios)
    return Blocks(log_ratios, tuple(value for contrast in whole for value in contrast.controls))


def mirrored(contrast: Contrast) -> Contrast:
    """Native against the environment instead of the environment against native."""
    turned = _turned(contrast.log_ratios)
    return replace(contrast, log_ratios=turned) if isinstance(contrast, Blocks) else Differences(turned)


def _turned(log_ratios: Sequence[float]) -> tuple[float, ...]:
    return tuple(-value for value in log_ratios)


def estimate(contrast: Contrast, error: float = 1 - LEVEL) -> Estimate:
    """The centre, on the scale of logarithms, with the exact level where there is an interval.

    Raises ``ValueError`` without blocks.
    """
    n = len(contrast.log_ratios)
    if n == 0:
        raise ValueError("no blocks to estimate from")
    without = Estimate(point=contrast.point(), low=None, high=None, level=1 - error, n=n)
    found = contrast.bounds(error)
    return replace(without, low=found[0], high=found[1], level=found[2]) if found else without


def looked(contrast: Contrast, nominal: float, error: float, *, fixed: bool) -> Estimate:
    """The same at the ``nominal`` level of one look of several, which all together miss with a chance of ``error``.

    ``fixed``: there is one look, and the level is that which it reaches.
    """
    found = estimate(contrast, nominal)
    return found if fixed and found.low is not None else replace(found, level=1 - error)


@lru_cache(maxsize=1024)
def _signed(contrast: Differences, level: float) -> Estimate:
    return hodges_lehmann(contrast.log_ratios, level)


@lru_cache(maxsize=4096)
def _point(contrast: Blocks) -> float:
    return float(aligned_ranks.points(np.asarray(contrast.log_ratios), np.asarray(contrast.controls)))


@lru_cache(maxsize=4096)
def _bounds(contrast: Blocks, error: float) -> tuple[float, float] | None:
    """Kept, as every look is asked for by those who decide, by those who tell, and by those who judge.

    A bound next to 0 is on that side of it where the p-value puts it: equal times make steps there, and the search for
    a step's place ends a rounding beside it.
    """
    ends = sharper.bounds(contrast.log_ratios, contrast.controls, error / 2)
    if ends is None:
        return None
    low, high = ends
    slower, faster = (side(0.0) <= error / 2 for side in (contrast.above, contrast.below))
    return _beside(low, beyond=slower), -_beside(-high, beyond=faster)


def _beside(bound: float, *, beyond: bool) -> float:
    return max(bound, _NEXT_TO_0) if beyond else min(bound, 0.0)
