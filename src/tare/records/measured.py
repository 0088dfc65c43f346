# SPDX-License-Identifier: Apache-2.0
"""What a trial left behind, and the session that ran it: the lines of the journal."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from tare.records.busy import HostLoad
from tare.records.host_clocks import HostClock
from tare.records.integrity import Seen
from tare.records.planned import ScanChoice, Trial
from tare.records.scaled import Scaled
from tare.records.signals import HostSignals, Signal
from tare.records.turns import TurnsTaken


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockTest:
    """One clock read repeatedly by one thread."""

    resolution_ns: int | None
    """As the system claims (clock_getres(2)); ``None``: it makes no claim."""
    least_step_ns: int | None
    """Smallest nonzero difference between two readings; ``None``: all were equal."""
    readings: int
    backward_steps: int
    """How often a reading was below its predecessor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockQuality:
    """The clocks of one node, as seen from inside."""

    node: int
    """Its place among the trial's nodes, from 0."""
    own_clock: bool
    """Whether it has its own clock; else it uses the host's."""
    source: str | None
    """Clock source of its kernel (sysfs); ``None``: not shown."""
    tsc_flags: tuple[str, ...] | None
    """Which of constant_tsc, nonstop_tsc, tsc_reliable and tsc_known_freq its kernel lists; ``None``: it lists no
    flags."""
    invariant_tsc: bool | None
    """By CPUID 0x80000007, EDX bit 8; ``None``: the processor has no such leaf."""
    clocks: Mapping[str, ClockTest] = field(default_factory=dict)
    """Name, such as CLOCK_MONOTONIC → test result."""
    pairs: int = 0
    """How many pairs of processors exchanged stamps of CLOCK_MONOTONIC_RAW."""
    exchanges: int = 0
    """Total; 0: there was one processor, or threads could not be pinned."""
    backward_exchanges: int = 0
    """How often a processor read an earlier time than the one that another had read and passed on."""
    worst_backward_ns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Parity:
    """Label → value, as read in the trial; unreadable values are left out."""

    own: Mapping[str, str] = field(default_factory=dict)
    """Set by the technology for its payload: filters, capabilities, namespaces. Part of what is weighed."""
    host: Mapping[str, str] = field(default_factory=dict)
    """Set by the host or Tare: priorities, resource limits, the place among the control groups. A difference from the
    runner's own invalidates the trial."""


class Direction(StrEnum):
    """Which way a metric gets better."""

    LESS = "less is better"
    MORE = "more is better"


class Status(StrEnum):
    """How a trial ended; only ``OK`` outcomes enter the statistics."""

    OK = "ok"
    FAILED = "failed"
    INVALID = "invalid"
    """It ran, but a rule declared before the start (such as the clock check) excludes it."""


class Rule(StrEnum):
    """The rules, all fixed before the start and blind to the outcome, that exclude a trial (docs/method.md)."""

    CLOCK = "clock"
    """The node's clock and the host's disagree beyond their bound."""
    FOREIGN_LOAD = "foreign load"
    """Others used more of the host than the campaign permits."""
    FREQUENCY = "frequency"
    """The processors' frequency changed by more than the campaign allows, or they were too hot."""
    UNEQUAL = "unequal arms"
    """The host gave the node another priority, weight or limit than native ones have (docs/environments.md)."""
    OUT_OF_TURN = "work out of turn"
    """The nodes used processors while other arms had their turns (docs/turns.md)."""


class Dimension(NamedTuple):
    """What varies along one axis of a curve or a surface."""

    name: str
    """Such as ``size``, ``record``, ``stride`` or ``ranks``."""
    unit: str | None
    """``None``: it is a count."""


