# SPDX-License-Identifier: Apache-2.0
"""From where in a program MPI is called, and what that costs: a profile's places, joined over its ranks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from tare.untrusted import from_json
from tare.workloads.profile import Rank

_Count = Annotated[int, Field(ge=0)]
_Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Place(_Read):
    """Where calls of one kind come from."""

    call: str | None
    """``None``: all for which the profiler had no room."""
    module: str | None = None
    """Path of the program or library; ``None``: not known."""
    offset: _Count | None = None
    """In the module's own addresses, that to which the call returns."""
    function: str | None = None
    """By the module's table of symbols."""


class _Row(Place):
    count: _Count
    time_s: _Seconds

    @property
    def place(self) -> Place:
        return Place(call=self.call, module=self.module, offset=self.offset, function=self.function)


class _Module(_Read):
    path: str
    build_id: str | None


class RankSites(Rank):
    """One rank, and where its calls came from."""

    rank: _Count
    call_sites: tuple[_Row, ...] = ()
    """Of an older profiler none are known."""
    modules: tuple[_Module, ...] = ()


class _Profile(_Read):
    schema_number: Literal[1] = Field(alias="schema")
    program: str
    library: str
    ranks: Annotated[int, Field(gt=0)]
    partial: bool
    profile: tuple[RankSites, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSite:
    """A place and what its calls took, over the ranks of a run; a rank that never calls there took no time."""

    place: Place
    count: int
    """Of all ranks."""
    mean_s: float
    """Per rank."""
    largest_s: float
    """Of any rank."""
    share: float
    """Of the ranks' time from MPI_Init to MPI_Finalize."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profiled:
    """One run by its profile."""

    program: str
    library: str
    ranks: tuple[RankSites, ...]
    missing: int
    """Ranks of which nothing is known."""
    partial: bool
    sites: tuple[CallSite, ...]
    """The one that took longest first."""
    builds: Mapping[str, str]
    """Path of a module \N{RIGHTWARDS ARROW} which build of it ran, where that is known."""


def parse_profiled(text: str) -> Profiled:
    """Read a whole profile; ``ValueError`` if it is none."""
    profile = _Profile.model_validate(from_json(text))
    return Profiled(
        program=profile.program,
        library=profile.library,
        ranks=profile.profile,
        missing=profile.ranks - len(profile.profile),
        partial=profile.partial,
        sites=_joined(profile.profile),
        builds={
            module.path: module.build_id
            for rank in profile.profile
            for module in rank.modules
            if module.build_id is not None
        },
    )


def _joined(ranks: Sequence[RankSites]) -> tuple[CallSite, ...]:
    rows: dict[Place, list[_Row]] = {}
    for rank in ranks:
        for row in rank.call_sites:
            rows.setdefault(row.place, []).append(row)
    whole_s = sum(rank.wall_s for rank in ranks)
    sites = [_site(place, own, len(ranks), whole_s) for place, own in rows.items()]
    return tuple(sorted(sites, key=lambda site: -site.mean_s))


def _site(place: Place, rows: Sequence[_Row], ranks: int, whole_s: float) -> CallSite:
    time_s = sum(row.time_s for row in rows)
    return CallSite(
        place=place,
        count=sum(row.count for row in rows),
        mean_s=time_s / ranks,
        largest_s=max(row.time_s for row in rows),
        share=time_s / whole_s if whole_s else 0.0,
    )


def joined_runs(runs: Iterable[Sequence[CallSite]]) -> tuple[CallSite, ...]:
    """Over runs of the same program: means of the means and shares, the largest of all, calls of all."""
    every = [list(run) for run in runs]
    by_place: dict[Place, list[CallSite]] = {}
    for run in every:
        for site in run:
            by_place.setdefault(site.place, []).append(site)
    sites = [
        CallSite(
            place=place,
            count=sum(site.count for site in own),
            mean_s=sum(site.mean_s for site in own) / len(every),
            largest_s=max(site.largest_s for site in own),
            share=sum(site.share for site in own) / len(every),
        )
        for place, own in by_place.items()
    ]
    return tuple(sorted(sites, key=lambda site: -site.mean_s))
