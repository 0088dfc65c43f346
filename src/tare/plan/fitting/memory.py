# SPDX-License-Identifier: Apache-2.0
"""Less memory for the nodes where the host has too little for the trial with the most."""

from collections.abc import Iterator
from dataclasses import replace

from tare.plan.definition import Campaign
from tare.plan.factors import MEMORY_LIMITS
from tare.plan.schema import LEAST_MEMORY_BYTE, Host
from tare.records import Limits, Scaled, Short
from tare.units import MEBIBYTE, format_byte

SHARE = 0.75
"""Of the host's memory that nodes may have; the rest is for the host, and for what holds the nodes."""
_FIELDS = ("node_memory_byte", "host_memory_byte", "memory_byte")
_WHOSE = {"node_memory_byte": "memory of a node", "host_memory_byte": "memory of the nodes on a host"}


def with_less_memory(campaign: Campaign, host: Host, points: list[Scaled]) -> Campaign:
    """The campaign with memory that fits; a campaign that varies memory is left to its checks."""
    most_byte = max(_on_a_host(campaign), default=0)
    available_byte = int(SHARE * host.memory_byte)
    if most_byte <= available_byte or any(factor.key in MEMORY_LIMITS for factor in campaign.factors):
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
            why=f"a host has {format_byte(host.memory_byte)}, of which nodes may have {SHARE:.0%}".replace("%", " %"),
            short_of=Short.MEMORY,
        )
    )
    return replace(campaign, limits=_limited(limits, field, here_byte))


def _on_a_host(campaign: Campaign) -> Iterator[int]:
    """Bytes on each host of the layouts, in every setting, neighbours included."""
    for setting in campaign.settings:
        layout, own_byte = setting.layout, setting.limits.memory_byte
        beside_byte = 0
        if setting.company is not None and setting.limits.node_memory_byte is not None:
            beside_byte = setting.company.count * setting.limits.node_memory_byte
        yield own_byte // layout.hosts + beside_byte
    for order in campaign.orders:
        yield campaign.limits.of(order.layout).memory_byte // order.layout.hosts


def _limited(limits: Limits, field: str, value_byte: int) -> Limits:
    changed = replace(limits, **{field: value_byte})  # type: ignore[arg-type]  # one of _FIELDS, all of bytes
    if field != "memory_byte":
        changed = replace(changed, memory_byte=limits.memory_byte * value_byte // getattr(limits, field))
    return replace(changed, shm_byte=min(limits.shm_byte, value_byte // 2))
