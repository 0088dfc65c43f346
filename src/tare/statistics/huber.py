# SPDX-License-Identifier: Apache-2.0
"""A mean that a few far values cannot ruin: Huber's "proposal 2", with its standard error.

Values farther from the centre than ``_REACH`` standard deviations are moved to that distance; centre and deviation are
the mean and the corrected deviation of the values so moved, found by repetition (Huber, Annals of Mathematical
Statistics 35 (1964) 73-101; the repetition is "algorithm A" of ISO 13528). Where no value is far, they are the plain
ones.

The standard error is that of a mean of moved values, divided by the share of values that were not moved, with as many
degrees of freedom as there are unmoved values, less one, as for trimmed means (Tukey and McLaughlin, Sankhya A 25
(1963) 331-352; Yuen, Biometrika 61 (1974) 165-170).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tare.statistics.distributions import normal_share

Floats = NDArray[np.float64]
_REACH = 2.0
"""In normal noise a value is rarely moved, and one far value of seven is: the farthest that one of n values can lie
from their mean is (n - 1) / sqrt(n) standard deviations."""
_DENSITY = math.exp(-(_REACH**2) / 2) / math.sqrt(2 * math.pi)
_SHARE = 1 - 2 * normal_share(-_REACH) - 2 * _REACH * _DENSITY + 2 * _REACH**2 * normal_share(-_REACH)
"""Of a normal distribution's variance that is left when its far values are moved."""
_MOST_MOVED = 0.25
"""Share of the values: more are not a few far ones. Then, or among ties, the deviation would shrink to 0."""
_STEPS = 60
_PRECISION = 1e-9
"""Of the deviation, at which the repetition ends."""


@dataclass(frozen=True, slots=True)
class Centre:
    """One entry per sample; ``values`` with the far ones moved, in the samples' own shape."""

    values: Floats
    mean: Floats
    error: Floats
    """Standard error of the mean."""
    freedom: NDArray[np.int_]


def centre(samples: Floats) -> Centre:
    """Of each sample: shape (..., n) to (...), n at least 2."""
    n = samples.shape[-1]
    first = samples[..., :1]
    apart = samples - first
    moved = _moved(apart)
    unmoved = np.count_nonzero(moved == apart, axis=-1)
    too_many = unmoved < (1 - _MOST_MOVED) * n
    moved = np.where(too_many[..., None], apart, moved)
    unmoved = np.where(too_many, n, unmoved)
    deviation = moved.std(axis=-1, ddof=1)
    return Centre(
        values=moved + first,
        mean=moved.mean(axis=-1) + first[..., 0],
        error=np.asarray(deviation * math.sqrt(n) / unmoved),
        freedom=unmoved - 1,
    )


def _moved(values: Floats) -> Floats:
    """The deviation starts at its largest and falls, so that of several solutions the widest counts."""
    mean, deviation = values.mean(axis=-1), values.std(axis=-1, ddof=1) / math.sqrt(_SHARE)
    moved = values
    for _ in range(_STEPS):
        reach = _REACH * deviation
        moved = np.clip(values, (mean - reach)[..., None], (mean + reach)[..., None])
        steps = moved.mean(axis=-1) - mean, moved.std(axis=-1, ddof=1) / math.sqrt(_SHARE) - deviation
        mean, deviation = mean + steps[0], deviation + steps[1]
        if np.all(np.maximum(*np.abs(steps)) <= _PRECISION * deviation):
            break
    return moved
