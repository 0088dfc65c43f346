# SPDX-License-Identifier: Apache-2.0
"""The layouts of a campaign on the hosts and processors that there are.

A layout over more hosts than there are goes on as many as there are. Onto a single one it goes only if it has several
nodes on each host: with one on each it is about the wire between them, which is missing then.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tare.plan.definition import Campaign
from tare.plan.factors import Factor, Of, at_hosts
from tare.plan.schema import Host, size_problem
from tare.plan.sharing import Sharing
from tare.records import (
    Layout,
    Spread,
    Workload,
)
from tare.records.scaled import Scaled, Short


@dataclass(frozen=True, slots=True)
class _Destination:
    """Where a layout is measured here; ``None``: not at all, for a reason."""

    here: Layout | None
    why: str
    short_of: Short = Short.HOSTS


def placed(campaign: Campaign, host: Host, points: list[Scaled]) -> Campaign:
    """The campaign with each layout where it fits; ``points`` takes what that changes."""
    places = {layout: _place(layout, host) for layout in layouts_of(campaign)} | _over(campaign, host)
    kept = {layout: place.here for layout, place in places.items() if place.here is not None}
    points += _joined(_moves(campaign, places))
    points += _crowds(list(kept.values()), host)
    moved = in_layouts(campaign, kept)
    return replace(moved, factors=tuple(_factors(campaign, host, kept, points)))


def in_layouts(campaign: Campaign, kept: Mapping[Layout, Layout]) -> Campaign:
    """The campaign with these of its layouts, each in another place or its own."""
    workloads = [_on(workload, campaign.layouts, kept) for workload in campaign.workloads]
    return replace(
        campaign,
        layouts=_unique(kept[layout] for layout in campaign.layouts if layout in kept),
        workloads=tuple(workload for workload in workloads if workload is not None),
        sharings=tuple(filter(None, (_shared(sharing, kept) for sharing in campaign.sharings))),
        orders=tuple(
            replace(order, layout=kept[order.layout]) for order in campaign.orders if order.layout in kept
        ),
    )


def layouts_of(campaign: Campaign) -> tuple[Layout, ...]:
    return _unique((*campaign.layouts, *(order.layout for order in campaign.orders)))


def _over(campaign: Campaign, host: Host) -> dict[Layout, _Destination]:
    """The layouts on more hosts than there are, of a factor that has smaller levels."""
    return {
        Layout.parse(at_hosts(text, count)): _Destination(None, f"there are {host.hosts} hosts")
        for factor in campaign.factors
        if factor.of is Of.HOSTS
        for count in (int(level.text) for level in factor.levels)
        for text in factor.names
        if min(int(level.text) for level in factor.levels) <= host.hosts < count and host.hosts > 1
    }


def _place(layout: Layout, host: Host) -> _Destination:
    moved = layout if layout.hosts <= host.hosts else _nearer(layout, host.hosts)
    if moved is None:
        why = "it is about the wire between hosts, and there is one host: name more by --hosts"
        return _Destination(None, why)
    if problem := size_problem(moved, host):
        why = f"it {problem.partition('; oversubscribe')[0]}"
        return _Destination(None, why, Short.PROCESSORS if moved == layout else Short.HOSTS)
    return _Destination(moved, "this host alone" if host.hosts == 1 else f"there are {host.hosts}")


def _nearer(layout: Layout, hosts: int) -> Layout | None:
    """The layout on the most hosts that can have equal parts of it."""
    for count in range(hosts, 0, -1):
        instances = layout.instances % count == 0 or count % layout.instances == 0
        if layout.nodes % count == 0 and instances and (count > 1 or layout.nodes_per_host > 1):
            return replace(layout, hosts=count, spread=layout.spread if count > 1 else Spread.PACKED)
    return None


def _on(workload: Workload, all_layouts: Sequence[Layout], kept: Mapping[Layout, Layout]) -> Workload | None:
    """The workload in its layouts that are left; ``None`` without any."""
    own = [layout for layout in all_layouts if workload.runs_in(layout)]
    here = _unique(kept[layout] for layout in own if layout in kept)
    if not here:
        return None
    return workload if workload.layouts is None else replace(workload, layouts=tuple(map(str, here)))


def _shared(sharing: Sharing, kept: Mapping[Layout, Layout]) -> Sharing | None:
    together = _unique(kept[layout] for layout in sharing.together if layout in kept)
    if sharing.alone not in kept or not (together or sharing.neighbour):
        return None
    return replace(sharing, alone=kept[sharing.alone], together=together)


def _moves(campaign: Campaign, places: dict[Layout, _Destination]) -> Iterator[Scaled]:
    """A point for each layout that is elsewhere or nowhere; of several that come to the same the first is measured."""
    measured = {layout: _names(campaign, layout) for layout, place in places.items() if place.here == layout}
    for layout, place in places.items():
        if place.here == layout:
            continue
        names, here, why = _names(campaign, layout), place.here, place.why
        if here is not None:
            known = measured.setdefault(here, set())
            why = f"on {_hosts(here)} it is {here} again" if names <= known else why
            here = None if names <= known else here
            known |= names
        yield Scaled(
            what=str(layout),
            asked="" if here is None else _hosts(layout),
            here=None if here is None else f"on {_hosts(here)}",
            why=why,
            short_of=place.short_of,
            workloads=tuple(sorted(names)),
            layouts=(str(place.here or layout),),
        )


def _joined(points: Iterable[Scaled]) -> Iterator[Scaled]:
    """One point for all layouts that are left out for the same reason."""
    alike: dict[tuple[str | None, str], list[Scaled]] = {}
    for point in points:
        alike.setdefault((None if point.here is None else point.what, point.why), []).append(point)
    for own in alike.values():
        yield replace(
            own[0],
            what=", ".join(point.what for point in own),
            workloads=tuple(sorted({name for point in own for name in point.workloads})),
            layouts=tuple(dict.fromkeys(layout for point in own for layout in point.layouts)),
        )


def _names(campaign: Campaign, layout: Layout) -> set[str]:
    """Of the workloads and order experiments that run in it."""
    workloads = (workload.name for workload in campaign.workloads if workload.runs_in(layout))
    return {*workloads, *(str(order) for order in campaign.orders if order.layout == layout)}


def _hosts(layout: Layout) -> str:
    return "1 host" if layout.hosts == 1 else f"{layout.hosts} hosts"


def _crowds(layouts: Sequence[Layout], host: Host) -> Iterator[Scaled]:
    """A point for each number of processors that nodes on a host must share."""
    crowded: dict[int, list[str]] = {}
    for layout in _unique(layouts):
        wanted = layout.as_native.processors
        if wanted > host.processors:
            crowded.setdefault(wanted, []).append(str(layout))
    for wanted, names in sorted(crowded.items()):
        share = -(-wanted // host.processors)
        whose = "this host has" if host.hosts == 1 else "the smallest host has"
        yield Scaled(
            what=", ".join(names),
            asked="",
            here=f"{wanted} processors as {host.processors}",
            why=f"{whose} {host.processors}, so {share} share one",
            short_of=Short.PROCESSORS,
            layouts=tuple(names),
        )


def _factors(
    campaign: Campaign, host: Host, kept: Mapping[Layout, Layout], points: list[Scaled]
) -> Iterator[Factor]:
    """The factors with the levels that are there; one that has no two left is left out."""
    texts = {str(layout) for layout, here in kept.items() if layout == here}
    for factor in campaign.factors:
        if not factor.changes_layouts:
            yield factor
            continue
        places = [
            place
            for place, level in enumerate(factor.levels)
            if (int(level.text) <= host.hosts if factor.of is Of.HOSTS else level.text in texts)
        ]
        if len(places) < len(factor.levels):
            points.append(_lost_levels(factor, places))
        if len(places) > 1:
            yield replace(
                factor,
                levels=tuple(factor.levels[place] for place in places),
                values=tuple(factor.values[place] for place in places),
            )


def _lost_levels(factor: Factor, places: Sequence[int]) -> Scaled:
    """A single level that is left is measured all the same, though it is no factor's."""
    lost = [level.text for place, level in enumerate(factor.levels) if place not in places]
    here = ", ".join(factor.levels[place].text for place in places) if len(places) > 1 else None
    return Scaled(
        what=f"levels of {factor.key}",
        asked=", ".join(level.text for level in factor.levels) if here else ", ".join(lost),
        here=here,
        why="the others are not here" if here else "they are not here",
        short_of=Short.HOSTS,
    )


def _unique(layouts: Iterator[Layout] | Sequence[Layout]) -> tuple[Layout, ...]:
    return tuple(dict.fromkeys(layouts))
