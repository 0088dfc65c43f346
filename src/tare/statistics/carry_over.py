# SPDX-License-Identifier: Apache-2.0
"""Whether it matters what ran just before."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from tare.statistics.chance import Floats, orders, share_at_least
from tare.statistics.series import mean_ranks, spread_of

_FEWEST_OF_A_KIND = 2
_RARE = "something rare"


def carry_over(values: Sequence[float], before: Sequence[str]) -> tuple[float, float] | None:
    """Kruskal and Wallis's H of the values by what ran before each, and its p-value by random relabelling.

    Predecessors that occur once are one kind together. ``None`` with fewer than two kinds: nothing to compare.
    Kruskal and Wallis, Journal of the American Statistical Association 47 (1952) 583-621.
    """
    counts = Counter(before)
    kinds = [name if counts[name] >= _FEWEST_OF_A_KIND else _RARE for name in before]
    names = sorted(set(kinds))
    if len(names) < _FEWEST_OF_A_KIND:
        return None
    member = np.array([[kind == name for name in names] for kind in kinds], dtype=np.float64)
    ranks = mean_ranks(spread_of(np.asarray(values)))
    statistic = float(_between(ranks[None, :], member)[0])
    return statistic, share_at_least(_between(ranks[orders(ranks.size)], member), statistic)


def _between(ranks: Floats, member: Floats) -> Floats:
    """H without the correction for ties, which is the same for every order of the same ranks."""
    n = ranks.shape[-1]
    sums, sizes = ranks @ member, np.sum(member, axis=0)
    found: Floats = 12 / (n * (n + 1)) * np.sum(sums**2 / sizes, axis=-1) - 3 * (n + 1)
    return found
