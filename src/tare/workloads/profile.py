# SPDX-License-Identifier: Apache-2.0
"""Where the time of an MPI program goes: the preload of Tare's profiler, and its file as samples (docs/profiler.md)."""

import re
from collections.abc import Sequence
from statistics import fmean
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from tare.errors import WrongOutput
from tare.records import Activity, Direction, Sample
from tare.untrusted import from_json
from tare.workloads import excerpt
from tare.workloads.kind import Output

FILE = "profile.json"
"""Rank 0 writes it into the instance's own folder."""
_SAID = re.compile(r"^tareprof: .*$", re.MULTILINE)
_Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class ProfilePart(BaseModel):
    """An object of a profile; a newer profiler may tell more."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class _Waits(ProfilePart):
    wait_s: _Seconds | None
    within_s: _Seconds | None = None
    """Largest error of ``wait_s`` by the comparison of clocks; ``None`` of an older profiler, which compared none."""


class RankTimes(ProfilePart):
    """Where the time of one rank went."""

    init_s: _Seconds
    compute_s: _Seconds
    communication_s: _Seconds
    io_s: _Seconds
    late_senders: _Waits
    collective_waits: _Waits = _Waits(wait_s=None)
    """Of an image's older profiler nothing is known."""

    def time_s(self, activity: Activity) -> float:
        """The activity's time; all add up to a rank's time from MPI_Init to MPI_Finalize."""
        return float(getattr(self, f"{activity}_s"))

    @property
    def wall_s(self) -> float:
        """From MPI_Init to MPI_Finalize."""
        return sum(self.time_s(activity) for activity in Activity)


class _Profile(ProfilePart):
    schema_number: Literal[1] = Field(alias="schema")
    library: str
    ranks: Annotated[int, Field(gt=0)]
    partial: Literal[False]
    profile: tuple[RankTimes, ...]


def preload(tools_directory: str) -> dict[str, str]:
    """The variables that load the profiler into each rank and nothing else."""
    return {"LD_PRELOAD": f"{tools_directory}/libtareprof.so", "TARE_PROFILE": FILE}


def profile_samples(output: Output) -> list[Sample]:
    """Mean over ranks and slowest rank for each activity; an activity that took no time is left out.

    Raises ``WrongOutput`` when the file is missing, cut, or lacks a rank.
    """
    ranks = _parsed(output).profile
    samples: list[Sample] = []
    for activity in Activity:
        times_s = [rank.time_s(activity) for rank in ranks]
        samples += _seconds(activity.metric, fmean(times_s))
        samples += _seconds(f"profile_{activity}_slowest_s", max(times_s))
    samples += _waits("profile_late_sender_mean_s", [rank.late_senders for rank in ranks])
    samples += _waits("profile_collective_wait_mean_s", [rank.collective_waits for rank in ranks])
    return samples


def profile_facts(output: Output) -> dict[str, str]:
    """Which MPI library ran, and how well waits are known; nothing when the file cannot be read."""
    try:
        profile = _parsed(output)
    except WrongOutput:
        return {}
    return {"mpi library": excerpt.printable(profile.library)} | _wait_bounds(profile.profile)


def _wait_bounds(ranks: Sequence[RankTimes]) -> dict[str, str]:
    """Where ranks read several clocks: the largest error of the two mean waits."""
    kinds = {
        "late senders": [rank.late_senders for rank in ranks],
        "waits in collective calls": [rank.collective_waits for rank in ranks],
    }
    bounds_s = {name: _mean_bound_s(waits) for name, waits in kinds.items()}
    said = [f"{name} within {1000 * bound_s:.3f} ms" for name, bound_s in bounds_s.items() if bound_s > 0]
    return {"mpi waits between clocks": f"mean over the ranks: {', '.join(said)}"} if said else {}


def _mean_bound_s(waits: Sequence[_Waits]) -> float:
    return fmean(wait.within_s or 0.0 for wait in waits)


def _waits(name: str, waits: Sequence[_Waits]) -> list[Sample]:
    """The mean, if it is known for all ranks and longer than its error."""
    known_s = [wait.wait_s for wait in waits if wait.wait_s is not None]
    is_known = len(known_s) == len(waits) and fmean(known_s) > _mean_bound_s(waits)
    return _seconds(name, fmean(known_s)) if is_known else []


def _seconds(name: str, value: float) -> list[Sample]:
    return [Sample(name=name, value=value, unit="s", direction=Direction.LESS)] if value > 0 else []


def _parsed(output: Output) -> _Profile:
    text = output.files.get(FILE)
    if text is None:
        said = _SAID.search(output.stderr)
        reason = said[0] if said else "was it loaded? It needs the C library of Debian 12 or a newer one"
        raise WrongOutput(f"the profiler wrote no {FILE}: {reason}", excerpt.tail(output.stderr))
    try:
        profile = _Profile.model_validate(from_json(text))
    except ValueError as error:
        raise WrongOutput(f"{FILE} is cut, partial, or of another version", excerpt.tail(text)) from error
    if len(profile.profile) != profile.ranks:
        raise WrongOutput(
            f"{profile.ranks} ranks ran, {len(profile.profile)} are in {FILE}", excerpt.tail(text)
        )
    return profile
