# SPDX-License-Identifier: Apache-2.0
"""The user's command, measured from outside.

The runner fails a trial for any exit code but 0, and adds ``wall_s`` of each instance and ``cpu_s`` of the trial
itself, so there is nothing to parse here.
"""

import re
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from tare.errors import InputError
from tare.records import Sample, Way
from tare.workloads import mpi, profile
from tare.workloads.kind import Job, Options, Output, Piece, Shape, WorkloadKind, own

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


_Text = Annotated[str, AfterValidator(_without_nul)]


class CommandOptions(Options):
    """``{tools}`` in ``argv`` and ``variables`` is the path of Tare's own programs in the node."""

    argv: list[_Text] = Field(min_length=1)
    directory: Annotated[_Text, AfterValidator(_absolute)] | None = None
    """Inside the node; ``None``: the instance's own empty folder."""
    variables: list[Annotated[_Text, AfterValidator(_assignment)]] = Field(default_factory=list)
    """``NAME=VALUE`` each."""
    mpi: bool = False
    """Start it by mpirun, one process for each of the instance's processors."""
    threads: Annotated[int, Field(ge=1)] = 1
    """Threads per MPI process, which then has as many processors to itself."""
    turns: bool = False
    """Whether it does one iteration for each line of its standard input, and answers each with a line."""
    profile: bool = False
    """Load Tare's MPI profiler into each process."""

    @model_validator(mode="after")
    def _check_mpi(self) -> Self:
        if self.profile and (not self.mpi or self.directory is not None):
            raise ValueError(
                "profile = true needs mpi = true, and the instance's own folder instead of a directory"
            )
        if self.threads > 1 and not self.mpi:
            raise ValueError("threads are those of MPI processes: set mpi = true, or leave them out")
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
        return Way.SLICES if chosen.turns else Way.WHOLE if chosen.profile else Way.FREEZER

    def expected_s(self, options: Options, shape: Shape) -> float | None:
        return None

    def job(self, options: Options, shape: Shape) -> Job:
        chosen = own(CommandOptions, options)
        placed = [part.replace("{tools}", shape.tools_directory) for part in chosen.argv]
        pairs = (entry.replace("{tools}", shape.tools_directory).split("=", 1) for entry in chosen.variables)
        variables = {name: value for name, value in pairs}  # noqa: C416 - dict() of lists does not type
        if shape.span is not None and not chosen.mpi:
            raise InputError("one instance spans several nodes, and only an MPI program can: set mpi = true")
        exported = profile.preload(shape.tools_directory) if chosen.profile else {}
        ranks = mpi.hybrid(shape, chosen.threads)
        launch = mpi.launch(ranks, variables=variables, exported=exported) if chosen.mpi else ()
        return Job(
            argv=(*launch, *placed),
            program=placed[0],
            variables=variables,
            directory=chosen.directory,
            collect=(profile.FILE,) if chosen.profile else (),
            preflight=mpi.preflight(ranks, variables) if chosen.mpi else (),
        )

    def samples(self, options: Options, output: Output) -> list[Sample]:
        return profile.profile_samples(output) if own(CommandOptions, options).profile else []

    def facts(self, options: Options, output: Output) -> dict[str, str]:
        used = mpi.transports(output.stderr) if own(CommandOptions, options).mpi else None
        return {} if used is None else {"mpi transport": used}
