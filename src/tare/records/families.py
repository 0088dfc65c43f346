# SPDX-License-Identifier: Apache-2.0
"""Which family of claims a verdict belongs to, and what is left of it there: docs/method.md, "Many comparisons"."""

from dataclasses import dataclass
from enum import StrEnum

from tare.statistics.estimate import Estimate


class Family(StrEnum):
    """The two kinds of claims of a campaign."""

    PRIMARY = "primary"
    """On a workload's primary metric, declared before the start: Holm's procedure, no false claim at 95 %."""
    EXPLORATORY = "exploratory"
    """On any other metric: the procedure of Benjamini and Hochberg, about 5 % of the claims are false."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One claim among all those of its family; all p-values agree with the intervals."""

    family: Family
    size: int
    """How many claims the family has: m."""
    difference_p: float
    """Of "no difference to native", the claim by itself; 1 where the interval does not hold."""
    adjusted_difference_p: float
    """The same among all of the family; a difference is claimed at 0.05 or less."""
    equivalence_p: float
    """Of "beyond the margin", the claim by itself."""
    adjusted_equivalence_p: float
    """The same among all of the family; "within" is claimed at 0.05 or less."""
    together: Estimate | None
    """The overhead, as a fraction, with the interval that holds together with the others of the family: level
    1 - 0.05 / m for a primary claim, 1 - 0.05 k / m for each of the k exploratory ones that are claimed; ``None``:
    an exploratory one that is not claimed."""
