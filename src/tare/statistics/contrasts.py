# SPDX-License-Identifier: Apache-2.0
"""Blocks whose centre is to be estimated: three kinds, each with its own interval and p-values.

Looks, corrections for many claims and sentences all work on a ``Contrast``, whatever its interval. To add an interval,
write a function, an ``Interval``, which ``ByInterval`` turns into a contrast; ``analyze.contrasts`` assigns blocks to
kinds.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol, TypeAlias

import numpy as np

from tare.statistics import aligned_ranks, sharper
from tare.statistics.blocks import LEAST_BLOCKS
from tare.statistics.estimate import LEVEL, Estimate
from tare.statistics.series import widening
from tare.statistics.signed_rank import count_at_most, hodges_lehmann, share_at_most

Values: TypeAlias = tuple[float, ...]
_SMALLEST_ERROR = 60
"""As a power of one half: the p-values of ``ByInterval`` go no lower."""
_HALVINGS = 24
"""Of the exponent: a p-value is right to a relative 1e-5."""
_NEXT_TO_0 = 1e-8
"""The least absolute value of a logarithm that is shown to differ from 0: a millionth of a per cent, as printed."""


class Contrast(Protocol):
    """Blocks whose centre, a log-ratio, is to be estimated."""

    @property
    def log_ratios(self) -> Values:
        """One per block."""

    @property
    def controls(self) -> Values:
        """Log-ratio of the second native run to the first, one per block; empty where a block is one difference."""

    def of(self, log_ratios: Values, controls: Values) -> "Contrast":
        """Other blocks with the same interval."""

    def point(self) -> float: ...

    def bounds(self, error: float) -> tuple[float, float, float] | None:
        """Low, high and the exact level of an interval that misses with a chance of at most ``error``.

        ``None`` where there are too few blocks.
        """

    def above(self, shift: float) -> float:
        """One-sided p-value of "the centre is not above ``shift``"."""

    def below(self, shift: float) -> float:
        """One-sided p-value of "the centre is not below ``shift``"."""


Interval: TypeAlias = Callable[[Contrast, float], Estimate]
"""Blocks and the permitted chance of a miss → centre and ends on the scale of logarithms.

A larger chance never gives a wider interval. No ends where there are too few blocks.
"""


@dataclass(frozen=True, slots=True)
class Differences:
    """One difference per block, symmetric around its centre: Wilcoxon's signed ranks, exactly."""

    log_ratios: Values

    @property
    def controls(self) -> Values:
        return ()

    def of(self, log_ratios: Values, controls: Values) -> "Differences":
        del controls
        return Differences(log_ratios)

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
    """An environment's run and two native runs per block: aligned ranks, whatever the noise is like."""

    log_ratios: Values
    """Of the environment against the mean of both native runs."""
    controls: Values

    def of(self, log_ratios: Values, controls: Values) -> "Blocks":
        return Blocks(log_ratios, controls)

    def point(self) -> float:
        return _point(self)

    def bounds(self, error: float) -> tuple[float, float, float] | None:
        ends = _bounds(self, error)
        return None if ends is None else (*ends, 1 - error)

    def above(self, shift: float) -> float:
        return sharper.one_sided(self.log_ratios, self.controls, shift)

    def below(self, shift: float) -> float:
        return sharper.one_sided(_turned(self.log_ratios), self.controls, -shift)


@dataclass(frozen=True, slots=True)
class ByInterval:
    """Blocks with the interval that a function gives; a p-value is the least error whose interval excludes a shift."""

    interval: Interval
    log_ratios: Values
    controls: Values = ()

    def of(self, log_ratios: Values, controls: Values) -> "ByInterval":
        return ByInterval(self.interval, log_ratios, controls)

    def point(self) -> float:
        return self.interval(self, 1 - LEVEL).point

    def bounds(self, error: float) -> tuple[float, float, float] | None:
        ends = self.interval(self, error) if error > 0 else None
        if ends is None or ends.low is None or ends.high is None:
            return None
        return ends.low, ends.high, ends.level

    def above(self, shift: float) -> float:
        return _least_error(lambda error: self._ends(error)[0] > shift) / 2

    def below(self, shift: float) -> float:
        return _least_error(lambda error: self._ends(error)[1] < shift) / 2

    def _ends(self, error: float) -> tuple[float, float]:
        ends = self.bounds(error)
        return (-math.inf, math.inf) if ends is None else ends[:2]


