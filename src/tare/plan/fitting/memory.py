# SPDX-License-Identifier: Apache-2.0
"""Less memory for the nodes where the host has too little for the trial with the most."""

from dataclasses import replace

from tare.plan.definition import Campaign
from tare.plan.factors import MEMORY_LIMITS
from tare.plan.fitting.layouts import in_layouts
from tare.plan.schema import LEAST_MEMORY_BYTE, Host
from tare.records import (
    Layout,
    Limits,
)
from tare.records.scaled import Scaled, Short
from tare.units import MEBIBYTE, format_byte

SHARE = 0.75
"""Of the host's memory that nodes may have; the rest is for the host, and for what holds the nodes."""
_LEAST_PART = 0.5
_FIELDS = ("node_memory_byte", "host_memory_byte", "memory_byte")
_WHOSE = {"node_memory_byte": "memory of a node", "host_memory_byte": "memory of the nodes on a host"}


def with_less_memory(campaign: Campaign, host: Host, points: list[Scaled]) -> Campaign:
    """The campaign with memory that fits; a campaign that varies memory is left to its checks.

    A layout that would leave less than half to all others is left out instead, and so is one that was moved onto fewer
    hosts and needs more than there is: it is not the asked point anyway, and would make the others smaller.
    """
    if any(factor.key in MEMORY_LIMITS for factor in campaign.factors):
        return campaign
    available_byte = int(SHARE * host.memory_byte)
    campaign = _without_the_largest(campaign, available_byte, points)
    most_byte = max(_needs_byte(campaign).values(), default=0)
    if most_byte <= available_byte:
        return campaign
    limits = campaign.limits
    field = next(name for name in _FIELDS if getattr(limits, name) is not None)
    asked_byte = getattr(limits, field)
    here_byte = asked_byte * available_byte // most_byte // MEBIBYTE * MEBIBYTE
    here_byte = max(here_byte, LEAST_MEMORY_BYTE)
    points.append(
        Scaled(
            what=_WHOSE.get(field, "memory"),
            asked=format_byte(asked_byte),
            here=format_byte(here_byte),
            why=_why(host.memory_byte),
            short_of=Short.MEMORY,
        )
    )
    return replace(campaign, limits=_limited(limits, field, here_byte))


def _why(memory_byte: int) -> str:
    return f"a host has {format_byte(memory_byte)}, of which nodes may have {100 * SHARE:.0f} %"


def _without_the_largest(campaign: Campaign, available_byte: int, points: list[Scaled]) -> Campaign:
    needs_byte = _needs_byte(campaign)
    moved = {
        name for point in points if point.here and point.short_of is Short.HOSTS for name in point.layouts
    }
    lost = [
        layout
        for layout, own_byte in needs_byte.items()
        if available_byte < own_byte * (1 if str(layout) in moved else _LEAST_PART)
    ]
    if not lost or len(lost) == len(needs_byte):
        return campaign
    points.append(
        Scaled(
            what=", ".join(map(str, lost)),
            asked="",
            here=None,
            why=f"memory: the nodes on a host would have {format_byte(min(needs_byte[each] for each in lost))} or more",
            short_of=Short.MEMORY,
            layouts=tuple(map(str, lost)),
        )
    )
    return in_layouts(campaign, {layout: layout for layout in needs_byte if layout not in lost})


def _needs_byte(campaign: Campaign) -> dict[Layout, int]:
    """Layout → bytes on each of its hosts in the setting with most, neighbours included."""
    needs_byte: dict[Layout, int] = {}
    for setting in (*campaign.settings, *(setting for _, setting in campaign.cells)):
        layout, limits = setting.layout, setting.limits
        beside = setting.company.count if setting.company is not None else 0
        own_byte = limits.memory_byte // layout.hosts + beside * (limits.node_memory_byte or 0)
        needs_byte[layout] = max(own_byte, needs_byte.get(layout, 0))
    for order in campaign.orders:
        own_byte = campaign.limits.of(order.layout).memory_byte // order.layout.hosts
        needs_byte[order.layout] = max(own_byte, needs_byte.get(order.layout, 0))
    return needs_byte


def _limited(limits: Limits, field: str, value_byte: int) -> Limits:
    changed = replace(limits, **{field: value_byte})  # type: ignore[arg-type]  # one of _FIELDS, all of bytes
    if field != "memory_byte":
        changed = replace(changed, memory_byte=limits.memory_byte * value_byte // getattr(limits, field))
    return replace(changed, shm_byte=min(limits.shm_byte, value_byte // 2))
