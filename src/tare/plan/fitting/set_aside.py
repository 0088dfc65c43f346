# SPDX-License-Identifier: Apache-2.0
"""What no campaign on this host can have, taken out of the tables before they are read: kernels, and absent folders."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tare.nodes.provider import Provider
from tare.records.scaled import Scaled, Short

_KERNEL = "kernel"


def set_aside(
    data: Mapping[str, Any], providers: Mapping[str, Provider]
) -> tuple[dict[str, Any], tuple[Scaled, ...]]:
    """The tables without these, and a point for each; what is wrong in them is left to validation."""
    own, points = dict(data), list[Scaled]()
    factors = own.get("factor")
    if isinstance(factors, list) and not _has_kernels(data, providers):
        kernels = [table for table in factors if isinstance(table, dict) and table.get("key") == _KERNEL]
        points += map(_kernels, kernels)
        own["factor"] = [table for table in factors if table not in kernels]
    absent = [text for text in _texts(own.get("binds")) if not Path(_folder(text)).is_dir()]
    if absent:
        own["binds"] = [text for text in own["binds"] if text not in absent]
        points += _without_folders(own, {_folder(text) for text in absent})
    return {key: value for key, value in own.items() if value != []}, tuple(points)


def _has_kernels(data: Mapping[str, Any], providers: Mapping[str, Provider]) -> bool:
    """Whether an environment has kernels of its own, such as a virtual machine, of which the factor then is."""
    tables = data.get("environment")
    named = [str(table.get("technology")) for table in tables or () if isinstance(table, dict)]
    return any(name in providers and _KERNEL in providers[name].option_names for name in named)


def _kernels(table: Mapping[str, Any]) -> Scaled:
    return Scaled(
        what="kernel",
        asked=", ".join(map(str, table.get("levels") or ())),
        here=os.uname().release,
        why="a host runs one: boot each, run this there, and join the results by tare compare",
        short_of=Short.OTHER,
    )


def _without_folders(own: Mapping[str, Any], folders: set[str]) -> Iterator[Scaled]:
    """A point for each folder, with the workloads in it, which stay in their table: their faults have a place there."""
    workloads = [table for table in own.get("workload") or () if isinstance(table, dict)]
    for folder in sorted(folders):
        own_tables = [each for each in workloads if each.get("directory") == folder]
        names = [str(each.get("name")) for each in own_tables]
        layouts = dict.fromkeys(str(text) for each in own_tables for text in _texts(each.get("layouts")))
        yield Scaled(
            what=", ".join(names) or folder,
            asked="",
            here=None,
            why=f"this host has no folder {folder}, which its nodes would share: mkdir -m 1777 {folder} makes it",
            short_of=Short.OTHER,
            workloads=tuple(names),
            layouts=tuple(layouts),
        )


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _folder(bind: str) -> str:
    return bind.removesuffix(":rw").removesuffix(":ro")
