# SPDX-License-Identifier: Apache-2.0
"""Many claims at once: p-values adjusted within a family.

Holm, Scandinavian Journal of Statistics 6 (1979) 65-70: no false claim at all, with the requested chance, whatever the
dependence. Benjamini and Hochberg, Journal of the Royal Statistical Society B 57 (1995) 289-300: on average no more
than this share of the claims is false; for claims that depend positively on each other, as claims that share a native
run do. Benjamini and Yekutieli, Journal of the American Statistical Association 100 (2005) 71-81: intervals of k of m
selected claims at level 1 - 0.05 k / m.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

ERROR = 0.05
"""Of each family: the chance of any false claim, or the mean share of false ones."""


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjust each p-value: shape (..., m), claims along the last axis; a claim holds at ``ERROR`` or less."""
    p, order = _sorted(p_values)
    m = p.shape[-1]
    stepped = np.maximum.accumulate(p * np.arange(m, 0, -1), axis=-1)
    return _unsorted(np.minimum(stepped, 1.0), order)


def benjamini_hochberg(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjust each p-value: shape (..., m), claims along the last axis; a claim holds at ``ERROR`` or less."""
    p, order = _sorted(p_values)
    m = p.shape[-1]
    scaled = p * m / np.arange(1, m + 1)
    stepped = np.minimum.accumulate(scaled[..., ::-1], axis=-1)[..., ::-1]
    return _unsorted(np.minimum(stepped, 1.0), order)


def adjusted(p_values: Sequence[float], *, exploratory: bool) -> list[float]:
    """Adjust the p-values of one family by its procedure."""
    if not p_values:
        return []
    values = benjamini_hochberg(p_values) if exploratory else holm(p_values)
    return [float(value) for value in values]


def joint_error(p_values: Sequence[float], *, exploratory: bool) -> float:
    """Chance of a miss for the interval of each claim of a family, so that words read from the intervals hold.

    Otherwise ``ERROR`` / m: all m intervals hold jointly, whatever their dependence (Bonferroni). ``exploratory``:
    ``ERROR`` k / m for the largest k of which k claims are decided by such intervals: of the intervals of the claims
    made, a share of ``ERROR`` misses on average (Benjamini and Yekutieli). ``p_values``: the least error at which each
    claim's interval decides it.
    """
    made = sum(map(holds, benjamini_hochberg(p_values))) if exploratory and p_values else 1
    return ERROR * max(1, made) / max(1, len(p_values))


def among(p_value: float, error: float) -> float:
    """The p-value adjusted for a family in which each claim may err with the chance ``error`` of ``joint_error``."""
    return min(1.0, p_value * ERROR / error)


def holds(adjusted_p: float) -> bool:
    """Whether a claim may be made; 0.05 / m times m may exceed 0.05 by a rounding error."""
    return adjusted_p <= ERROR * (1 + 1e-9)


def _sorted(p_values: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, axis=-1, kind="stable")
    return np.take_along_axis(p, order, axis=-1), order


def _unsorted(values: NDArray[np.float64], order: NDArray[np.intp]) -> NDArray[np.float64]:
    like = np.empty_like(values)
    np.put_along_axis(like, order, values, axis=-1)
    return like
