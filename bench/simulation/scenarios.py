# SPDX-License-Identifier: Apache-2.0
"""Noise as machines make it, with a planted overhead: S1 to S8 of docs/statistics.md."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
PLANTED = math.log(1.05)
"""The overhead in every scenario, before spikes: +5 %."""
RUN = 0.03
"""Standard deviation of ln(time) of a run: a coefficient of variation of 3 %."""


@dataclass(frozen=True, slots=True)
class Arms:
    """ln(time) of simulated campaigns, each of shape (campaigns, blocks)."""

    first: Floats
    """Native's first slot."""
    second: Floats
    """Native's second slot."""
    environment: Floats

    @property
    def campaigns(self) -> int:
        return len(self.environment)

    @property
    def blocks(self) -> int:
        """Of each campaign."""
        return int(self.environment.shape[1])

    def leading(self, blocks: int) -> "Arms":
        """So many blocks of each campaign, as a look sees them."""
        return Arms(self.first[:, :blocks], self.second[:, :blocks], self.environment[:, :blocks])

    def chosen(self, rows: slice | NDArray[np.intp]) -> "Arms":
        """Those campaigns."""
        return Arms(self.first[rows], self.second[rows], self.environment[rows])

    def as_one(self) -> "Arms":
        """All blocks in one campaign."""
        return Arms(self.first.reshape(1, -1), self.second.reshape(1, -1), self.environment.reshape(1, -1))

    @property
    def log_ratios(self) -> Floats:
        """Per block, as ``treat.pairing`` makes them of two native slots."""
        return self.environment - (self.first + self.second) / 2

    @property
    def control_log_ratios(self) -> Floats:
        return self.second - self.first


Scenario = Callable[[np.random.Generator, int, int], Arms]
"""Generator, campaigns, blocks."""


def spikes(generator: np.random.Generator, shape: tuple[int, int], rate: float) -> Floats:
    """A share of the runs takes longer, by 30 % in the mean (exponential)."""
    spiked = generator.random(shape) < rate
    return np.where(spiked, np.log1p(generator.exponential(0.30, shape)), 0.0)


def clean(deviation: float = RUN, planted: float = PLANTED) -> Scenario:
    return noisy(deviation, planted, 0.0, 0.0)


def noisy(deviation: float, planted: float, native_spikes: float, spikes_here: float) -> Scenario:
    """Lognormal runs, and spikes in shares of native's and of the environment's."""

    def made(generator: np.random.Generator, campaigns: int, blocks: int) -> Arms:
        shape = (campaigns, blocks)
        runs = generator.normal(0.0, deviation, (3, *shape))
        for arm, rate in enumerate((native_spikes, native_spikes, spikes_here)):
            runs[arm] += spikes(generator, shape, rate)
        return Arms(runs[0], runs[1], planted + runs[2])

    return made


def drifting(planted: float = PLANTED, *, interleaved: bool = True) -> Scenario:
    """10 % drift over the campaign, noise shared by neighbours in time (AR(1), rho 0.9), own noise, 3 % spikes.

    Not ``interleaved``: all of native's runs come before the environment's.
    """

    def made(generator: np.random.Generator, campaigns: int, blocks: int) -> Arms:
        slots = 3 * blocks
        host = np.linspace(0.0, 0.10, slots) + autoregressive(generator, campaigns, slots)
        if interleaved:
            host = host.reshape(campaigns, blocks, 3)
            host = np.moveaxis(generator.permuted(host, axis=2), 2, 0)
        else:
            host = np.moveaxis(host.reshape(campaigns, 3, blocks), 1, 0)
        own = generator.normal(0.0, 0.02, host.shape)
        own += np.stack([spikes(generator, (campaigns, blocks), 0.03) for _ in range(3)])
        runs = host + own
        return Arms(runs[0], runs[1], planted + runs[2])

    return made


def autoregressive(generator: np.random.Generator, campaigns: int, slots: int) -> Floats:
    """AR(1) with rho 0.9 and a standard deviation of 3 %, slot after slot."""
    rho, deviation = 0.9, 0.03
    steps = generator.normal(0.0, deviation * math.sqrt(1 - rho**2), (slots, campaigns))
    state = generator.normal(0.0, deviation, campaigns)
    for step in steps:
        state = rho * state + step
        step[:] = state
    return steps.T


def booted(planted: float = PLANTED, *, blocks_per_boot: int = 1) -> Scenario:
    """Each start of the environment has a speed of its own (2 %); three iterations of 1 % are averaged."""

    def made(generator: np.random.Generator, campaigns: int, blocks: int) -> Arms:
        boots = generator.normal(0.0, 0.02, (campaigns, math.ceil(blocks / blocks_per_boot)))
        boot = np.repeat(boots, blocks_per_boot, axis=1)[:, :blocks]
        runs = generator.normal(0.0, 0.01 / math.sqrt(3), (3, campaigns, blocks))
        return Arms(runs[0], runs[1], planted + boot + runs[2])

    return made


def loaded(deviation: float = RUN, planted: float = PLANTED, most: float = 0.6) -> Scenario:
    """A load that comes and goes: a share of the runs is delayed, by half a logarithm in the mean (exponential).

    The share goes up and down between 0 and ``most`` once in a campaign, which begins anywhere in that.
    """

    def made(generator: np.random.Generator, campaigns: int, blocks: int) -> Arms:
        passed = generator.random((campaigns, 1)) + np.arange(blocks) / blocks
        share = most * np.abs(2 * (passed % 1) - 1)
        shape = (3, campaigns, blocks)
        delays = np.where(generator.random(shape) < share, generator.exponential(0.5, shape), 0.0)
        runs = generator.normal(0.0, deviation, shape) + delays
        return Arms(runs[0], runs[1], planted + runs[2])

    return made


def unequal(times: float = 3.0, deviation: float = RUN, planted: float = PLANTED) -> Scenario:
    """The environment's noise is so many times native's, both symmetric."""

    def made(generator: np.random.Generator, campaigns: int, blocks: int) -> Arms:
        runs = generator.normal(0.0, deviation, (3, campaigns, blocks))
        return Arms(runs[0], runs[1], planted + times * runs[2])

    return made


SCENARIOS: Mapping[str, Scenario] = {
    "S1": clean(),
    "S2": noisy(RUN, PLANTED, 0.05, 0.05),
    "S3": noisy(RUN, PLANTED, 0.02, 0.10),
    "S4": drifting(),
    "S5": booted(),
    "S6": booted(blocks_per_boot=5),
    "S7": loaded(),
    "S8": unequal(),
}