def widened(contrast: Contrast) -> Contrast:
    """The blocks stretched about their centre as far as they depend on each other.

    Every interval, p-value and sentence derived from them is then that of fewer independent blocks.
    """
    factor = widening(contrast.log_ratios)
    if factor <= 1:
        return contrast
    centre = _exact(contrast.point(), contrast.log_ratios)
    stretched = tuple(centre + factor * (value - centre) for value in contrast.log_ratios)
    return contrast.of(stretched, tuple(factor * value for value in contrast.controls))


def _exact(centre: float, values: Values) -> float:
    """The value that a searched centre is, if any: equal times must not differ by a rounding error."""
    nearest = min(values, key=lambda value: abs(value - centre))
    precision = aligned_ranks.PRECISION * max(1.0, max(values) - min(values))
    return nearest if abs(nearest - centre) <= precision else centre


def part(contrast: Contrast, blocks: slice) -> Contrast:
    """The contrast of only these blocks."""
    return contrast.of(contrast.log_ratios[blocks], contrast.controls[blocks])


def joined(contrasts: Sequence[Contrast]) -> Contrast:
    """All blocks of several contrasts; as differences, which all kinds have, if the contrasts differ in kind."""
    log_ratios = tuple(value for contrast in contrasts for value in contrast.log_ratios)
    if len({type(contrast) for contrast in contrasts}) != 1:
        return Differences(log_ratios)
    return contrasts[0].of(log_ratios, tuple(value for contrast in contrasts for value in contrast.controls))


def mirrored(contrast: Contrast) -> Contrast:
    """Native against the environment instead of the environment against native."""
    return contrast.of(_turned(contrast.log_ratios), contrast.controls)


def _turned(log_ratios: Sequence[float]) -> Values:
    return tuple(-value for value in log_ratios)


def estimate(contrast: Contrast, error: float = 1 - LEVEL) -> Estimate:
    """The centre, on the scale of logarithms, with the exact level where there is an interval.

    Raises ``ValueError`` without blocks.
    """
    n = len(contrast.log_ratios)
    if n == 0:
        raise ValueError("no blocks to estimate from")
    without = Estimate(point=contrast.point(), low=None, high=None, level=1 - error, n=n)
    bounds = contrast.bounds(error)
    return replace(without, low=bounds[0], high=bounds[1], level=bounds[2]) if bounds else without


def looked(contrast: Contrast, nominal: float, error: float, *, fixed: bool) -> Estimate:
    """The estimate at the ``nominal`` level of one of several looks, which together miss with a chance of ``error``.

    ``fixed``: there is one look, and the level is the one it reaches.
    """
    estimated = estimate(contrast, nominal)
    return estimated if fixed and estimated.low is not None else replace(estimated, level=1 - error)


@lru_cache(maxsize=1024)
def _signed(contrast: Differences, level: float) -> Estimate:
    return hodges_lehmann(contrast.log_ratios, level)


@lru_cache(maxsize=4096)
def _point(contrast: Blocks) -> float:
    return float(aligned_ranks.points(np.asarray(contrast.log_ratios), np.asarray(contrast.controls)))


@lru_cache(maxsize=4096)
def _bounds(contrast: Blocks, error: float) -> tuple[float, float] | None:
    """Ends, cached because deciding, reporting and judging all ask for every look.

    A bound next to 0 is moved to the side where the p-value puts it: equal times make steps there, and the search for a
    step ends a rounding error beside it.
    """
    ends = sharper.bounds(contrast.log_ratios, contrast.controls, error / 2)
    if ends is None:
        return None
    low, high = ends
    slower, faster = (side(0.0) <= error / 2 for side in (contrast.above, contrast.below))
    return _beside(low, beyond=slower), -_beside(-high, beyond=faster)


def _beside(bound: float, *, beyond: bool) -> float:
    return max(bound, _NEXT_TO_0) if beyond else min(bound, 0.0)


def _least_error(leaves_out: Callable[[float], bool]) -> float:
    """The smallest chance of a miss at which an interval excludes something, rounded up; 2 if none does."""
    if not leaves_out(1.0):
        return 2.0
    low, high = -float(_SMALLEST_ERROR), 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if leaves_out(math.exp2(middle)) else (middle, high)
    return math.exp2(high)
