# SPDX-License-Identifier: Apache-2.0
"""The environments of a cell compared with each other: docs/method.md, "Ranking"."""

from dataclasses import dataclass

from tare.records.treated import Cell
from tare.statistics.estimate import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class PairDifference:
    """Two environments, native included, on the primary metric in their common blocks."""

    first: str
    second: str
    difference: Estimate
    """How much more time the second takes than the first, as a fraction; the interval holds individually."""
    adjusted_p: float
    """p-value of "no difference", by Holm's procedure over the pairs of the ranking."""
    adjusted_equivalence_p: float
    """p-value of "beyond the margin", by the same procedure."""
    distinguished: bool
    equal: bool
    """Shown to lie within the margin of each other; not the opposite of ``distinguished``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """One environment's place."""

    environment: str
    overhead: Estimate | None
    """Against native; ``None`` for native itself."""
    letters: str
    """Two that share a letter are not distinguished."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """All environments of one cell on its primary metric, the fastest first."""

    cell: Cell
    metric: str
    places: tuple[Ranked, ...]
    pairs: tuple[PairDifference, ...]
    fewest_blocks: int
    """With fewer common blocks a pair cannot be distinguished, whatever the blocks show."""
