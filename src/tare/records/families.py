# SPDX-License-Identifier: Apache-2.0
"""A verdict's family of claims, and what remains of the claim there: docs/method.md, "Many comparisons"."""

from dataclasses import dataclass
from enum import StrEnum

from tare.statistics.estimate import Estimate


class Family(StrEnum):
    """The two kinds of claims of a campaign."""

    PRIMARY = "primary"
    """Claims on a workload's primary metric, declared before the start: Holm's procedure, no false claim at 95 %."""
    EXPLORATORY = "exploratory"
    """Claims on any other metric: the Benjamini-Hochberg procedure, about 5 % of the claims are false."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One claim within its family; all p-values agree with the intervals."""

    family: Family
    size: int
    """Number of claims in the family: m."""
    difference_p: float
    """p-value of "no difference from native" for the claim alone; 1 where the interval does not hold."""
    adjusted_difference_p: float
    """The same within the family; a difference is claimed at 0.05 or less."""
    equivalence_p: float
    """p-value of "beyond the margin" for the claim alone."""
    adjusted_equivalence_p: float
    """The same within the family; "within" is claimed at 0.05 or less."""
    together: Estimate | None
    """The overhead, as a fraction, with the interval that holds jointly with the others of the family: level
    1 - 0.05 / m for a primary claim, 1 - 0.05 k / m for each of the k claimed exploratory ones; ``None`` for an
    exploratory one that is not claimed."""
