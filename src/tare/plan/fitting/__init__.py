# SPDX-License-Identifier: Apache-2.0
"""``fit = true``: what this host cannot do is made smaller, or left out, and each such point is said (docs/papers.md).

In: the campaign as it is on hosts that hold all of it. Out: the campaign as this host can run it, with its points.
The rules, in this order: hosts, processors, memory, problems, time. None depends on a preset.
"""

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace

from tare.errors import HostError
from tare.plan.definition import Campaign
from tare.plan.fitting.layouts import placed
from tare.plan.fitting.memory import with_less_memory
from tare.plan.fitting.problems import sizes_said, with_fitting_problems
from tare.plan.fitting.set_aside import set_aside
from tare.plan.fitting.time import Room, within_time
from tare.plan.hosts import MOST_HOSTS
from tare.plan.schema import MOST_OVERSUBSCRIPTION, Host
from tare.records import Environment
from tare.records.scaled import Scaled
from tare.units import GIBIBYTE
from tare.workloads import KINDS
from tare.workloads.kind import WorkloadKind

__all__ = ["BOUNDLESS", "Missing", "fitted", "none_missing", "set_aside"]

BOUNDLESS = Host(1 << 20, (1 << 30) * GIBIBYTE, MOST_OVERSUBSCRIPTION, MOST_HOSTS)
"""Holds every campaign as it is written."""

Missing = Callable[[Iterable[Environment]], AbstractSet[str]]
"""Says which environments will be skipped here."""


def none_missing(_: Iterable[Environment]) -> AbstractSet[str]:
    """Of a host that nobody asks."""
    return frozenset()


def fitted(
    asked: Campaign,
    host: Host,
    *,
    aside: tuple[Scaled, ...] = (),
    budget_s: float | None = None,
    missing: Missing = none_missing,
    kinds: Mapping[str, WorkloadKind] = KINDS,
) -> Campaign:
    """The part of it that the host can run; ``HostError`` with every point if nothing is left.

    ``aside``: what was left out before. ``budget_s``: what it may take, in place of its own budget.
    ``missing``: which environments take none of the budget.
    """
    points = list(aside)
    lost = {name for point in aside if point.here is None for name in point.workloads}
    present = tuple(workload for workload in asked.workloads if workload.name not in lost)
    campaign = placed(replace(asked, workloads=present), host, points)
    if _measures(campaign):
        campaign = with_less_memory(campaign, host, points)
        campaign = with_fitting_problems(campaign, points, kinds)
    if not _measures(campaign):
        reasons = "".join(f"\n  {point.sentence}" for point in points)
        raise HostError(f"{asked.name}: nothing of it can be measured here:{reasons}")
    points += sizes_said(asked, campaign, kinds)
    budget_s = budget_s or campaign.budget_s
    if budget_s is not None:
        absent = frozenset[str]() if campaign.hosts else missing(campaign.environments_at_levels)
        room = Room(host=host, budget_s=budget_s, missing=absent)
        campaign = within_time(campaign, room, points, kinds)
    return replace(campaign, fit=True, scaled=tuple(points))


def _measures(campaign: Campaign) -> bool:
    return bool(campaign.orders or (campaign.workloads and campaign.cells))
