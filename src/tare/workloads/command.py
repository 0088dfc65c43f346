# SPDX-License-Identifier: Apache-2.0
"""The user's command, measured from outside.

The runner fails a trial for any exit code but 0, and adds ``wall_s`` of each instance and ``cpu_s`` of the trial
itself, so there is nothing to parse here.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from tare.errors import InputError
from tare.records import Direction, Sample, Way
from tare.workloads import mpi, profile
from tare.workloads.kind import Job, Options, Output, Piece, Shape, WorkloadKind, own
from tare.workloads.merit import Merit
from tare.workloads.mpi import Launcher

_OWN = {"wall_s", "cpu_s", "energy_j", "iteration"}
"""Samples that the runner makes itself."""
_ANY_ASSIGNMENT = re.compile(r"[^=]+=.*", re.DOTALL)
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("holds a NUL byte, which no command can be given")
    return text


def _absolute(text: str) -> str:
    if not text.startswith("/"):
        raise ValueError(f"{text!r} is not an absolute path inside the node")
    return text


def _assignment(text: str) -> str:
    if not _ASSIGNMENT.fullmatch(text):
        raise ValueError(f"{text!r} is not an assignment; write NAME=VALUE")
    return text


def _any_assignment(text: str) -> str:
    if not _ANY_ASSIGNMENT.fullmatch(text):
        raise ValueError(f"{text!r} is not an assignment; write NAME=VALUE")
    return text


def _figure(text: str) -> str:
    Merit.parse(text)
    return text


_Text = Annotated[str, AfterValidator(_without_nul)]


class CommandOptions(Options):
    """``{tools}`` in ``argv`` and ``variables`` is the path of Tare's own programs in the node."""

    argv: list[_Text] = Field(min_length=1)
    directory: Annotated[_Text, AfterValidator(_absolute)] | None = None
    """Inside the node; ``None``: the instance's own empty folder."""
    variables: list[Annotated[_Text, AfterValidator(_assignment)]] = Field(default_factory=list)
    """``NAME=VALUE`` each."""
    image_directory: Annotated[_Text, AfterValidator(_absolute)] | None = None
    """As ``directory``, but stated by the image: used without a ``directory``, and not on the host's own files."""
    image_variables: list[Annotated[_Text, AfterValidator(_any_assignment)]] = Field(default_factory=list)
    """As ``variables``, but stated by the image: they come first, and are not set on the host's own files."""
    mpi: bool = False
    """Start it by mpirun, one process for each of the instance's processors."""
    launcher: Launcher = "tare"
    """By what mpirun, for an MPI program: as Tare starts Open MPI, or as the image's own comes."""
    threads: Annotated[int, Field(ge=1)] = 1
    """Threads per MPI process, which then has as many processors to itself."""
    ranks: Annotated[int, Field(ge=1)] | None = None
    """MPI processes of each instance, where its other processors are to idle; ``None``: as many as they hold."""
    turns: bool = False
    """Whether it does one iteration for each line of its standard input, and answers each with a line."""
    profile: bool = False
    """Load Tare's MPI profiler into each process."""
    input: Annotated[_Text, AfterValidator(_absolute)] | None = None
    """File inside the node that is its standard input; ``None``: it is empty."""
    prepare: list[_Text] = Field(default_factory=list)
    """Command that runs before every run, and is not timed."""
    check: list[_Text] = Field(default_factory=list)
    """Command that runs after every run; the run counts only if it ends with 0."""
    figures: list[Annotated[_Text, AfterValidator(_figure)]] = Field(default_factory=list)
    """Figures of merit in what it prints, ``NAME=REGEX`` or ``NAME [UNIT, higher]=REGEX`` each.

    The first group of the last match is the number; with named groups ``value`` is, the others are coordinates, and
    every match is a point of a curve.
    """
    unit: str = ""
    """Unit of the figures of merit that state none."""
    higher_is_better: bool = False
    """Whether a larger figure of merit is a better one, where it does not say so itself."""

    @property
    def merits(self) -> tuple[Merit, ...]:
        """The figures of merit."""
        return tuple(map(Merit.parse, self.figures))

    @model_validator(mode="after")
    def _check_figures(self) -> Self:
        names = [merit.name for merit in self.merits]
        if taken := sorted({name for name in names if name in _OWN or names.count(name) > 1}):
            raise ValueError(f"the figures of merit need other names than {', '.join(taken)}: each its own")
        if self.figures and self.turns:
            raise ValueError("turns time the iterations themselves: leave the figures of merit out")
        if any(merit.unit is None for merit in self.merits) and not self.unit:
            raise ValueError("figures of merit need a unit, such as GB/s; write 1 for a pure number")
        return self

    @model_validator(mode="after")
    def _check_mpi(self) -> Self:
        if self.profile and (not self.mpi or self.directory is not None):
            raise ValueError(
                "profile = true needs mpi = true, and the instance's own folder instead of a directory"
            )
        if self.launcher != "tare" and (not self.mpi or self.profile):
            raise ValueError(
                'launcher = "image" needs mpi = true, and goes without the profiler: images have that for Open MPI '
                "alone, and docs/mpi.md says why"
            )
        if (self.threads > 1 or self.ranks is not None) and not self.mpi:
            raise ValueError("threads and ranks are for MPI processes: set mpi = true, or leave them out")
        return self


