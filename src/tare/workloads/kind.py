# SPDX-License-Identifier: Apache-2.0
"""What every workload provides: an argv with its input files, and a pure parser of its output."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

from tare.records import (
    CPU_TIME,
    NET_OF_LOAD,
    Coordinate,
    Direction,
    MpiLauncher,
    OptionValue,
    Range,
    Sample,
    Storage,
    Way,
)


class Options(BaseModel):
    """Base of each workload's options: the keys of a campaign's ``[[workload]]`` table."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


Own = TypeVar("Own", bound=Options)


def own(model: type[Own], options: Options) -> Own:
    """Narrow ``options`` to a kind's own model; ``TypeError`` when another kind's were passed."""
    if not isinstance(options, model):
        raise TypeError(f"expected {model.__name__}, got {type(options).__name__}")
    return options


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What the site's own launcher needs, which starts processes beside the nodes, to enter them from there."""

    launcher: MpiLauncher
    enter: tuple[str, ...]
    """Words that enter the node of the process that they begin, before its command there."""
    agent: str
    """Path, on the host on which Tare runs, of the program that its mpirun is to call instead of ssh."""
    folder: str
    """A folder there for the launcher's own files."""
    hosts: tuple[str, ...]
    """Slurm's names of the hosts, in the order of the ranks; none but for srun."""
    job: str | None = None
    """The Slurm job's number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The nodes that a cooperative instance spans, as its launch needs them."""

    hosts: tuple[str, ...]
    """Names, resolved in every node; each takes an equal share of the processes."""
    addresses: tuple[str | None, ...] = ()
    """Addresses of these nodes, for a program that connects by itself; ``None`` if unknown, empty in a plan."""
    subnet: str
    """Where the nodes reach each other: an address range in CIDR notation, or an interface's name."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables that the launch agent needs."""
    site: Site | None = None
    """``None``: the image's mpirun starts the processes, and Tare lets it into the nodes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What one instance may use, all its nodes together."""

    processors: int
    """Number of processes: one for each processor, or for each ``threads`` processors."""
    memory_byte: int
    instance: int
    tools_directory: str
    """Where the node sees Tare's own programs."""
    span: Span | None = None
    """``None``: it has one node, or a part of one."""
    oversubscribed: bool = False
    """Whether processes must share processors: the host has fewer than the layout requires, or others use them."""
    threads: int = 1
    """Threads per process, which has as many processors to itself."""
    lacking_flags: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Environment of the campaign → the host's CPU flags that its nodes lack and programs must not use."""
    storage: Storage = Storage.DISK
    """What lies below everything that its nodes write."""
    verbs: bool = False
    """Whether its nodes have the verbs of InfiniBand or RoCE, by which MPI then sends between them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One instance, ready to run in its own empty folder."""

    argv: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    """Input files to write there: relative path → text."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables in addition to the node's minimal set."""
    image_variables: Mapping[str, str] = field(default_factory=dict)
    """Those that the image states, which ``variables`` override; not set where a node has other files."""
    image_directory: str | None = None
    """Working directory that the image states, where ``directory`` does not; not used where a node has other files."""
    collect: tuple[str, ...] = ()
    """Output files to keep: relative paths. A missing one is an error only for the parser."""
    evidence: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Label → argv, run in the node before the measured command with the same variables; output is a fact."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """What is known beforehand about how it runs, and why."""
    preflight: tuple[str, ...] = ()
    """Command to run once beforehand, in the same way: if it fails, the measured command cannot run."""
    program: str | None = None
    """The measured program, where ``argv`` starts another one first (mpirun); ``None``: the first of ``argv``."""
    directory: str | None = None
    """Working directory instead of the instance's own folder; a path inside the node."""
    input: str | None = None
    """File that is its standard input; a path inside the node. ``None``: it is empty."""
    prepare: tuple[str, ...] = ()
    """Command to run before every run, in the same place and not timed; the run is lost if it fails."""
    check: tuple[str, ...] = ()
    """Command to run after every run, in the same way; the run counts only if it succeeds."""
    cold: bool = False
    """Whether the page caches of its nodes and of their host are emptied before every run, after ``prepare``."""
    direct: bool = False
    """Whether its files must pass every page cache by (O_DIRECT)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """The output of one instance, as text (undecodable bytes replaced)."""

    stdout: str
    stderr: str
    files: Mapping[str, str]
    """The collected files that exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Work of a resident program, done in slices of a number of units."""

    name: str
    """Its name in the request for a turn."""
    metric: str
    """The sample's name: the time of one unit of work, or the rate at which it moves bytes."""
    moved_byte: int | None = None
    """Bytes that one unit moves, where the metric is a bandwidth; ``None``: it is a time."""
    start_count: int
    """Units in a slice, where the search for a suitable count begins; a plain trial does as many."""
    fixed: bool = False
    """Whether a slice is always ``start_count`` units, as the program does not read a count."""
    alone: bool = False
    """Whether a single thread does all the work, so that its wall time minus its waiting time is its own."""
    coordinates: tuple[Coordinate, ...] = ()
    """The place of its samples; empty: they are figures."""

    def wall_sample(self, time_s: float, name: str | None = None) -> Sample:
        """The sample of a unit of work that took ``time_s`` of wall time; ``name``: another than ``metric``."""
        rate = self.moved_byte is not None
        return Sample(
            name=name or self.metric,
            value=self.moved_byte / time_s if self.moved_byte is not None else time_s,
            unit="B/s" if rate else "s",
            direction=Direction.MORE if rate else Direction.LESS,
            coordinates=self.coordinates,
        )

    @property
    def cpu_metric(self) -> str:
        """The CPU time of one unit of work, over all participating processes."""
        return f"{self.metric}{CPU_TIME}"

    @property
    def net_metric(self) -> str:
        """The time of one unit minus its wait for a processor that others had; only for pieces that work ``alone``."""
        return f"{self.metric}{NET_OF_LOAD}"

    @property
    def metrics(self) -> tuple[str, ...]:
        """All metrics that a campaign may declare as primary."""
        return (self.metric, self.cpu_metric, self.net_metric) if self.alone else (self.metric,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """Options that the campaign leaves open, and that native runs choose before the first trial."""

    candidates: tuple[Mapping[str, OptionValue], ...]
    """Values of the same options; the first are the usual ones, and stay unless others are reliably better."""
    problem: Mapping[str, OptionValue] = field(default_factory=dict)
    """Options of these runs only, such as a smaller problem."""


class WorkloadKind(Protocol):
    """One kind of workload; the explicit list is in ``workloads/__init__.py``."""

    name: str
    options_model: type[Options]
    primary_metric: str
    """The sample or range whose overhead is this workload's headline, declared before any run."""

    def pieces(self, options: Options) -> tuple[Piece, ...]:
        """The pieces that its program does in slices; empty: it runs from start to end."""
        return ()

    def ranges(self, options: Options) -> tuple[Range, ...]:
        """The figures that it declares for ranges of its curves, each with a point at least."""
        return ()

    def scan(self, options: Options, shape: Shape) -> Scan | None:
        """What its primary metric is to choose once for each host; ``None``: the options leave nothing open."""
        return None

    def way(self, options: Options) -> Way:
        """How its program can take turns: a program that reports its own times must not be paused."""
        return Way.SLICES if self.pieces(options) else Way.WHOLE

    def expected_s(self, options: Options, shape: Shape) -> float | None:
        """Guess the run time roughly, for the plan; ``None`` when unknowable."""
        ...

    def size_said(self, options: Options, shape: Shape) -> str | None:
        """The size of the problem in words, where options and memory make one, such as ``N 20,544``."""
        return None

    def smaller(self, options: Options) -> Mapping[str, OptionValue] | None:
        """The options to change for the next smaller problem; ``None``: there is none."""
        return None

    def job(self, options: Options, shape: Shape) -> Job:
        """Compose the command of one instance; raises ``InputError`` if the shape cannot hold it."""
        ...

    def resident(self, options: Options, shape: Shape) -> Job:
        """Compose the command that waits for turns, if there are ``pieces``; raises the same errors."""
        return self.job(options, shape)

    def samples(self, options: Options, output: Output) -> list[Sample]:
        """Parse text to samples, purely; raises ``WrongOutput`` if it is missing, cut or fails its own check.

        Non-zero exits, signals and time-outs never get here: the runner has already made them failed trials. It adds
        ``wall_s`` and ``cpu_s`` to the result itself.
        """
        ...

    def facts(self, options: Options, output: Output) -> dict[str, str]:
        """Find evidence beside the samples, purely: problem size, library versions; empty when unreadable."""
        ...
