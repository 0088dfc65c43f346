# SPDX-License-Identifier: Apache-2.0
"""The papers' own treatments for many campaigns at once: unpaired, as they were."""

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from bench.simulation.intervals import Bounds
from bench.simulation.scenarios import Floats


@dataclass(frozen=True, slots=True)
class Figures:
    """One arm of each campaign."""

    mean: Floats
    deviation: Floats
    used: int

    @property
    def error(self) -> Floats:
        """Standard error of the mean, as if what was left out had never been."""
        return np.asarray(self.deviation / np.sqrt(self.used))

    @property
    def low(self) -> Floats:
        return self.mean - float(stdtrit(self.used - 1, 0.975)) * self.error

    @property
    def high(self) -> Floats:
        return self.mean + float(stdtrit(self.used - 1, 0.975)) * self.error


def plain_t(times: Floats) -> Figures:
    """R15: the mean of all runs."""
    return Figures(times.mean(axis=-1), times.std(axis=-1, ddof=1), times.shape[-1])


def trimmed(times: Floats) -> Figures:
    """B16 and B17: the highest and the lowest left out."""
    return plain_t(np.sort(times, axis=-1)[:, 1:-1])


def ratio(here: Figures, native: Figures) -> Bounds:
    """ln of the ratio of two means with Welch's t interval, the errors of the logarithms by the delta method."""
    shares = (here.error / here.mean) ** 2, (native.error / native.mean) ** 2
    variance = shares[0] + shares[1]
    freedom = variance**2 / (shares[0] ** 2 / (here.used - 1) + shares[1] ** 2 / (native.used - 1))
    half = stdtrit(freedom, 0.975) * np.sqrt(variance)
    point = np.log(here.mean / native.mean)
    return point - half, point + half


def best_of_five(times: Floats) -> Floats:
    """L12: the shortest of the first five."""
    return np.asarray(times[:, :5].min(axis=-1))
