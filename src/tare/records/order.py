# SPDX-License-Identifier: Apache-2.0
"""Order experiments: does what ran before in the same start change a run? (docs/order.md; Luszczek and others 2012)."""

from dataclasses import dataclass, field
from enum import StrEnum

from tare.records.busy import BusyBlocks, Withheld
from tare.records.planned import Ordering
from tare.records.treated import Cell
from tare.statistics.estimate import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedRun:
    """One run of a series."""

    value: float
    """Value of the option that the experiment varies."""
    uptime_s: float
    """From the end of the nodes' start to the start of the run, by the host's clock."""
    log_time: float
    """ln(time per unit of work)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedStart:
    """One start of an environment, with its runs in their order."""

    ordering: Ordering
    runs: tuple[OrderedRun, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedBlock:
    """A block of an order experiment: one start for each ordering, all with the same values."""

    block: int
    starts: tuple[OrderedStart, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderSummary:
    """One metric of one environment, native included; complete blocks only."""

    cell: Cell
    """The layout is the instance's, without the order."""
    environment: str
    option: str
    metric: str
    unit: str
    blocks: tuple[OrderedBlock, ...]
    dropped_blocks: int
    """Blocks begun that lack a run."""
    busy: BusyBlocks = field(default_factory=BusyBlocks)


class OrderWord(StrEnum):
    """The verdict of an order experiment."""

    ACCUMULATES = "state accumulates"
    WITHIN = "no material state"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderContrast:
    """The same value run at both ends."""

    value: float
    late_over_early: Estimate
    """For the smallest value: last of the descending series over first of the ascending one; for the largest the other
    way round; in between: the later of the two places over the earlier. As a fraction, 0 is no difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderVerdict:
    """Whether state accumulates within one start."""

    summary: OrderSummary
    growth: Estimate
    """How much more time the same work takes at the end of a whole series than at its beginning, as a fraction:
    exp(slope of ln T over the uptime, times ``span_s``) - 1, with values and starts accounted for."""
    span_s: float | None
    """Median time from the start of the first run to the start of the last; ``None`` without a complete block."""
    permutation_p: float | None
    """Probability of so large a slope if the order made no difference: orders swapped between the starts of a block."""
    contrasts: tuple[OrderContrast, ...]
    margin: float
    word: OrderWord
    claim: str
    """Without the environment."""
    withheld: Withheld | None = None
    """Why nothing is claimed although there are figures."""

    @property
    def sentence(self) -> str:
        """The claim with its environment."""
        return f"{self.summary.environment}: {self.claim}"
