# SPDX-License-Identifier: Apache-2.0
"""Smaller problems where the budget would not hold enough blocks."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from tare.plan.budget import fits, least_blocks
from tare.plan.definition import Campaign, shape_of
from tare.plan.durations import trial_durations_s
from tare.plan.fitting.problems import Kinds, sizes_said, smaller, without_levels, without_values
from tare.plan.schema import Host
from tare.plan.trials import plan_block
from tare.records import Workload
from tare.records.scaled import Scaled, Short
from tare.workloads.part_used import part_used

_MOST_STEPS = 400
_LEAST_RUN_S = 1.5
"""A shorter run says more of its start than of its work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What there is for a campaign."""

    host: Host
    budget_s: float
    missing: AbstractSet[str]
    """Environments that will be skipped, so that they take no time."""


def within_time(campaign: Campaign, room: Room, points: list[Scaled], kinds: Kinds) -> Campaign:
    """The campaign with problems so small that the budget holds the fewest blocks that give an interval.

    The workload that takes most is made smaller, again and again, as long as there is one that can be.
    """
    wanted_s = room.budget_s / min(_least_blocks(campaign, room, kinds), campaign.blocks)
    chosen, said = campaign, list[Scaled]()
    for _ in range(_MOST_STEPS):
        times_s = _times_s(chosen, room, kinds)
        if sum(times_s.values()) <= wanted_s:
            break
        shorter = _shorter(chosen, times_s, room, said, kinds)
        if shorter is None:
            break
        chosen = shorter
    points += _joined(said)
    points += sizes_said(campaign, chosen, kinds, Short.TIME)
    return chosen


def _least_blocks(campaign: Campaign, room: Room, kinds: Kinds) -> int:
    """Of the environments that are here, as the others make no claims."""
    claims = fits(campaign, plan_block(campaign, 0, 0), kinds=kinds).claims
    present = sum(own.name not in room.missing for own in campaign.environments)
    return least_blocks(claims * present // max(1, len(campaign.environments)))


def _shorter(
    campaign: Campaign, times_s: Mapping[str, float], room: Room, said: list[Scaled], kinds: Kinds
) -> Campaign | None:
    """The campaign with less of the workload that takes longest among those whose less takes less."""
    for name in sorted(times_s, key=lambda name: -times_s[name]):
        lost = list[Scaled]()
        less = _less(campaign, name, lost, kinds)
        if less is not None and sum(_times_s(less, room, kinds).values()) < sum(times_s.values()):
            said += lost
            return less
    return None


def _times_s(campaign: Campaign, room: Room, kinds: Kinds) -> dict[str, float]:
    """Workload → what a block of it takes, without what is unknown; longer where processors are shared."""
    trials = [trial for trial in plan_block(campaign, 0, 0) if trial.environment.name not in room.missing]
    times_s: dict[str, float] = {}
    for trial, time_s in zip(trials, trial_durations_s(trials, (), kinds=kinds), strict=True):
        crowd = max(1.0, trial.layout.as_native.processors / room.host.processors)
        times_s[trial.workload.name] = times_s.get(trial.workload.name, 0.0) + crowd * (time_s or 0.0)
    return times_s


def _less(campaign: Campaign, name: str, said: list[Scaled], kinds: Kinds) -> Campaign | None:
    """The campaign with less of this workload: the last value of an order or level of a size, or a smaller problem."""
    why = "time: the budget holds no more"
    for place, order in enumerate(campaign.orders):
        if order.workload.name == name and len(order.values) > 2:  # noqa: PLR2004 - an order compares two
            shorter = without_values(order, {order.values[-1]: why}, Short.TIME, said)
            orders = [shorter if number == place else own for number, own in enumerate(campaign.orders)]
            return replace(campaign, orders=tuple(own for own in orders if own is not None))
    for place, factor in enumerate(campaign.factors):
        if factor.changes_workloads and name in factor.names and len(factor.levels) > 2:  # noqa: PLR2004 - as above
            fewer = [*without_levels(campaign, factor, {factor.levels[-1].text: why}, Short.TIME, said)]
            factors = (*campaign.factors[:place], *fewer, *campaign.factors[place + 1 :])
            return replace(campaign, factors=factors)
    own = next((each for each in campaign.workloads if each.name == name), None)
    varied = {factor.key for factor in campaign.factors if own and own.name in factor.names}
    less = None if own is None else smaller(own, kinds)
    if own is None or less is None or any(less.options.get(key) != own.options.get(key) for key in varied):
        return None
    if not _takes_a_while(campaign, less, kinds):
        return None
    workloads = [less if each.name == name else each for each in campaign.workloads]
    return replace(campaign, workloads=tuple(workloads))


def _takes_a_while(campaign: Campaign, less: Workload, kinds: Kinds) -> bool:
    kind = kinds[less.kind]
    options = kind.options_model.model_validate(dict(less.options))
    shapes = [shape_of(own.layout, own.limits) for each, own in campaign.cells if each.name == less.name]
    runs_s = [kind.expected_s(options, part_used(options, shape)) or 0.0 for shape in shapes]
    return max(runs_s, default=0.0) >= _LEAST_RUN_S


def _joined(said: list[Scaled]) -> list[Scaled]:
    """One point for each factor and order, with all that it lost."""
    alike: dict[str, list[Scaled]] = {}
    for point in said:
        alike.setdefault(point.what, []).append(point)
    return [
        replace(own[0], asked=", ".join(point.asked for point in reversed(own))) for own in alike.values()
    ]
