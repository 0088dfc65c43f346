# SPDX-License-Identifier: Apache-2.0
"""Differences between the campaign stored in a result folder and the one requested now."""

from collections.abc import Mapping
from typing import Any

from tare.plan.definition import Campaign


def differences(kept: Campaign, now: Campaign) -> list[str]:
    """List what a changed campaign would change in a begun result, one phrase each; empty when equal.

    The order of environments, workloads, layouts and sharing experiments makes no difference.
    """
    before, after = _leaves(kept), _leaves(now)
    keys = [*before, *(key for key in after if key not in before)]
    return [
        f"{key}: {before.get(key, 'absent')} in the result, {after.get(key, 'absent')} now"
        for key in keys
        if before.get(key) != after.get(key)
    ]


def _leaves(campaign: Campaign) -> dict[str, str]:
    data = campaign.to_json()
    several = len(campaign.looks) > 1
    data["looks"] = f"after {', '.join(map(str, campaign.looks))} blocks" if several else "after all blocks"
    data["fail_if"] = ", ".join(sorted(condition.text for condition in campaign.fail_if)) or None
    data["layouts"] = ", ".join(sorted(str(layout) for layout in campaign.layouts))
    for key, singular in (("environments", "environment"), ("workloads", "workload")):
        for entry in data.pop(key):
            data[f"{singular} {entry.pop('name')}"] = entry
    for order, entry in zip(campaign.orders, data.pop("orders"), strict=True):
        data[f"order of {order}"] = {key: entry[key] for key in ("values", "boots", "metrics")}
    for sharing, entry in zip(campaign.sharings, data.pop("sharings"), strict=True):
        data[f"sharing of {sharing}"] = {"neighbour": entry["neighbour"]}
    return _flat(data, "")


def _flat(value: Any, key: str) -> dict[str, str]:
    if not isinstance(value, Mapping):
        return {key: "none" if value is None else str(value)}
    rows: dict[str, str] = {}
    for name, part in value.items():
        rows |= _flat(part, f"{key}.{name}" if key else name)
    return rows
