# SPDX-License-Identifier: Apache-2.0
"""Outcomes arranged block by block, each environment beside native."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from tare.records.busy import BusyBlocks, HostLoad, busiest
from tare.records.measured import Dimension, Direction, Rule
from tare.records.planned import Level

_T = TypeVar("_T")
DIFFERENT_PATHS = "mpi paths that differ"
"""The fact that names pairs of hosts whose MPI messages other means carry than those of most pairs."""
PROGRAM = "program digest"
"""The fact that holds the SHA-256 of the measured program's file, as the node sees it."""
BLAS = "blas"
"""The fact that names the BLAS library and the kernel that it chose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The unit of comparison with native: one workload in one layout."""

    workload: str
    layout: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockRounds:
    """One block's slices of three arms that took turns, compared within their rounds."""

    rounds: int
    """Rounds that all three arms have."""
    log_ratio: float
    """Centre over rounds of ln(time per work here) - ln(native's), averaged over both natives."""
    control_log_ratio: float
    """The same for the second native against the first."""
    slow: int
    """Slices of the environment that took more than 1.2 times the median of its own slices in this block."""
    native_slow: int
    """The same for both natives together, each against its own median, out of twice as many."""
    slow_by: float | None = None
    """Mean excess of the environment's slow slices over that median, as a fraction; ``None``: there were none."""
    native_slow_by: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockValue:
    """One block's values of one metric, in the metric's own unit."""

    block: int
    native: tuple[float, float]
    """The two native slots; replicate 0 first."""
    environment: float
    load: HostLoad | None = None
    """What others took from the environment's trial and counts for the metric; ``None``: not observed."""
    native_loads: tuple[HostLoad | None, HostLoad | None] = (None, None)
    """The same for the two native slots."""
    rounds: BlockRounds | None = None
    """``None``: the arms ran one after the other."""

    @property
    def busiest(self) -> HostLoad | None:
        """Load of the busiest of the three trials."""
        return busiest((self.load, *self.native_loads))


CONTROL_NAME = "native again"
"""The environment of the A/A rows; no campaign may use it for an environment of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """One metric of one environment in one cell, block by block; complete blocks only."""

    cell: Cell
    environment: str
    metric: str
    unit: str
    direction: Direction
    primary: bool
    """The workload's metric declared before the start."""
    blocks: tuple[BlockValue, ...]
    log_ratios: tuple[float, ...]
    """Per block ln(time per work here) - mean of the two natives' ln; above 0 is slower."""
    control_log_ratios: tuple[float, ...]
    """Per block ln(second native) - ln(first native): the A/A control, whose own row has these as log-ratios too."""
    dropped_blocks: int
    """Blocks begun that lack this environment or a native slot."""
    busy_blocks: tuple[BlockValue, ...] = ()
    """Complete blocks that are left out because the host of one of their trials was busy. Where too few others are
    left, ``blocks`` has the busy ones too, and nothing is claimed that the load could have made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedCell:
    """A cell whose instance or group has company, and the cell of the same alone (docs/sharing.md)."""

    shared: Cell
    alone: Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorCells:
    """The cells of one workload at each level of a factor (docs/factors.md)."""

    workload: str
    setting: str
    """What the cells share besides the workload, such as the layout; empty if that is the factor."""
    key: str
    levels: tuple[Level, ...]
    cells: tuple[tuple[Cell, ...], ...]
    """For each level: one cell, or one for each combination of the other factors' levels."""
    environments: tuple[str, ...] = ()
    """Those that the factor changes; empty: all, and native too."""
    in_layouts: bool = False
    """Whether the levels are layouts, or parts of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharingSummary:
    """One metric of one environment, native included, with company and alone, block by block."""

    cells: SharedCell
    environment: str
    metric: str
    unit: str
    direction: Direction
    primary: bool
    """The workload's metric declared before the start."""
    blocks: tuple[int, ...]
    """Numbers of the complete blocks."""
    log_losses: tuple[tuple[float, ...], ...]
    """Per block and instance ln(time per work with company) - ln(time per work of the instance in its place alone);
    above 0 is a loss."""
    log_times: tuple[tuple[float, ...], ...]
    """Per block and instance ln(time per work with company) in a single trial, which for native is the first of two."""
    beyond_native: tuple[float, ...]
    """Per block that is complete for native too: this environment's loss minus native's, both as logarithms, mean over
    instances; empty for native itself."""
    spreads: tuple[float, ...]
    """Per block (most - least) / mean of the instances' times per work; empty with one instance."""
    jain_indices: tuple[float, ...]
    """Per block Jain's index of the instances' rates: 1 when all get the same; empty with one instance."""
    skews_s: tuple[float, ...]
    """Per trial with company, latest minus earliest start of its instances; empty with one instance."""
    skew_bound_s: float | None
    """Largest error of any of these; ``None`` where it is not known, or there is none of them."""
    dropped_blocks: int
    """Blocks begun that lack a trial of this environment, with company or alone."""
    busy: BusyBlocks = field(default_factory=BusyBlocks)


