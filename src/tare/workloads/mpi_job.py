# SPDX-License-Identifier: Apache-2.0
"""Common to all kinds that are one MPI program: three options, the launch, and the profile."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from tare.errors import WrongOutput
from tare.records import Sample
from tare.workloads import mpi, profile
from tare.workloads.kind import Options, Output, Shape


class MpiOptions(Options):
    """How messages cross, how many processes there are, and whether the profiler watches."""

    single_copy: mpi.SingleCopy = "natural"
    """How large messages cross between ranks: see ``tare.workloads.mpi``."""
    ranks: Annotated[int, Field(ge=1)] | None = None
    """Processes of each instance, where its other processors are to idle; ``None``: as many as they hold."""
    profile: bool = False
    """Load Tare's MPI profiler into each rank, which shows where the time goes as further metrics."""


class HybridOptions(MpiOptions):
    """Options of programs that may have threads in each rank."""

    threads: Annotated[int, Field(ge=1)] = 1
    """Threads per rank: a layout's processors then hold that many times fewer ranks."""


def launch(options: MpiOptions, shape: Shape, variables: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the argv before the program."""
    exported = profile.preload(shape.tools_directory) if options.profile else {}
    return mpi.launch(shape, single_copy=options.single_copy, variables=variables, exported=exported)


def collected(options: MpiOptions) -> tuple[str, ...]:
    """Files to keep."""
    return (profile.FILE,) if options.profile else ()


def samples(options: MpiOptions, output: Output) -> list[Sample]:
    """The profiler's samples; raises ``WrongOutput`` if they are missing or the requested single copy was refused."""
    if options.single_copy == "cma" and (refused := mpi.refused_single_copy(output.stderr)):
        raise WrongOutput("this environment forbids single_copy = cma; choose none for every arm", refused)
    return profile.profile_samples(output) if options.profile else []


def facts(options: MpiOptions, output: Output) -> dict[str, str]:
    """How messages crossed, in Open MPI's own words."""
    refused = ", refused here" if mpi.refused_single_copy(output.stderr) else ""
    labelled = {"mpi single copy": f"{options.single_copy}{refused}"}
    if used := mpi.transports(output.stderr):
        labelled["mpi transport"] = used
    return labelled | (profile.profile_facts(output) if options.profile else {})
