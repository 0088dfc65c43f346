# SPDX-License-Identifier: Apache-2.0
"""The environments of a cell against each other: docs/method.md, "Ranking"."""

from dataclasses import dataclass

from tare.records.treated import Cell
from tare.statistics.estimate import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class PairDifference:
    """Two environments, native included, on the primary metric in the blocks that both have."""

    first: str
    second: str
    difference: Estimate
    """How much more time the second takes than the first, as a fraction; the interval holds by itself."""
    adjusted_p: float
    """Of "no difference", by Holm's procedure over the pairs of the ranking."""
    adjusted_equivalence_p: float
    """Of "beyond the margin", by the same."""
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
    """Of a pair of fewer common blocks two may not be told apart whatever these show."""