@dataclass(frozen=True, slots=True, kw_only=True)
class HelperSummary:
    """CPU time of an environment's helpers in one cell, block by block (``Outcome.helper_cpu_s``)."""

    cell: Cell
    environment: str
    helpers: int | None
    """Maximum number of helper processes in a trial; 0: the environment has none; ``None``: not known."""
    cpu_s: tuple[float, ...]
    """Per block where it is known."""
    shares: tuple[float, ...]
    """Per block the helpers' CPU time per CPU time of the trial's own processes, where both are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitSummary:
    """How long the processors of an environment's virtual machines waited for one of the host's, block by block."""

    cell: Cell
    environment: str
    vcpu_wait_s: tuple[float, ...]
    """Per block in which it is known, as the host counted it (``Outcome.vcpu_wait_s``)."""
    vcpu_wait_shares: tuple[float, ...]
    """The same as a fraction of the processors' time."""
    steal_s: tuple[float, ...]
    """Per block in which it is known, as the guests counted it (``Outcome.steal_s``)."""
    steal_shares: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """One point of a curve or surface, block by block."""

    at: tuple[float, ...]
    """One coordinate for each dimension of the curve."""
    blocks: tuple[int, ...]
    """Numbers of the blocks in which both native slots and the environment have a usable value."""
    values: tuple[float, ...]
    """Per block, in the curve's unit; for native the geometric mean of its two slots."""
    log_ratios: tuple[float, ...]
    """Per block, as in ``Summary``; empty for native itself."""
    control_log_ratios: tuple[float, ...]
    """Per block, as in ``Summary``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One metric of one environment, native included, in one cell, over the coordinates of its samples.

    One dimension makes a curve, two a surface or matrix, and there may be more.
    """

    cell: Cell
    environment: str
    metric: str
    unit: str
    direction: Direction
    dimensions: tuple[Dimension, ...]
    points: tuple[CurvePoint, ...]
    """Ascending, the first coordinate first; a place without a complete block has no point."""
    busy: BusyBlocks = field(default_factory=BusyBlocks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlike:
    """A fact that differs between native and an environment."""

    cell: Cell
    environment: str
    fact: str
    """``PROGRAM`` or ``BLAS``."""
    native: str
    here: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclude:
    """Thresholds for excluding a trial; ``None``: never for this reason. Why that is the default: docs/signals.md."""

    foreign_load: float | None = None
    """Mean use of the trial's processors by others during the run, in processors' worth of CPU time."""
    frequency_change: float | None = None
    """(Highest - lowest) / highest of the mean frequency of the trial's processors while the command ran."""
    temperature_c: float | None = None
    """The highest temperature of any thermal zone of the host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusions:
    """Number of excluded trials of one environment in one cell, by rule; native's cover both its slots."""

    cell: Cell
    environment: str
    trials: int
    """All trials that ran."""
    excluded: Mapping[Rule, int] = field(default_factory=dict)
    """Only rules that excluded a trial."""

    @property
    def share(self) -> float:
        """The excluded fraction of the trials that ran."""
        return sum(self.excluded.values()) / self.trials


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCounts:
    """System calls of a workload's commands, counted in an extra run that is traced and never measured.

    They are the calls of all processes, including a few by the stopwatches that start the commands.
    """

    made: Mapping[str, int]
    """System call → number completed. A call that the C library answers itself (vDSO) is no system call."""
    failed: Mapping[str, int]
    """System call → number that returned an error or were interrupted; no entry where there were none."""
    traced_s: float
    """From the start of the commands to their end, or to the end of the window; tracing slows them down."""
    whole: bool = True
    """Whether the commands ended by themselves; else these are only the calls of their first part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedCalls:
    """For each workload in each environment, native included: counts, or why there are none."""

    counts: Mapping[Cell, Mapping[str, CallCounts]]
    """Cell → environment → counts."""
    untraced: Mapping[Cell, Mapping[str, str]]
    """Cell → environment → why nothing could be counted."""

    def joined(self, later: "TracedCalls") -> "TracedCalls":
        """Merge with later calls; where both have an entry, the later one counts."""
        return TracedCalls(
            counts=_joined(self.counts, later.counts), untraced=_joined(self.untraced, later.untraced)
        )


def _joined(
    earlier: Mapping[Cell, Mapping[str, _T]], later: Mapping[Cell, Mapping[str, _T]]
) -> Mapping[Cell, Mapping[str, _T]]:
    return {
        cell: {**earlier.get(cell, {}), **later.get(cell, {})} for cell in dict.fromkeys([*earlier, *later])
    }
