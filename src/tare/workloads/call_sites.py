# SPDX-License-Identifier: Apache-2.0
"""From where in a program MPI is called, and what that costs: a profile's places, joined over its ranks."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from pydantic import Field

from tare.records import Activity
from tare.records.profiled import CallPlace, CallSite, ProfiledRank, ProfiledRun
from tare.untrusted import from_json
from tare.workloads.profile import ProfilePart, RankTimes

_Count = Annotated[int, Field(ge=0)]
_Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Row(ProfilePart):
    call: str | None
    module: str | None
    offset: _Count | None
    function: str | None
    count: _Count
    time_s: _Seconds

    @property
    def place(self) -> CallPlace:
        return CallPlace(call=self.call, module=self.module, offset=self.offset, function=self.function)


class _Module(ProfilePart):
    path: str
    build_id: str | None


class _SitedRank(RankTimes):
    rank: _Count
    call_sites: tuple[_Row, ...] = ()
    """Of an older profiler none are known."""
    modules: tuple[_Module, ...] = ()


class _SitedProfile(ProfilePart):
    schema_number: Literal[1] = Field(alias="schema")
    program: str
    library: str
    ranks: Annotated[int, Field(gt=0)]
    partial: bool
    profile: tuple[_SitedRank, ...]


def parse_profiled(text: str) -> ProfiledRun:
    """Read a whole profile; ``ValueError`` if it is none."""
    profile = _SitedProfile.model_validate(from_json(text))
    return ProfiledRun(
        program=profile.program,
        library=profile.library,
        ranks=tuple(
            ProfiledRank(rank=rank.rank, times_s={activity: rank.time_s(activity) for activity in Activity})
            for rank in profile.profile
        ),
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


def _joined(ranks: Sequence[_SitedRank]) -> tuple[CallSite, ...]:
    rows: dict[CallPlace, list[_Row]] = {}
    for rank in ranks:
        for row in rank.call_sites:
            rows.setdefault(row.place, []).append(row)
    whole_s = sum(rank.wall_s for rank in ranks)
    sites = [_site(place, own, len(ranks), whole_s) for place, own in rows.items()]
    return tuple(sorted(sites, key=lambda site: -site.mean_s))


def _site(place: CallPlace, rows: Sequence[_Row], ranks: int, whole_s: float) -> CallSite:
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
    by_place: dict[CallPlace, list[CallSite]] = {}
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
