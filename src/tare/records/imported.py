# SPDX-License-Identifier: Apache-2.0
"""Measurements of other tools: series of values by arm, and each arm against the first.

Their arms were measured apart, so nothing here is paired, and nothing is known of blocks, order or host.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from tare.records.across_results import ChangeWord, FactDifference, Incomparable
from tare.records.measured import Direction
from tare.statistics.estimate import Estimate


class Lack(StrEnum):
    """What a result of Tare has, and imported measurements have not."""

    ORDER = "order"
    """The arms took no turns in random order."""
    CONTROL = "control"
    """Nothing was measured twice, to show how far it differs from itself."""
    HOST = "host"
    """Nothing says that host, limits, image and program were the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSeries:
    """All values of one metric of one subject in one arm, in the order of their files and lines."""

    arm: str
    subject: str
    """What ran: a benchmark's name, with its message size or class."""
    metric: str
    unit: str
    direction: Direction
    values: tuple[float, ...]
    """All above 0."""
    rounding: float = 0.0
    """Largest relative error that printing with few digits causes; 0 where all digits are there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSource:
    """One file, or one folder of files, as named on the command line."""

    name: str
    path: str
    kind: str
    """The tool that wrote it."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """What it says of itself, such as its host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedMeasurements:
    """All that was read."""

    sources: tuple[ImportedSource, ...]
    series: tuple[ImportedSeries, ...]
    """Those of the reference arm first."""
    subjects: tuple[str, ...] = ()
    """What ran in each arm, if that differs and is taken for the same work; else empty."""
    left_out: tuple[str, ...] = ()
    """What does not count, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedFigure:
    """A series with its centre in the metric's own unit."""

    series: ImportedSeries
    value: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedDifference:
    """One arm against the reference on one metric of one subject."""

    reference: str
    arm: str
    subject: str
    metric: str
    unit: str
    direction: Direction
    before: Estimate
    """Of the reference, in ``unit``."""
    after: Estimate
    change: Estimate
    """Time per work in the arm over that in the reference, minus 1."""
    word: ChangeWord
    alone: ChangeWord
    """The word if this were the only claim."""
    p_value: float
    """Of "no difference", adjusted for all claims of the comparison."""
    claims: int
    margin: float
    """The fraction that counts as no difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedComparison:
    """Every arm against the first; without differences if there is only one arm."""

    sources: tuple[ImportedSource, ...]
    arms: tuple[str, ...]
    """The reference first."""
    figures: tuple[ImportedFigure, ...]
    differences: tuple[ImportedDifference, ...]
    unlike: tuple[FactDifference, ...]
    """What the sources say differently of themselves, one value for each source; what ran, one for each arm."""
    incomparable: tuple[Incomparable, ...]
    left_out: tuple[str, ...]
    """What does not count, and why."""
    lacks: tuple[Lack, ...] = tuple(Lack)
