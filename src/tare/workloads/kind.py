# SPDX-License-Identifier: Apache-2.0
"""What every workload owes: an argv with its input files, and a pure parser of what it printed."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

from tare.records import CPU_TIME, NET_OF_LOAD, Sample, Way


class Options(BaseModel):
    """Base of each workload's options: what a campaign's ``[[workload]]`` table may hold."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


Own = TypeVar("Own", bound=Options)


def own(model: type[Own], options: Options) -> Own:
    """Narrow ``options`` to a kind's own model; ``TypeError`` when another kind's were passed."""
    if not isinstance(options, model):
        raise TypeError(f"expected {model.__name__}, got {type(options).__name__}")
    return options


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The nodes over which a cooperative instance stretches, as its launch needs them."""

    hosts: tuple[str, ...]
    """Names, resolved in every node; each takes an equal share of the processes."""
    addresses: tuple[str | None, ...] = ()
    """Of the same nodes, for a program that connects by itself; ``None`` where none is known, empty in a plan."""
    subnet: str
    """Where the nodes reach each other: an address range in CIDR notation, or an interface's name."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """What the launch agent must find in its environment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What one instance may use, all its nodes together."""

    processors: int
    """How many processes it is to have: one for each of its processors, or for each ``threads`` of them."""
    memory_byte: int
    instance: int
    tools_directory: str
    """Where the node sees Tare's own programs."""
    span: Span | None = None
    """``None``: it has one node, or a part of one."""
    oversubscribed: bool = False
    """Whether processes must share the processors: the host has fewer than the layout asks for, or others use them."""
    threads: int = 1
    """Of each process, which has as many of the processors for itself."""
    lacking_flags: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Environment of the campaign → the host's CPU flags that its nodes lack, so that none may be relied on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One instance, ready to run in its own empty folder."""

    argv: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    """Input files to write there: relative path → text."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables beside the node's minimal set."""
    collect: tuple[str, ...] = ()
    """Output files to keep: relative paths. A missing one is not an error here, but for the parser."""
    evidence: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Label → argv, run in the node before the measured command with the same variables; output is a fact."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """What is known beforehand of how it runs, and why so."""
    preflight: tuple[str, ...] = ()
    """Run once before the measured command, in the same way: if it fails the command cannot be measured."""
    program: str | None = None
    """What is measured, where ``argv`` starts another program first, as mpirun; ``None``: the first of ``argv``."""
    directory: str | None = None
    """Run here instead of the instance's own folder; a path inside the node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What one instance left, as text (undecodable bytes replaced)."""

    stdout: str
    stderr: str
    files: Mapping[str, str]
    """The collected files that exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Work of a resident program, done in slices of so many units."""

    name: str
    """As a turn asks for it."""
    metric: str
    """The sample's name: the time of one unit of work."""
    unit: str = "s"
    start_count: int
    """Units in a slice, to begin the search for a fitting count with; a plain trial does as many."""
    fixed: bool = False
    """Whether a slice is always ``start_count`` units, as the program does not read how many are wanted."""
    alone: bool = False
    """Whether a single thread does all of the work, so that its wall time less what it waited is its own."""

    @property
    def cpu_metric(self) -> str:
        """The CPU time of one unit of work, of all processes that take part."""
        return f"{self.metric}{CPU_TIME}"

    @property
    def net_metric(self) -> str:
        """The time of one unit less what it waited for a processor that others had; only of what works ``alone``."""
        return f"{self.metric}{NET_OF_LOAD}"

    @property
    def metrics(self) -> tuple[str, ...]:
        """All that a campaign may declare as primary."""
        return (self.metric, self.cpu_metric, self.net_metric) if self.alone else (self.metric,)


class WorkloadKind(Protocol):
    """One kind of workload; the explicit list is in ``workloads/__init__.py``."""

    name: str
    options_model: type[Options]
    primary_metric: str
    """The sample name whose overhead is this workload's headline, declared before any run."""

    def pieces(self, options: Options) -> tuple[Piece, ...]:
        """What its program does slice by slice; empty: it runs from start to end."""
        return ()

    def way(self, options: Options) -> Way:
        """How its program can take turns: one that reports times of its own must not be paused."""
        return Way.SLICES if self.pieces(options) else Way.WHOLE

    def expected_s(self, options: Options, shape: Shape) -> float | None:
        """Guess the run time roughly, for the plan; ``None`` when unknowable."""
        ...

    def job(self, options: Options, shape: Shape) -> Job:
        """Compose the command of one instance; raises ``InputError`` if the shape cannot hold it."""
        ...

    def resident(self, options: Options, shape: Shape) -> Job:
        """Compose the command that waits for turns, where there are ``pieces``; raises the same."""
        return self.job(options, shape)

    def samples(self, options: Options, output: Output) -> list[Sample]:
        """Turn text to samples, purely; raises ``WrongOutput`` when missing, cut or failing its own check.

        The runner has already made a failed trial of a non-zero exit, a signal or a time-out: none of
        them comes here. It adds ``wall_s`` and ``cpu_s`` by itself to what this returns.
        """
        ...

    def facts(self, options: Options, output: Output) -> dict[str, str]:
        """Find evidence beside the samples, purely: problem size, library versions; empty when unreadable."""
        ...
