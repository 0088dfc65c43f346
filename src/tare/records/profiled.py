# SPDX-License-Identifier: Apache-2.0
"""One run of an MPI program by its profile (docs/profiler.md): its ranks, and from where it called MPI."""

from collections.abc import Mapping
from dataclasses import dataclass

from tare.records.activities import Activity
from tare.records.treated import Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPlace:
    """Where calls of one kind come from."""

    call: str | None
    """``None``: all for which the profiler had no room."""
    module: str | None
    """Path of the program or library; ``None``: not known."""
    offset: int | None
    """In the module's own addresses, that to which the call returns."""
    function: str | None
    """By the module's table of symbols."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSite:
    """A place and what its calls took, over the ranks of a run; a rank that never calls there took no time."""

    place: CallPlace
    count: int
    """Of all ranks."""
    mean_s: float
    """Per rank."""
    largest_s: float
    """Of any rank."""
    share: float
    """Of the ranks' time from MPI_Init to MPI_Finalize."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfiledRank:
    """Where the time of one rank went."""

    rank: int
    times_s: Mapping[Activity, float]
    """Of every activity; they add up to the time from MPI_Init to MPI_Finalize."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfiledRun:
    """One run by its profile."""

    program: str
    library: str
    ranks: tuple[ProfiledRank, ...]
    missing: int
    """Number of ranks of which nothing is known."""
    partial: bool
    """Whether some rank is missing, or did not come to MPI_Finalize."""
    sites: tuple[CallSite, ...]
    """The one that took longest first."""
    builds: Mapping[str, str]
    """Path of a module \N{RIGHTWARDS ARROW} which build of it ran, where that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfiledArm:
    """From where the programs of one environment in one cell called MPI, native included."""

    cell: Cell
    environment: str
    runs: int
    """Whose profiles are still there."""
    sites: tuple[CallSite, ...]
    """Means over the runs; the one that took longest first."""
    lines: Mapping[tuple[str, int], str]
    """(Module, offset) \N{RIGHTWARDS ARROW} line of source, such as ``solve.c:12``, where it is known on this host."""