class Coordinate(NamedTuple):
    """Where a sample lies in one dimension."""

    name: str
    value: float
    unit: str | None

    @property
    def dimension(self) -> Dimension:
        return Dimension(self.name, self.unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One measured value, as the workload or the operating system reported it."""

    name: str
    value: float
    unit: str
    direction: Direction
    instance: int | None = None
    """Which of the K instances; ``None``: the whole trial."""
    coordinates: tuple[Coordinate, ...] = ()
    """Place on a curve or surface, such as the message size in bytes; empty: the metric is a single figure."""
    iteration: int | None = None
    """Which run of the command within one start of the nodes, from 0; ``None``: there was one. Iterations of a trial
    are joined before anything is compared, and never count as n."""
    round: int | None = None
    """Which round of turns, from 0, over all starts of the program in the node; ``None``: it ran by itself. The
    slices of all arms of a block in one round follow each other directly."""
    process: int | None = None
    """Which start of the program in the node, from 0; only with a ``round``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocks:
    """One command's duration by the node's clock and by the host's (CLOCK_MONOTONIC_RAW both)."""

    wall_s: float
    host_wall_s: float
    round_trip_s: float
    """Hard bound on |wall_s - host_wall_s| for an honest clock: half the probes' round trips."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceRun:
    """What the stopwatch saw of one instance (getrusage(2), wait4(2))."""

    instance: int
    clocks: Clocks
    start_offset_s: float
    """Delay of this program's execve(2) after the first instance's, by the host's clock; in results of earlier
    versions the delay after the start."""
    start_bound_s: float | None = None
    """Largest error of ``start_offset_s`` by the clocks' comparison; ``None`` in results of earlier versions."""
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
    host_span_s: float | None = None
    """From sending the start message to receiving the end message, by the host's clock: longer than the command by the
    round trip and by the wait for the common start of several. ``None`` in results of earlier versions."""
    iteration: int | None = None
    """Which run of the command within one start of the nodes, from 0; ``None``: there was one."""
    uptime_s: float | None = None
    """From the end of the nodes' start to the start of this run, by the host's clock; ``None`` in earlier results."""
    refused: str | None = None
    """Why the workload's own check refused its result; ``None`` if it did not, or there is none."""

    @property
    def ended_well(self) -> bool:
        """Whether the program succeeded, and its check with it."""
        return self.exit_code == 0 and self.signal is None and not self.timed_out and self.refused is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Everything that one trial left behind: one line of the journal."""

    trial: Trial
    status: Status
    reason: str | None
    """Why it failed or is invalid, as a sentence; ``None`` when ok."""
    excerpt: str | None
    """A piece of the output that shows the reason."""
    started_utc: str
    elapsed_s: float
    """The whole trial: nodes up, run, nodes down."""
    node_start_s: float | None
    node_stop_s: float | None
    barrier_skew_s: float | None
    """The largest ``start_offset_s`` of the instances; ``None`` with one instance."""
    barrier_skew_bound_s: float | None = None
    """Largest error of ``barrier_skew_s``, as clocks of several kernels are compared; 0 where all have the host's.
    ``None`` with one instance, and in results of earlier versions."""
    cpu_s: float | None
    """CPU time of the nodes' cgroups on the host, from GO to the end."""
    helper_cpu_s: float | None = None
    """CPU time, over the same span, of the environment's processes on the host that serve the nodes from outside the
    benchmark: shim, monitor, sentry, VMM; ``None`` where there is none or it cannot be read."""
    helpers: int | None = None
    """Number of such processes; 0: the environment has none. ``None``: not looked for."""
    vcpu_wait_s: float | None = None
    """Total time, over the same span, for which the nodes' vCPU threads waited for a processor of the host; ``None``
    where there are no such threads or it cannot be read."""
    steal_s: float | None = None
    """The same as the nodes' own kernels counted it (steal, proc(5)); ``None`` where one of them never counted any."""
    clock_fault: str | None = None
    """What is wrong with a clock of the nodes: ``wall_s`` then uses the host's clock, and the program's own figures
    are left out. ``None``: nothing, or the nodes use the host's clock."""
    timer_inversions: int | None = None
    """Number of instances with more reported CPU time than their processors had in their wall time (L12); ``None`` in
    results of earlier versions."""
    samples: tuple[Sample, ...]
    instances: tuple[InstanceRun, ...]
    signals: tuple[Signal, ...] = ()
    """Counts taken beside the run."""
    missing_signals: Mapping[str, str] = field(default_factory=dict)
    """Signals that this host, node or technology does not provide: name → why."""
    clock_quality: tuple[ClockQuality, ...] = ()
    """One per node, tested once per environment, layout and session; empty in all other trials."""
    excluded_by: Rule | None = None
    """The rule that made it invalid; ``None`` when none did."""
    parity: Parity = field(default_factory=Parity)
    """The conditions under which the commands ran, in the first node; empty in results of earlier versions."""
    load: HostLoad | None = None
    """Use of the processors by others while the commands ran; ``None``: not known, such as on another host."""
    turns: TurnsTaken | None = None
    """Its turns with the other arms; ``None``: it ran by itself."""
    real_hosts: tuple[str, ...] = ()
    """The machines that were the trial's ``hosts``, in their order: a node of Slurm's by its own name."""
    host_times_s: Mapping[str, float] = field(default_factory=dict)
    """Machine among them → time of a fixed work on all its processors, before a native trial; else empty."""
    host_clocks: Mapping[str, HostClock] = field(default_factory=dict)
    """Machine among them → its clock against this host's while the commands ran; empty without such a list."""
    host_signals: Mapping[str, HostSignals] = field(default_factory=dict)
    """Machine among them → its part of ``signals``; empty without such a list."""
    image_digest: str
    facts: Mapping[str, str] = field(default_factory=dict)
    """Evidence beside the numbers: observed limits, BLAS kernel, storage driver, ..."""

    @property
    def machines(self) -> tuple[str, ...]:
        """The machines that had the nodes; by their names in the campaign, in results of earlier versions."""
        return self.real_hosts or self.trial.hosts


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """An environment that did not run, or not in all blocks, and the remedy."""

    environment: str
    reason: str
    remedy: str
    blocks: int | None = None
    """Number of blocks of the result without it; ``None``: it never ran, or this concerns one session alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftwarePart:
    """One kind of software that a command needs, as the host and the image have it."""

    label: str
    host: str | None
    """``None``: it is not needed there."""
    image: str | None
    same: bool
    """Whether all its files are equal, byte for byte."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Software:
    """Where a workload's program on the host differs from the image's, by both files and the libraries they need."""

    workload: str
    program: str
    """As the command names it."""
    parts: tuple[SoftwarePart, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """How the image came to a host that lacked it."""

    source: str | None
    """The host of the list that passed it on; ``None``: the one on which Tare runs."""
    wall_s: float
    """With the waiting until somebody was free to send it, and the reading of all files there."""
    transfers: int
    """How many transfers it took, one after the other, from the first one on."""


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
    lacking_flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Environment → the host's CPU flags that its nodes lack; every code path is pinned to the common flags."""
    load: HostLoad | None = None
    """Use of all processors by others just before the first trial; ``None``: not observed."""
    campaign_digest: str | None = None
    """Digest of the campaign as stored in the result folder; ``None`` in results of earlier versions."""
    added_blocks: tuple[int, ...] = ()
    """Blocks that ``tare run --more`` added to the campaign's up to this session, one number for each time."""
    earlier: Mapping[str, Seen] = field(default_factory=dict)
    """The extent of each other file of the journal when the session began: file name → what was read."""
    software: tuple[Software, ...] = ()
    """For each command, if the host's own files take part; empty otherwise."""
    hosts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Name → the facts of a host of the campaign's list, as ``host`` has them of the one on which Tare runs."""
    choices: tuple[ScanChoice, ...] = ()
    """Options that native runs chose before the first trial."""
    carried: Mapping[str, Carried] = field(default_factory=dict)
    """Name of a host of the list that lacked the image → how it came there."""
    scaled: tuple[Scaled, ...] = ()
    """What this host measures otherwise than the campaign asks, or not at all."""

    @property
    def started_s(self) -> float | None:
        """``started_utc`` in seconds since 1970; ``None`` where the text is no time."""
        try:
            return datetime.fromisoformat(self.started_utc).timestamp()
        except (ValueError, OverflowError):
            return None
