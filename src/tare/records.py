# SPDX-License-Identifier: Apache-2.0
"""The frozen records that travel plan → measure → treat → analyze → report.

Raw and derived values never share a record. A value that is missing is ``None``, never 0.
Times are seconds, sizes are bytes, overheads are fractions (0.05 is 5 %).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self, TypeAlias

SCHEMA = 1
NATIVE = "native"

OptionValue: TypeAlias = str | int | float | bool | list[str]


class Direction(StrEnum):
    """Which way a metric gets better."""

    LESS = "less is better"
    MORE = "more is better"


class Status(StrEnum):
    """What became of a trial; only ``OK`` outcomes enter the statistics."""

    OK = "ok"
    FAILED = "failed"
    INVALID = "invalid"
    """It ran, but a rule declared before the start (such as the clock check) excludes it."""


class NetworkKind(StrEnum):
    """How a node is connected (docs/networks.md)."""

    NONE = "none"
    """Loopback alone."""
    VETH = "veth"
    """A link of the node's own to a bridge in a network namespace of the trial's own."""
    MACVLAN = "macvlan"
    """As ``VETH``, but the links are macvlan devices of one parent, without a bridge."""
    HOST = "host"
    """The host's own network, shared."""
    DEFAULT = "default"
    """What the technology does when nobody asks for anything."""


