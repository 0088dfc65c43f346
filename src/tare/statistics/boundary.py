# SPDX-License-Identifier: Apache-2.0
"""How much of the permitted error each look may use, so that looking several times costs no honesty.

Lan and DeMets, Biometrika 70 (1983) 659-663: an error-spending function says how much of the error is used up
when a share of the blocks is in. Armitage, McPherson and Rowe, Journal of the Royal Statistical Society A 132
(1969) 235-244: the recursion that gives the nominal level of each look. Jennison and Turnbull, Journal of the
Royal Statistical Society B 51 (1989) 305-361: intervals at these levels hold at all looks together.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tare.statistics.blocks import fewest_blocks
from tare.statistics.distributions import normal_quantile, normal_share, root

ERROR = 0.05
"""Permitted chance that the interval of any look misses."""
FARTHEST = 8.3
"""Standard deviations beyond which a normal distribution has less than 1e-16: practically never."""
_FEWEST_NODES, _MOST_NODES = 96, 640
_NODES_PER_STEP = 5.0
_NODES_AT_ONCE = 32
"""Every number of nodes is a multiple of this, so that few rules are needed."""


def spending(n: int, total: int) -> float:
    """Share of the error that may be used up when ``n`` of ``total`` blocks are in: (n / total) squared."""
    return min(1.0, n / total) ** 2


def spending_with(additions: int) -> float:
    """Share of the error used up once a plan that spent all of it got more blocks so many times: 1.5, 1.75, ...

    The first plan may use up all of the error, so that nothing is left for a second look. Each addition permits half as
    much more as the one before: however often blocks are added, all looks together err at most twice as often.
    """
    return 2.0 - 0.5**additions


@lru_cache(maxsize=1024)
def boundary(ns: tuple[int, ...], spent: tuple[float, ...], error: float = ERROR) -> tuple[float, ...]:
    """Give each look's nominal two-sided level of error; 0 where there are too few values for an interval.

    ``ns``: how many values each look has, never falling. ``spent``: the share of ``error`` that all looks up to this
    one may use, above 1 for blocks added later (``spending_with``). Later looks may use the error that a look without
    an interval leaves over. A look without new values repeats the previous one. Raises ``ValueError`` if either
    sequence falls.
    """
    _check(ns, spent)
    walk = _Walk()
    levels: list[float] = []
    for place, (n, share) in enumerate(zip(ns, spent, strict=True)):
        if place and n == ns[place - 1]:
            levels.append(levels[-1])
            continue
        nominal = walk.nominal(n, error * share)
        levels.append(nominal if nominal > 0 and n >= fewest_blocks(nominal) else 0.0)
        walk.step(n, levels[-1])
    return tuple(levels)


@lru_cache(maxsize=64)
def constant_spending(looks: tuple[int, ...], error: float = ERROR) -> tuple[float, ...]:
    """Share of ``error`` used up after each look when all looks have the same nominal level.

    Pocock, Biometrika 64 (1977) 191-199, for the campaign's own looks. It can decide earlier than ``spending``, at the
    price of a wider final interval.
    """
    if len(looks) == 1:
        return (1.0,)
    nominal = root(lambda level: _used(looks, level)[-1] - error, 1e-9, error)
    return (*(used / error for used in _used(looks, nominal)[:-1]), 1.0)


def _used(looks: Sequence[int], nominal: float) -> list[float]:
    walk = _Walk()
    used = []
    for look in looks:
        walk.step(look, nominal)
        used.append(walk.used)
    return used


def _check(ns: tuple[int, ...], spent: tuple[float, ...]) -> None:
    if list(ns) != sorted(ns) or list(spent) != sorted(spent):
        raise ValueError(f"looks must not fall: {ns} values, {spent} spent")


@lru_cache(maxsize=32)
def _rule(count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes and weights on -1 to 1, cached: computing them takes far longer than using them."""
    points, weights = np.polynomial.legendre.leggauss(count)
    return points, weights


class _Walk:
    """A Brownian motion observed at the looks: its position while no look has rejected.

    The standardized statistic after n values is taken as B(n) / sqrt(n). The density of B over the region without a
    rejection is kept at the nodes of a Gauss-Legendre rule.
    """

    def __init__(self) -> None:
        self.used = 0.0
        """Chance that some look so far rejects although there is no effect."""
        self._n = 0
        self._nodes: NDArray[np.float64] = np.zeros(1)
        self._mass: NDArray[np.float64] = np.ones(1)
        """Weight times density at each node."""

    def nominal(self, n: int, target: float) -> float:
        """Two-sided level of a look at ``n`` with which the chance of any rejection reaches ``target``."""
        if not self._n:
            return target
        room = target - self.used
        if n <= self._n or room <= 0 or self._crossing(n, FARTHEST) >= room:
            return 0.0
        if self._crossing(n, 0.0) <= room:
            return 1.0
        bound = root(lambda z: self._crossing(n, z) - room, 0.0, FARTHEST)
        return 2 * normal_share(-bound)

    def step(self, n: int, level: float) -> None:
        """Go on to the look at ``n``, which rejects at the two-sided ``level``."""
        if n <= self._n:
            return
        bound = FARTHEST if level <= 0 else min(FARTHEST, -normal_quantile(level / 2))
        self.used += self._crossing(n, bound)
        step, reach = math.sqrt(n - self._n), bound * math.sqrt(n)
        count = round(min(_MOST_NODES, max(_FEWEST_NODES, _NODES_PER_STEP * 2 * reach / step)))
        points, weights = _rule(-(-count // _NODES_AT_ONCE) * _NODES_AT_ONCE)
        nodes = reach * points
        moved = np.exp(-(((nodes[:, None] - self._nodes[None, :]) / step) ** 2) / 2) @ self._mass
        self._mass = reach * weights * moved / (step * math.sqrt(2 * math.pi))
        self._n, self._nodes = n, nodes

    def _crossing(self, n: int, bound: float) -> float:
        """Chance to exceed ``bound`` standard deviations on either side at ``n`` for the first time."""
        step, reach = math.sqrt(n - self._n), bound * math.sqrt(n)
        beyond = [normal_share(z) for z in ((self._nodes - reach) / step).tolist()]
        return 2 * float(np.asarray(beyond) @ self._mass)
