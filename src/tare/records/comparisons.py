# SPDX-License-Identifier: Apache-2.0
"""Claims beside each other: a verdict's family, rankings, and one figure for several workloads (docs/method.md)."""

from dataclasses import dataclass
from enum import StrEnum

from tare.records.measured import Coordinate, Direction
from tare.records.planned import NATIVE
from tare.records.treated import Cell
from tare.statistics.estimate import Estimate


class Treatment(StrEnum):
    """The papers' own methods, by the short names of the presets."""

    B16 = "b16"
    B17 = "b17"
    R15 = "r15"
    L12 = "l12"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmFigure:
    """One arm's figure as the paper computed it, in the metric's own unit: rates stay rates."""

    value: float
    low: float | None
    """Lower end of the interval, where the paper gives one."""
    high: float | None
    deviation: float | None
    """Standard deviation; ``None``: fewer than two runs remain."""
    variation: float | None
    """Coefficient of variation, where the paper gives one."""
    runs: int
    used: int
    """Number of runs behind the value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replication:
    """One metric of one environment beside native by a paper's treatment, and by Tare's."""

    treatment: Treatment
    cell: Cell
    environment: str
    metric: str
    unit: str
    primary: bool
    native: ArmFigure
    here: ArmFigure
    percent_of_native: float
    overhead: float
    """The overhead by the paper's figures, as a fraction of time; it has no interval."""
    ours: Estimate
    """Tare's estimate of the same."""
    against: str = NATIVE
    """Whose figure ``native`` is: native's, or the same environment's alone, in this layout."""
    instance: int | None = None
    """Which of several instances; ``None``: all together."""
    at: tuple[Coordinate, ...] = ()
    """The place on a curve; empty for a single figure."""


class Family(StrEnum):
    """The two kinds of claims of a campaign."""

    PRIMARY = "primary"
    """Claims on a workload's primary metrics, declared before the start: all their intervals hold jointly at 95 %."""
    EXPLORATORY = "exploratory"
    """Claims on any other metric: about 5 % of the claims made are false (Benjamini and Yekutieli)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One claim within its family; all p-values agree with the intervals."""

    family: Family
    size: int
    """Number of claims in the family: m."""
    difference_p: float
    """p-value of "no difference from native" for the claim alone; 1 where the interval does not hold."""
    adjusted_difference_p: float
    """The same within the family: 0.05 or less where the interval ``together`` leaves out 0, up to the rounding of
    p-values after several looks."""
    equivalence_p: float
    """p-value of "beyond the margin" for the claim alone."""
    adjusted_equivalence_p: float
    """The same within the family: 0.05 or less where both ends of ``together`` lie within the margin."""
    together: Estimate
    """The overhead, as a fraction, with the interval from which the word is read: level 1 - 0.05 / m for a primary
    claim, which holds jointly with all others; 1 - 0.05 k / m for an exploratory one, where k are claimed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairDifference:
    """Two environments, native included, on the primary metric in their common blocks."""

    first: str
    second: str
    difference: Estimate
    """How much more time the second takes than the first, as a fraction; the interval holds jointly with those of
    the ranking's other pairs."""
    adjusted_p: float
    """p-value of "no difference", times the number of pairs: 0.05 or less where the interval leaves out 0."""
    adjusted_equivalence_p: float
    """p-value of "beyond the margin", for both ends together, times the number of pairs."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class AcrossWorkloads:
    """The geometric mean of an environment's overheads over the workloads of one layout."""

    environment: str
    layout: str
    workloads: tuple[str, ...]
    overhead: Estimate
    """Fraction, over the blocks that are complete for all the workloads; n counts blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmSpread:
    """Spread of one arm's runs of one metric, native included, in the metric's unit; descriptive, without a claim."""

    cell: Cell
    environment: str
    metric: str
    unit: str
    direction: Direction
    primary: bool
    p50: Estimate
    """Median time per unit of work, with the exact interval of a median."""
    p95: float | None
    """Time per unit of work that 95 % of the runs do not exceed (for a rate: a low value); ``None`` below 20 runs."""
    slowest: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HostShare:
    """What an environment costs somebody who runs the host's own build now: software and container, and both."""

    cell: Cell
    metric: str
    host: str
    """The name of the environment with the host's own files."""
    environment: str
    total: Estimate
    """How much more time it takes than on the host's own files, as a fraction, in their common blocks."""
    software: Estimate
    """The image's files natively against the host's."""
    container: Estimate
    """The environment against the image's files natively."""
