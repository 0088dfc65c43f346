# SPDX-License-Identifier: Apache-2.0
"""Which environment for which application: what it uses, what is known, and what follows (docs/advise.md)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

from tare.records.treated import Cell
from tare.statistics.estimate import Estimate


class Resource(StrEnum):
    """What a program uses while it runs natively, per second and busy processor."""

    COMPUTING = "computing"
    """CPU time in the program itself, as a part of the time."""
    KERNEL = "time in the kernel"
    """CPU time in the kernel on its behalf, as a part of the time."""
    FAULTS = "page faults"
    SWITCHES = "context switches"
    """Because a process had to wait."""
    CALLS = "system calls"
    MESSAGES = "messages"
    """Sent by MPI."""
    MESSAGE_BYTES = "message bytes"
    FILE_BYTES = "file bytes"
    """Read and written by MPI-IO."""
    MEMORY = "memory-bound"
    """1: the memory limits it; 0: it does not."""

    @property
    def unit(self) -> str:
        """``1``: a part of the time."""
        if self in {Resource.COMPUTING, Resource.KERNEL, Resource.MEMORY}:
            return "1"
        return "B/s" if self in {Resource.MESSAGE_BYTES, Resource.FILE_BYTES} else "1/s"


class Isolation(IntEnum):
    """What stands between a program and the host's kernel; a later one is stronger."""

    NONE = 0
    FILES = 1
    """Other files, and little else: host name and IPC, mostly processes too, are the host's."""
    NAMESPACES = 2
    """Of the host's own kernel: files, processes, host name and IPC of its own."""
    SANDBOX = 3
    """A kernel in user space answers the system calls."""
    MACHINE = 4
    """A kernel of its own, on virtual hardware."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suitability:
    """What a technology is like for those who choose one, whatever it costs; ``None``: it depends."""

    root: bool | None
    """Whether whoever starts one must be root, or have root's help (a daemon, a set-user-id program)."""
    daemon: bool | None
    """Whether a service must run on the host."""
    own_kernel: bool | None
    isolation: Isolation | None
    live_migration: bool | None
    """Whether a running one can move to another host with the technology's usual tools."""
    images: tuple[str, ...]
    """The forms in which it takes a root filesystem: ``oci``, ``sif``, ``squashfs``, ``directory`` or ``disk``."""
    gpu: bool | None
    """Whether the host's graphics processors can be used within by passing their device nodes."""


class Need(StrEnum):
    """What people require of an environment besides its speed."""

    NO_ROOT = "no root"
    NO_DAEMON = "no daemon"
    OWN_KERNEL = "own kernel"
    ISOLATION = "isolation"
    LIVE_MIGRATION = "live migration"
    IMAGE = "image"
    GPU = "gpu"


@dataclass(frozen=True, slots=True, kw_only=True)
class Required:
    """One requirement."""

    need: Need
    value: str = ""
    """The image's form, or the weakest isolation; empty for the others."""

    def __str__(self) -> str:
        return f"{self.need} {self.value}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An environment, or one with a cure that ``tare explain`` verified."""

    name: str
    technology: str
    cure: str = ""
    """In the user's words; empty: it is as it comes."""
    of: str | None = None
    """The environment that the cure changes."""
    settings: tuple[str, ...] = ()
    """Options and network of the environment that ``tare weigh`` does not set, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownWorkload:
    """A workload that ran in environments of this host."""

    name: str
    cell: Cell
    rates: Mapping[Resource, float]
    """Missing: not known."""
    overheads: Mapping[str, float]
    """Name of the arm \N{RIGHTWARDS ARROW} its overhead, as a fraction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnVerdict:
    """What a result says of the application itself in one environment."""

    arm: Candidate
    overhead: Estimate
    said: str
    """The verdict's word with its figure."""
    result: str
    letters: str = ""
    """Of the result's ranking: two that share a letter are not distinguished."""
    withheld: bool = False
    """Whether the host was too busy for any claim."""
    metric: str = ""
    """The primary metric with the largest overhead, which decides; empty: it is the only one."""
    metrics: int = 1
    """Number of primary metrics that the application has in any environment."""
    untold: int = 0
    """How many of them tell nothing here: missing, without an interval, or the host was too busy."""

    @property
    def tells(self) -> bool:
        """Whether it is an answer: there is an interval, and nothing is withheld."""
        return self.overhead.low is not None and not self.withheld


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """What is to be placed."""

    name: str
    layout: str | None
    """``None``: not stated."""
    rates: Mapping[Resource, float]
    measured: tuple[OwnVerdict, ...] = ()
    command: tuple[str, ...] = ()
    """Options and command for ``tare weigh``; empty: not known."""
    identity: str | None = None
    """The same for this program with these options in any layout and result; ``None``: it is stated."""


class Basis(StrEnum):
    """What a prediction rests on, or why there is none."""

    RESOURCES = "resources"
    """The costs of resources, which predict known workloads better than both simple guesses."""
    ALIKE = "alike"
    """Known workloads have hardly any overhead, whatever they use."""
    NO_SKILL = "no skill"
    """The costs of resources predict known workloads no better than a simple guess."""
    OUTSIDE = "outside"
    """The application uses more of something than any known workload."""
    TOO_FEW = "too few"
    """Too few known workloads ran in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Mean error of the time predicted for each known workload from the others, as |ln(predicted / true)|."""

    model: float
    none: float
    """Of the guess "no overhead"."""
    median: float
    """Of the guess that it has the median overhead of the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """The overhead that the application should have in one environment."""

    arm: Candidate
    basis: Basis
    n: int
    """Number of known workloads behind it."""
    overhead: Estimate | None
    """As a fraction, with the interval for one more workload; without skill that of a simple guess. ``None``: nobody
    knows."""
    known: tuple[float, float] | None
    """The least and the largest overhead of the known workloads; ``None``: there are none."""
    left_out: LeftOut | None = None
    parts: Mapping[Resource, float] = field(default_factory=dict)
    """What each resource adds to the predicted overhead, as a fraction; only what adds something."""
    beyond: tuple[Resource, ...] = ()
    """What the application uses more of than any known workload."""
    unknown: tuple[Resource, ...] = ()
    """Those of ``beyond`` that are known of no workload at all."""
    letters: str = ""
    """Two that share a letter are not distinguished."""

    @property
    def stands(self) -> bool:
        """Whether it is a prediction; else the application must be measured."""
        return self.basis in {Basis.RESOURCES, Basis.ALIKE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """An environment that is not considered, and why."""

    arm: Candidate
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """The answer."""

    application: Application
    known: int
    """Number of known workloads in the layout."""
    layout: str | None
    resources: tuple[Resource, ...]
    """Those that the predictions use."""
    measured: tuple[OwnVerdict, ...]
    """The fastest first."""
    predicted: tuple[Predicted, ...]
    """The fastest first; then those that must be measured."""
    rejected: tuple[Rejected, ...]
    ignored: tuple[str, ...]
    """What was not considered, in words."""
    take: tuple[str, ...]
    """The best; several are tied. Empty: nobody knows."""
    measure: tuple[str, ...]
    """The environments to measure, of which the answer depends; empty: there is nothing left to decide."""
