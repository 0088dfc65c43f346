# SPDX-License-Identifier: Apache-2.0
"""What a campaign requests: environments, layouts, workloads, limits, users, and the resulting trials."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Self, TypeAlias

from tare.records.layouts import Layout
from tare.records.turns import Turns, Way

NATIVE = "native"
HOST_FILES = "host"
"""The technology whose nodes have the host's own files, not the image's."""
ORDINARY, ROOT = "ordinary", "root"
"""Values of the campaign's key ``user``, besides ``UID:GID``."""
_LARGEST_ID = (1 << 32) - 2
"""The largest but one of 32 bits: the largest means "leave as it is" (setresuid(2))."""

OptionValue: TypeAlias = str | int | float | bool | list[str]


class Ordering(StrEnum):
    """The order of an order experiment's values within one start."""

    ASCENDING = "ascending"
    DESCENDING = "descending"
    RANDOM = "random"


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """The runs of a trial of an order experiment: the workload with one value of an option after the other."""

    option: str
    """An option of the workload."""
    ordering: Ordering
    values: tuple[int | float, ...]
    """The option's values, in the order in which they run."""


class NetworkKind(StrEnum):
    """How a node is connected (docs/networks.md)."""

    NONE = "none"
    """Loopback alone."""
    VETH = "veth"
    """A separate link of the node to a bridge in the trial's own network namespace."""
    MACVLAN = "macvlan"
    """As ``VETH``, but the links are macvlan devices of one parent, without a bridge."""
    IPVLAN = "ipvlan"
    """As ``MACVLAN``, but all the links have the parent's hardware address."""
    VXLAN = "vxlan"
    """Between hosts alone: a bridge on each, and their frames in UDP packets between the hosts' own addresses."""
    SRIOV = "sriov"
    """Between hosts alone: a virtual function of the host's interface, lent to the node."""
    HOST = "host"
    """The host's own network, shared."""
    DEFAULT = "default"
    """The default of the technology."""


class Storage(StrEnum):
    """The storage below everything that a node writes."""

    TMPFS = "tmpfs"
    """A memory file system, whose pages are charged to the node."""
    DISK = "disk"
    """A folder of Tare's state directory."""


class MpiLauncher(StrEnum):
    """What starts the MPI processes of an instance that spans hosts (docs/mpi.md)."""

    TARE = "tare"
    """The image's mpirun, which Tare lets into every node."""
    MPIRUN = "mpirun"
    """The mpirun of the host on which Tare runs; its daemons are beside the nodes."""
    SRUN = "srun"
    """Slurm's, by PMIx, within an allocation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """A technology in one configuration; ``name`` is unique within a campaign."""

    name: str
    technology: str
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    network: NetworkKind | None = None
    """``None``: ``NONE`` in a layout of one node, ``VETH`` in one of several."""
    rto_min_s: float | None = None
    """Minimum TCP retransmission timeout of the node's route; ``None``: the kernel's default (200 ms)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One level of a factor: what varies, and what it is here (docs/factors.md)."""

    key: str
    text: str
    """As people write the value; no two levels of a factor have the same."""
    number: float | None = None
    """``None``: the levels are names."""
    unit: str | None = None
    """Such as ``"B"``; ``None``: a count, or no number."""

    def __str__(self) -> str:
        return f"{self.key}={self.text}"


def levels_text(levels: Sequence[Level]) -> str:
    """Such as ``[memory=256 MiB, class=A]``, to follow a layout; empty without levels."""
    return f"[{', '.join(map(str, levels))}]" if levels else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The points of a metric within bounds of its coordinates, declared before the start as one figure.

    Its value in a trial is the geometric mean of theirs, the same for times and for rates.
    """

    name: str
    """Of the figure."""
    metric: str
    bounds: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    """Coordinate → least and most, both included; ``None``: without a bound. A point lies within all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What runs: a kind of the workload list, with its options; ``name`` is unique within a campaign."""

    name: str
    kind: str
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    layouts: tuple[str, ...] | None = None
    """Layouts of the campaign in which it runs; ``None``: all."""
    iterations: int = 1
    """How often the command runs within one start of the nodes."""
    primary: tuple[str, ...] = ()
    """Samples that are judged first, and together; empty: the ones its kind declares, and ``ranges``."""
    ranges: tuple[Range, ...] = ()
    """The campaign's own, in addition to the kind's."""
    way: Way = Way.WHOLE
    """How it can take turns with other arms, according to its kind."""

    def runs_in(self, layout: Layout) -> bool:
        return self.layouts is None or str(layout) in self.layouts


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanChoice:
    """Options of a workload that the campaign left open, as native runs before the first trial chose them."""

    workload: str
    processors: int
    """It holds for instances that use so many, in every environment."""
    options: Mapping[str, OptionValue]
    said: str
    """What was compared, and by how much the choice is better."""
    medians: Mapping[str, float] = field(default_factory=dict)
    """Candidate in words → median of the kind's primary metric."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Protection of the host from a runaway command; ``None``: no bound, as in results of older versions."""

    processes: int | None = None
    """Per node, counting each thread; native's one node may have as many as all nodes of the layout together."""
    open_files: int | None = None
    """Per process."""
    output_byte: int | None = None
    """For each file that a command writes, and its printed output; ``None``: half of its memory, at most 1 GiB."""
    disk_byte: int | None = None
    """Space that a trial may take from the file system below the layers; ``None``: all but a reserve."""
    core_byte: int | None = None
    """Size of a core file; 0: none, and a crash does not start the host's core handler either."""

    @property
    def resource_limits(self) -> Mapping[str, int]:
        """Maximum of a process by the name in getrlimit(2), in lower case.

        A limit of 1 byte, less than a page, prevents the core file; and unlike a limit of 0 it also keeps the kernel
        from starting the program that core_pattern may name (core(5); fs/coredump.c).
        """
        core_byte = None if self.core_byte is None else max(1, self.core_byte)
        wanted = {"core": core_byte, "nofile": self.open_files}
        return {name: most for name, most in wanted.items() if most is not None}


