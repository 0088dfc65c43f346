# SPDX-License-Identifier: Apache-2.0
"""How much more time a workload takes with one host than with another, where hosts take turns.

Model: ln T of a native run = level of its cell or block + the effect of each host that has a part; least squares.
Runs at the same time on different hosts are compared with each other (a level for each block), others over the blocks
of their cell. An effect is a host's own minus the mean of the others', and known where the runs tell them apart: hosts
that were always together have none. Intervals hold for all hosts of a metric together (Bonferroni).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from tare.records.diagnostics import HostEffect, HostTime, HostTimes
from tare.statistics.distributions import student_quantile
from tare.statistics.estimate import LEVEL, Estimate, as_fraction

_WORTH_A_NAME = 0.05
_LEAST_FREEDOM = 2
_ROUNDING = 1e-8
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Fit:
    """Least squares of the times; ``inverse`` is the pseudo-inverse of the design's square."""

    effects: Floats
    inverse: Floats
    variance: float
    freedom: int

    def estimate(self, contrast: Floats, level: float, n: int) -> Estimate | None:
        """The contrast with its interval; ``None`` where the runs do not tell."""
        square = self.inverse @ contrast
        if not np.allclose(np.linalg.pinv(self.inverse, hermitian=True) @ square, contrast, atol=_ROUNDING):
            return None
        point = float(contrast @ self.effects)
        half_width = student_quantile(self.freedom, (1 + level) / 2) * sqrt(
            max(0.0, self.variance * float(contrast @ square))
        )
        return Estimate(point=point, low=point - half_width, high=point + half_width, level=level, n=n)


def host_effects(times: Sequence[HostTimes]) -> tuple[HostEffect, ...]:
    """Metric after metric, in each the slowest host first."""
    return tuple(
        effect for each in times for effect in sorted(_of_metric(each), key=lambda own: -own.slower.point)
    )


def _of_metric(times: HostTimes) -> Iterator[HostEffect]:
    hosts = sorted({host for each in times.times for host in each.hosts})
    fit = _fitted(times.times, hosts)
    if fit is None:
        return
    level = 1 - (1 - LEVEL) / len(hosts)
    for place, host in enumerate(hosts):
        contrast = np.zeros(len(fit.effects))
        contrast[: len(hosts)] = -1 / (len(hosts) - 1)
        contrast[place] = 1.0
        n = len({each.block for each in times.times if host in each.hosts})
        if estimate := fit.estimate(contrast, level, n):
            slower = as_fraction(estimate)
            is_slow = slower.low is not None and slower.low > _WORTH_A_NAME
            yield HostEffect(
                workload=times.workload, metric=times.metric, host=host, slower=slower, is_slow=is_slow
            )


def _fitted(times: Sequence[HostTime], hosts: Sequence[str]) -> _Fit | None:
    """``None`` with one host, or with too few runs for the number of levels and hosts."""
    if len(hosts) < 2:  # noqa: PLR2004 - one host has nothing to be compared with
        return None
    levels = _levels(times)
    columns = {level: len(hosts) + place for place, level in enumerate(dict.fromkeys(levels))}
    design = np.zeros((len(times), len(hosts) + len(columns)))
    for row, (own, level) in enumerate(zip(times, levels, strict=True)):
        design[row, columns[level]] = 1.0
        for host in own.hosts:
            design[row, hosts.index(host)] = 1.0
    values = np.array([own.log_time for own in times])
    freedom = len(times) - int(np.linalg.matrix_rank(design))
    if freedom < _LEAST_FREEDOM:
        return None
    inverse: Floats = np.asarray(np.linalg.pinv(design.T @ design, hermitian=True), dtype=np.float64)
    effects = inverse @ design.T @ values
    residual = values - design @ effects
    return _Fit(effects, inverse, float(residual @ residual) / freedom, freedom)


def _levels(times: Sequence[HostTime]) -> list[tuple[str, int]]:
    """What each run shares with those that it is compared with: its block, if other hosts ran in it, else its cell."""

    def place(own: HostTime) -> tuple[str, str, int]:
        return own.cell.workload, own.cell.layout, own.block

    met = {
        where: len({own.hosts for own in group}) for where, group in groupby(sorted(times, key=place), place)
    }
    return [(own.cell.layout, own.block if met[place(own)] > 1 else -1) for own in times]
