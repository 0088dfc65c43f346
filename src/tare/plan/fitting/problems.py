# SPDX-License-Identifier: Apache-2.0
"""Problems that fit into the memory of their instances, and how their sizes differ from those that were asked for."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tare.errors import TareError
from tare.plan.definition import Campaign, shape_of
from tare.plan.factors import Factor
from tare.plan.order import Order
from tare.plan.sharing import Setting
from tare.records import (
    Layout,
    Level,
    Limits,
    Workload,
)
from tare.records.scaled import Scaled, Short
from tare.workloads.kind import WorkloadKind
from tare.workloads.part_used import part_used

Kinds = Mapping[str, WorkloadKind]


def with_fitting_problems(campaign: Campaign, points: list[Scaled], kinds: Kinds) -> Campaign:
    """Levels that do not fit are left out, then problems made smaller, then layouts left out."""
    campaign = replace(campaign, factors=tuple(_factors(campaign, points, kinds)))
    workloads = [_fitting(campaign, workload, points, kinds) for workload in campaign.workloads]
    orders = [_ordered(campaign, order, points, kinds) for order in campaign.orders]
    return replace(
        campaign,
        workloads=tuple(own for own in workloads if own is not None),
        orders=tuple(own for own in orders if own is not None),
    )


def misfit(workload: Workload, layout: Layout, limits: Limits, kinds: Kinds) -> str | None:
    """Why an instance cannot have it; ``None`` where it can."""
    kind = kinds[workload.kind]
    try:
        options = kind.options_model.model_validate(dict(workload.options))
        kind.job(options, part_used(options, shape_of(layout, limits)))
    except TareError as error:
        return str(error).partition("; ")[0]
    return None


def smaller(workload: Workload, kinds: Kinds) -> Workload | None:
    """The workload with the next smaller problem."""
    kind = kinds[workload.kind]
    less = kind.smaller(kind.options_model.model_validate(dict(workload.options)))
    return None if less is None else replace(workload, options={**workload.options, **less})


def _cells(campaign: Campaign, name: str) -> list[tuple[Workload, Setting]]:
    return [(workload, setting) for workload, setting in campaign.cells if workload.name == name]


def _factors(campaign: Campaign, points: list[Scaled], kinds: Kinds) -> Iterator[Factor]:
    """The factors without the levels of a problem that does not fit in any layout."""
    for factor in campaign.factors:
        lost = {
            level.text: why
            for level in factor.levels
            if factor.changes_workloads and (why := _too_large(campaign, level, kinds))
        }
        yield from without_levels(campaign, factor, lost, Short.MEMORY, points)


def without_levels(
    campaign: Campaign, factor: Factor, lost: Mapping[str, str], short_of: Short, points: list[Scaled]
) -> Iterator[Factor]:
    """The factor with its other levels, if two are left; nothing where fewer are."""
    if not lost:
        yield factor
        return
    kept = [place for place, level in enumerate(factor.levels) if level.text not in lost]
    points.append(
        Scaled(
            what=f"{factor.key} of {', '.join(factor.names)}",
            asked=", ".join(lost),
            here=None,
            why=next(iter(lost.values())),
            short_of=short_of,
            workloads=factor.names,
            layouts=tuple(
                dict.fromkeys(str(own.layout) for each, own in campaign.cells if each.name in factor.names)
            ),
        )
    )
    if len(kept) > 1:
        yield replace(
            factor,
            levels=tuple(factor.levels[place] for place in kept),
            values=tuple(factor.values[place] for place in kept),
        )


def _too_large(campaign: Campaign, level: Level, kinds: Kinds) -> str | None:
    own = [(workload, setting) for workload, setting in campaign.cells if level in setting.levels]
    reasons = [misfit(workload, setting.layout, setting.limits, kinds) for workload, setting in own]
    return reasons[0] if reasons and all(reasons) else None


def _fitting(campaign: Campaign, workload: Workload, points: list[Scaled], kinds: Kinds) -> Workload | None:
    """The workload with the largest problem that all its layouts hold, in all but those that hold none."""
    cells = _cells(campaign, workload.name)
    levels = [cell for cell in cells if cell[1].levels]
    lost: dict[str, str] = {}
    chosen = workload
    for own, setting in cells:
        if cells == levels:
            candidate, why = own, misfit(own, setting.layout, setting.limits, kinds)
        else:
            candidate, why = _shrunk(chosen, setting, kinds)
        if why is not None:
            lost[str(setting.layout)] = why
        elif cells != levels:
            chosen = candidate
    if not lost:
        return chosen
    here = [str(own.layout) for _, own in cells if str(own.layout) not in lost]
    for layout, why in lost.items():
        points.append(
            Scaled(
                what=f"{workload.name} in {layout}",
                asked="",
                here=None,
                why=why,
                short_of=Short.OTHER,
                workloads=(workload.name,),
                layouts=(layout,),
            )
        )
    return replace(chosen, layouts=tuple(dict.fromkeys(here))) if here else None


def _shrunk(workload: Workload, setting: Setting, kinds: Kinds) -> tuple[Workload, str | None]:
    """The workload with the largest problem that fits; as it is, with the reason, where none does."""
    first = misfit(workload, setting.layout, setting.limits, kinds)
    candidate, why = workload, first
    while why is not None and (less := smaller(candidate, kinds)) is not None:
        candidate, why = less, misfit(less, setting.layout, setting.limits, kinds)
    return (candidate, None) if why is None else (workload, first)


def _ordered(campaign: Campaign, order: Order, points: list[Scaled], kinds: Kinds) -> Order | None:
    """The order experiment without the values that do not fit."""
    limits = campaign.limits.of(order.layout)
    reasons = {value: misfit(order.runs(value), order.layout, limits, kinds) for value in order.values}
    lost = {value: why for value, why in reasons.items() if why}
    return without_values(order, lost, Short.MEMORY, points)


def without_values(
    order: Order, lost: Mapping[int | float, str], short_of: Short, points: list[Scaled]
) -> Order | None:
    """The order experiment with its other values; ``None`` if fewer than two are left."""
    if not lost:
        return order
    kept = tuple(value for value in order.values if value not in lost)
    points.append(
        Scaled(
            what=f"order of {order.workload.name}",
            asked=", ".join(map(str, lost)),
            here=None,
            why=next(iter(lost.values())),
            short_of=short_of,
            workloads=(order.workload.name,),
            layouts=(str(order.layout),),
        )
    )
    return replace(order, values=kept) if len(kept) > 1 else None


def sizes_said(asked: Campaign, here: Campaign, kinds: Kinds, why: Short = Short.MEMORY) -> Iterator[Scaled]:
    """A point for each workload and size of problem that differs, with the layouts that have it."""
    wanted = _sizes(asked, kinds)
    changed: dict[tuple[str, str, str], list[str]] = {}
    for (name, place), (layout, size) in _sizes(here, kinds).items():
        before = wanted.get((name, place), ("", size))[1]
        if before != size:
            changed.setdefault((name, before, size), []).append(layout)
    for (name, before, size), layouts in changed.items():
        kind, number = _common(before, size)
        yield Scaled(
            what=f"{name} in {', '.join(layouts)}",
            asked=number,
            here=f"{kind}{size.removeprefix(kind)}",
            why=str(why),
            short_of=why,
            workloads=(name,),
            layouts=tuple(layouts),
        )


def _common(before: str, size: str) -> tuple[str, str]:
    """The word that both begin with, and the rest of the first: "N " and "20,544"."""
    word = f"{before.partition(' ')[0]} "
    return (word, before.removeprefix(word)) if size.startswith(word) else ("", before)


def _sizes(campaign: Campaign, kinds: Kinds) -> dict[tuple[str, str], tuple[str, str]]:
    """Workload, and layout without its hosts and with its levels → setting, and the size in words."""
    sizes = {}
    for workload, setting in campaign.cells:
        kind = kinds[workload.kind]
        options = kind.options_model.model_validate(dict(workload.options))
        try:
            said = kind.size_said(options, part_used(options, shape_of(setting.layout, setting.limits)))
        except TareError:
            continue
        if said is not None:
            sizes[workload.name, str(setting)] = (str(setting), said)
    return sizes