_ITERATION = Piece(name="turn", metric="iteration", start_count=1, fixed=True)


class AnyCommand(WorkloadKind):
    """Any argv."""

    name = "command"
    options_model: type[Options] = CommandOptions
    primary_metric = "wall_s"

    def pieces(self, options: Options) -> tuple[Piece, ...]:
        return (_ITERATION,) if own(CommandOptions, options).turns else ()

    def way(self, options: Options) -> Way:
        chosen = own(CommandOptions, options)
        if chosen.turns:
            return Way.SLICES
        # A program that reports its own figures would count the time in which it is frozen.
        return Way.WHOLE if chosen.profile or chosen.figures else Way.FREEZER

    def expected_s(self, options: Options, shape: Shape) -> float | None:
        return None

    def job(self, options: Options, shape: Shape) -> Job:
        chosen = own(CommandOptions, options)
        placed = [part.replace("{tools}", shape.tools_directory) for part in chosen.argv]
        variables = _assigned(chosen.variables, shape)
        of_image = _assigned(chosen.image_variables, shape)
        if shape.span is not None and not chosen.mpi:
            raise InputError("one instance spans several nodes, and only an MPI program can: set mpi = true")
        launch, preflight = _launched(chosen, shape, {**of_image, **variables})
        of_launch = mpi.BY_IMAGE if mpi.is_by_image(launch) else {}
        return Job(
            argv=(*launch, *placed),
            program=placed[0],
            variables={name: value for name, value in of_launch.items() if name not in of_image} | variables,
            image_variables=of_image,
            directory=chosen.directory,
            image_directory=None if chosen.profile else chosen.image_directory,
            input=chosen.input,
            prepare=tuple(chosen.prepare),
            check=tuple(chosen.check),
            collect=(profile.FILE,) if chosen.profile else (),
            preflight=preflight,
        )

    def samples(self, options: Options, output: Output) -> list[Sample]:
        chosen = own(CommandOptions, options)
        profiled = profile.profile_samples(output) if chosen.profile else []
        direction = Direction.MORE if chosen.higher_is_better else Direction.LESS
        printed = f"{output.stdout}\n{output.stderr}"
        merits = (merit.samples(printed, chosen.unit, direction) for merit in chosen.merits)
        return [*profiled, *(sample for samples in merits for sample in samples)]

    def facts(self, options: Options, output: Output) -> dict[str, str]:
        chosen = own(CommandOptions, options)
        used = mpi.transports(output.stderr) if chosen.mpi else None
        crossed = {} if used is None else {"mpi transport": used}
        return crossed | (profile.profile_facts(output) if chosen.profile else {})


def _launched(
    options: CommandOptions, shape: Shape, variables: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What comes before an MPI program, and what tests that; both empty for any other program."""
    ranks = mpi.hybrid(shape, options.threads)
    if not options.mpi:
        return (), ()
    if options.launcher == "image":
        return mpi.launch_by_image(ranks), mpi.preflight_by_image(ranks)
    exported = profile.preload(shape.tools_directory) if options.profile else {}
    return mpi.launch(ranks, variables=variables, exported=exported), mpi.preflight(ranks, variables)


def _assigned(entries: Sequence[str], shape: Shape) -> dict[str, str]:
    pairs = (entry.replace("{tools}", shape.tools_directory).split("=", 1) for entry in entries)
    return {name: value for name, value in pairs}  # noqa: C416 - dict() of lists does not type