USUAL_PROCESSES, USUAL_OPEN_FILES = 4096, 65536
USUAL_BOUNDS = Bounds(processes=USUAL_PROCESSES, open_files=USUAL_OPEN_FILES, core_byte=0)
"""Far above the needs of a job, and below what harms a host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a node may use, the same in every environment, and how long a trial may take."""

    memory_byte: int
    """Total of all nodes of a trial; split equally among them."""
    shm_byte: int
    """Size of each node's own /dev/shm."""
    cpu_quota: float | None = None
    """Processors' worth of CPU time per wall time, per node; ``None``: no quota."""
    time_s: float = 600.0
    """The command's own time limit, kept inside the node."""
    storage: Storage = Storage.TMPFS
    """Storage below every environment's throw-away layer."""
    bounds: Bounds = Bounds()
    node_memory_byte: int | None = None
    """Memory of each node, whatever their number; ``memory_byte`` is then the sum over a layout's nodes."""
    host_memory_byte: int | None = None
    """Memory of all nodes on a host, whatever their number; ``memory_byte`` is then the sum over a layout's hosts."""

    def of(self, layout: Layout) -> Self:
        """The limits of a trial in a layout."""
        if self.node_memory_byte is not None:
            return replace(self, memory_byte=self.node_memory_byte * layout.nodes)
        if self.host_memory_byte is not None:
            return replace(self, memory_byte=self.host_memory_byte * layout.hosts)
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A load beside the measured instances, in separate nodes, from before their start to their end."""

    environment: Environment
    workload: Workload
    count: int
    """Number of its nodes on each host, each with the processors and the memory of one of the trial's nodes."""
    same_environment: bool = False
    """Whether it always runs in the same environment as the instances beside it."""

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
    series: Series | None = None
    """``None``: not a trial of an order experiment."""
    turns: Turns | None = None
    """How it takes turns with the other arms of its block; ``None``: it runs by itself."""
    levels: tuple[Level, ...] = ()
    """Of the campaign's factors, whose values its workload, limits and environment have already."""
    hosts: tuple[str, ...] = ()
    """Names of the campaign's hosts that have its nodes, as many as its layout says; empty: the campaign names none."""

    def __post_init__(self) -> None:
        if self.block < 0 or self.slot < 0 or self.replicate not in {0, 1}:
            raise ValueError(
                f"{self.identity}: block {self.block}, slot {self.slot}, replicate {self.replicate} is none of a plan"
            )

    @property
    def setting(self) -> str:
        """The name of the cell: the layout, with the neighbour, the order of its runs or its levels."""
        if self.series is not None:
            return f"{self.layout}~{self.series.ordering}"
        company = "" if self.neighbour is None else f"+{self.neighbour}"
        return f"{self.layout}{company}{levels_text(self.levels)}"

    @property
    def program(self) -> str:
        """What is calibrated once: the workload at its levels, in any layout and environment."""
        return f"{self.workload.name}{levels_text(self.levels)}"

    @property
    def run_options(self) -> tuple[Mapping[str, OptionValue], ...]:
        """The workload's options in each run of the command within this trial's start of the nodes, in order."""
        if self.series is None:
            return (self.workload.options,) * self.workload.iterations
        return tuple({**self.workload.options, self.series.option: value} for value in self.series.values)


@dataclass(frozen=True, slots=True)
class User:
    """A user by numbers, so that no node needs a name for it; never root."""

    uid: int
    gid: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the result of ``str``; ``ValueError`` for anything but ``UID:GID``, and for root."""
        match = re.fullmatch(r"([0-9]{1,10}):([0-9]{1,10})", text)
        if match is None or not all(0 < int(number) <= _LARGEST_ID for number in match.groups()):
            raise ValueError(f"must be {ORDINARY}, {ROOT} or UID:GID, both numbers above 0, but is {text!r}")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.uid}:{self.gid}"


def check_user(text: str) -> str:
    """The text itself; ``ValueError`` when it names no user."""
    if text not in {ORDINARY, ROOT}:
        User.parse(text)
    return text