class Storage(StrEnum):
    """What lies below everything that a node writes."""

    TMPFS = "tmpfs"
    """A memory file system, whose pages count for the node."""
    DISK = "disk"
    """A folder of Tare's state directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """A technology in one configuration; ``name`` is unique within a campaign."""

    name: str
    technology: str
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    network: NetworkKind | None = None
    """``None``: ``NONE`` in a layout of one node, ``VETH`` in one of several."""
    rto_min_s: float | None = None
    """Least TCP retransmission timeout of the node's route; ``None``: the kernel's own (200 ms)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """``NcMpKi``: N nodes of M processors each, K instances of the benchmark in all."""

    nodes: int
    processors: int
    instances: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``NcMpKi``; ``ValueError`` says what is wrong with the text."""
        found = re.fullmatch(r"([1-9]\d*)c([1-9]\d*)p([1-9]\d*)i", text)
        if not found:
            raise ValueError(f"{text!r} is not a layout; write NcMpKi, such as 1c2p1i")
        nodes, processors, instances = (int(part) for part in found.groups())
        return cls(nodes=nodes, processors=processors, instances=instances)

    @property
    def total_processors(self) -> int:
        return self.nodes * self.processors

    @property
    def cooperative(self) -> bool:
        """Whether an instance spans several nodes."""
        return self.instances < self.nodes

    @property
    def ranks(self) -> int:
        """Processes of one instance: its share of the layout's processors."""
        return max(1, self.total_processors // self.instances)

    def __str__(self) -> str:
        return f"{self.nodes}c{self.processors}p{self.instances}i"


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What runs: a kind of the workload list, with its options; ``name`` is unique within a campaign."""

    name: str
    kind: str
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    layouts: tuple[str, ...] | None = None
    """Those of the campaign's in which it runs; ``None``: all."""

    def runs_in(self, layout: Layout) -> bool:
        return self.layouts is None or str(layout) in self.layouts


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a node may use, the same in every environment, and how long a trial may take."""

    memory_byte: int
    """Of all nodes of a trial together; split equally among them."""
    shm_byte: int
    """Size of each node's own /dev/shm."""
    cpu_quota: float | None = None
    """Processors' worth of CPU time per wall time, per node; ``None``: no quota."""
    time_s: float = 600.0
    """The command's own time limit, kept inside the node."""
    storage: Storage = Storage.TMPFS
    """What every environment's throw-away layer lies on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """What else is at work beside the measured instances, in nodes of its own, from before their start to their end."""

    environment: Environment
    workload: Workload
    count: int
    """How many nodes of it, each with the processors and the memory of one of the trial's nodes."""
    same_environment: bool = False
    """Whether it always runs in the environment of the instances beside it, whichever that is."""

    def __str__(self) -> str:
        where = "" if self.same_environment else f"@{self.environment.name}"
        return f"{self.count}x{self.workload.name}{where}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One run of one workload in one environment; ``identity`` is stable across resumes."""

    identity: str
    block: int
    slot: int
    """Position in the block's random order, from 0."""
    environment: Environment
    replicate: int
    """0, or 1 for the second native slot of a block."""
    layout: Layout
    """The campaign's layout; native runs it as one node with all the processors."""
    workload: Workload
    limits: Limits
    neighbour: Neighbour | None = None

    @property
    def setting(self) -> str:
        """The layout, and who is at work beside it: what a cell is named by."""
        return str(self.layout) if self.neighbour is None else f"{self.layout}+{self.neighbour}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One measured value, as the workload or the operating system reported it."""

    name: str
    value: float
    unit: str
    direction: Direction
    instance: int | None = None
    """Which of the K instances; ``None``: of the whole trial."""
    x: float | None = None
    """Where on a curve, such as the message size in bytes; ``None``: the metric is one figure."""
    x_unit: str | None = None
    """``None`` without an ``x``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocks:
    """One command's duration by the node's clock and by the host's (CLOCK_MONOTONIC_RAW both)."""

    wall_s: float
    host_wall_s: float
    round_trip_s: float
    """Hard bound of |wall_s - host_wall_s| for an honest clock: half the probes' round trips."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceRun:
    """What the stopwatch saw of one instance (getrusage(2), wait4(2))."""

    instance: int
    clocks: Clocks
    start_offset_s: float
    """Start after the first instance's start, host clock."""
    user_s: float
    system_s: float
    maximum_rss_byte: int
    minor_faults: int
    major_faults: int
    voluntary_switches: int
    involuntary_switches: int
    exit_code: int | None
    signal: int | None
    timed_out: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """All that one trial left behind: one line of the journal."""

    trial: Trial
    status: Status
    reason: str | None
    """Why it failed or is invalid, in a sentence; ``None`` when ok."""
    excerpt: str | None
    """A kept piece of the output that shows the reason."""
    started_utc: str
    elapsed_s: float
    """All of the trial: nodes up, run, nodes down."""
    node_start_s: float | None
    node_stop_s: float | None
    barrier_skew_s: float | None
    """Latest minus earliest start of the instances; ``None`` with one instance."""
    cpu_s: float | None
    """CPU time of the nodes' cgroups on the host, from GO to the end."""
    helper_cpu_s: float | None = None
    """CPU time, over the same span, of the environment's processes on the host that serve the nodes from outside the
    benchmark: shim, monitor, sentry, VMM; ``None`` where there is none or it cannot be read."""
    helpers: int | None = None
    """How many such processes there were; 0: the environment has none. ``None``: nobody looked."""
    samples: tuple[Sample, ...]
    instances: tuple[InstanceRun, ...]
    image_digest: str
    facts: Mapping[str, str] = field(default_factory=dict)
    """Evidence beside the numbers: limits as seen, BLAS kernel, storage driver, ..."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """An environment that did not run, and what to do about it."""

    environment: str
    reason: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One start of the runner on one host: the journal's other kind of line."""

    identity: str
    started_utc: str
    tare_version: str
    seed: int
    image_name: str
    image_digest: str
    host: Mapping[str, str]
    """Kernel, processor, cgroup version, governor, ...: label → value."""
    skipped: tuple[Skipped, ...]
    planned_trials: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What is compared with native: one workload in one layout."""

    workload: str
    layout: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockValue:
    """One block's values of one metric, in the metric's own unit."""

    block: int
    native: tuple[float, float]
    """The two native slots; replicate 0 first."""
    environment: float


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
    """Per block ln(second native) - ln(first native): the A/A control."""
    dropped_blocks: int
    """Blocks begun that lack this environment or a native slot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A point with its interval; as fractions when it is an overhead."""

    point: float
    low: float | None
    """``None`` both: too few blocks for the level."""
    high: float | None
    level: float
    n: int


class Word(StrEnum):
    """The verdict words; each is explained in docs/method.md."""

    SLOWER = "slower"
    FASTER = "faster"
    WITHIN = "within the margin"
    UNDECIDED = "not enough data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Overhead:
    """The overhead of one environment against native for one metric: method.md §0."""

    summary: Summary
    typical: Estimate
    """Hodges-Lehmann with the exact signed-rank interval."""
    mean: Estimate
    """exp(mean of log-ratios) - 1 with the t interval."""
    tail_cost: bool
    """Mean and typical differ by more than the interval's half-width."""
    spike_rate: float
    """Share of this arm's runs above 1.2 times its own median."""
    native_spike_rate: float
    native_median: float
    """Absolute native value, in the summary's unit."""
    noise_floor: Estimate
    """The A/A control by the same estimator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What may be said of an overhead."""

    overhead: Overhead
    word: Word
    margin: float
    sentence: str
    """Such as "docker: slower by 5-8 % (n = 10)"."""
    more_blocks: int | None
    """About how many further blocks would decide; ``None`` when decided or not estimable."""
    below_noise_floor: bool
    """The whole interval lies within what native against native showed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedCell:
    """A cell whose instance has company, and the cell of the same instance by itself (docs/sharing.md)."""

    shared: Cell
    alone: Cell


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
    """Numbers of the complete ones."""
    log_losses: tuple[tuple[float, ...], ...]
    """Per block and instance ln(time per work with company) - ln(time per work alone); above 0 is a loss."""
    beyond_native: tuple[float, ...]
    """Per block complete natively too: this environment's loss less native's, mean over instances, both as
    logarithms; empty for native itself."""
    spreads: tuple[float, ...]
    """Per block (most - least) / mean of the instances' times per work; empty with one instance."""
    jain_indices: tuple[float, ...]
    """Per block Jain's index of the instances' rates: 1 when all get as much; empty with one instance."""
    skews_s: tuple[float, ...]
    """Per trial with company, latest minus earliest start of its instances; empty with one instance."""
    dropped_blocks: int
    """Blocks begun that lack a trial of this environment, with company or alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharingLoss:
    """What company costs an instance in one environment."""

    summary: SharingSummary
    typical: Estimate
    """Of all instances joined (mean of their logarithms): how much more time the same work takes than alone."""
    word: Word
    each: tuple[Estimate, ...]
    """The same for each instance by itself."""
    beyond_native: Estimate | None
    """How much more is lost than natively; ``None`` for native, or without a common block."""
    spread: Estimate | None
    """Median of the blocks' spreads; ``None`` with one instance."""
    jain_index: Estimate | None
    """Median of the blocks' indices; ``None`` with one instance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HelperSummary:
    """What an environment's helpers used in one cell, block by block (``Outcome.helper_cpu_s``)."""

    cell: Cell
    environment: str
    helpers: int | None
    """Most helper processes of any trial; 0: the environment has none; ``None``: not known."""
    cpu_s: tuple[float, ...]
    """Per block in which it is known."""
    shares: tuple[float, ...]
    """Per block the helpers' CPU time per CPU time of the trial's own processes, where both are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HelperCost:
    """CPU time of an environment's helpers, which no node's limit holds."""

    summary: HelperSummary
    cpu_s: Estimate | None
    """Median over blocks, in seconds per trial; ``None``: there are no helpers, or it is not known."""
    share: Estimate | None
    """Median over blocks, as a fraction of the trial's own CPU time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """One place on a curve, block by block."""

    x: float
    blocks: tuple[int, ...]
    """Numbers of those in which both native slots and the environment have a usable value."""
    values: tuple[float, ...]
    """Per block, in the curve's unit; of native the geometric mean of its two slots."""
    log_ratios: tuple[float, ...]
    """Per block, as in ``Summary``; empty for native itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One metric of one environment, native included, in one cell, over the ``x`` of its samples."""

    cell: Cell
    environment: str
    metric: str
    unit: str
    direction: Direction
    x_unit: str
    points: tuple[CurvePoint, ...]
    """By rising ``x``; a place without a complete block has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PointEstimate:
    """What can be said of one place on a curve, by itself: intervals of several places do not hold together."""

    x: float
    value: Estimate
    """In the curve's unit: Hodges-Lehmann of the values' logarithms."""
    overhead: Estimate | None
    """Against native, as a fraction, by the same estimator as ``Overhead.typical``; ``None`` for native itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveEstimate:
    """A curve with its intervals."""

    curve: Curve
    points: tuple[PointEstimate, ...]
    """One for each of the curve's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """All that a report draws."""

    campaign: str
    sessions: tuple[Session, ...]
    verdicts: tuple[Verdict, ...]
    controls: tuple[Overhead, ...]
    """The A/A rows: the second native slot judged against the first, one per cell and metric."""
    outcomes: tuple[Outcome, ...]
    skipped: tuple[Skipped, ...]
    margin: float
    planned_trials: int
    cut_by_budget: bool = False
    sharing: tuple[SharingLoss, ...] = ()
    helper_costs: tuple[HelperCost, ...] = ()
    curves: tuple[CurveEstimate, ...] = ()
