# SPDX-License-Identifier: Apache-2.0
"""The campaign that a file or a preset asks for, checked against this version and this host."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from tare.environments import PROVIDERS
from tare.environments.provider import Provider
from tare.errors import CampaignError, InputError
from tare.plan import entries
from tare.plan.checks import whole_problems
from tare.plan.comparison import differences
from tare.plan.definition import Campaign, shape_of
from tare.plan.numbers import number_problems
from tare.plan.presets import preset_names, preset_path
from tare.plan.problems import failure, nearest, printable
from tare.plan.schema import LARGEST_SEED, MOST_BLOCKS, CampaignTable, Host
from tare.plan.sharing import Sharing
from tare.plan.sharing_entries import sharings
from tare.plan.source import Source, read_source
from tare.records import Layout
from tare.workloads import KINDS
from tare.workloads.kind import WorkloadKind

__all__ = [
    "Campaign",
    "differences",
    "load_campaign",
    "load_preset",
    "preset_names",
    "resolve",
    "shape_of",
    "with_overrides",
]


def load_campaign(
    path: Path,
    *,
    host_processors: int,
    host_memory_byte: int,
    providers: Mapping[str, Provider] = PROVIDERS,
    kinds: Mapping[str, WorkloadKind] = KINDS,
) -> Campaign:
    """Read a campaign file (docs/campaign.md); ``CampaignError`` lists all that is wrong, a line each."""
    return _build(read_source(path), Host(host_processors, host_memory_byte), providers, kinds)


def load_preset(
    name: str,
    *,
    host_processors: int,
    host_memory_byte: int,
    providers: Mapping[str, Provider] = PROVIDERS,
    kinds: Mapping[str, WorkloadKind] = KINDS,
) -> Campaign:
    """Read one of ``preset_names()``; ``CampaignError`` if there is none or it does not fit the host."""
    return _build(_preset_source(name), Host(host_processors, host_memory_byte), providers, kinds)


def resolve(
    text: str,
    *,
    host_processors: int,
    host_memory_byte: int,
    providers: Mapping[str, Provider] = PROVIDERS,
    kinds: Mapping[str, WorkloadKind] = KINDS,
) -> Campaign:
    """Read a preset by its name, else a file by its path; ``./NAME`` is always a file."""
    if text in preset_names():
        source = _preset_source(text)
    elif _names_nothing(text):
        raise CampaignError(
            f"{printable(text)}: there is no such preset or file{nearest(text, preset_names())}"
        )
    else:
        source = read_source(Path(text), text)
    return _build(source, Host(host_processors, host_memory_byte), providers, kinds)


def with_overrides(
    campaign: Campaign, *, blocks: int | None = None, budget_s: float | None = None, seed: int | None = None
) -> Campaign:
    """Replace what the command line sets; ``None`` leaves a value. ``InputError`` if one is out of range."""
    if blocks is not None and not 1 <= blocks <= MOST_BLOCKS:
        raise InputError(f"blocks must be 1 to {MOST_BLOCKS}, but are {blocks}")
    if budget_s is not None and not 0 < budget_s < math.inf:
        raise InputError(f"the budget must be a finite time above 0, but is {budget_s:g} s")
    if seed is not None and not 0 <= seed <= LARGEST_SEED:
        raise InputError(f"the seed must be 0 to {LARGEST_SEED}, but is {seed}")
    return dataclasses.replace(
        campaign,
        blocks=campaign.blocks if blocks is None else blocks,
        budget_s=campaign.budget_s if budget_s is None else budget_s,
        seed=campaign.seed if seed is None else seed,
    )


def _preset_source(name: str) -> Source:
    if name not in preset_names():
        raise CampaignError(f"there is no preset {printable(name)!r}{nearest(name, preset_names())}")
    return read_source(preset_path(name), f"preset {name}")


def _names_nothing(text: str) -> bool:
    """Whether the text is a bare word that is no file: then most likely a preset was meant."""
    if "/" in text or text.endswith(".toml"):
        return False
    try:
        return not Path(text).exists()
    except (OSError, ValueError):
        return True


def _build(
    source: Source, host: Host, providers: Mapping[str, Provider], kinds: Mapping[str, WorkloadKind]
) -> Campaign:
    problems = number_problems(source.data)
    if problems:
        raise failure(source.label, problems, source.lines)
    table = entries.validated(CampaignTable, source.data, (), host, problems)
    networks = table.networks or () if table else ()
    environments = entries.environments(source.data, networks, providers, problems)
    workloads = entries.workloads(source.data, kinds, problems)
    shared = sharings(source.data, host, environments, workloads, problems)
    if table is None or problems:
        raise failure(source.label, problems, source.lines)
    campaign = Campaign(
        name=table.name,
        environments=tuple(entry.record for entry in environments if entry.measured),
        layouts=_layouts(table.layouts, shared),
        workloads=tuple(entry.record for entry in workloads if entry.measured),
        limits=table.limits.limits(host),
        blocks=table.blocks.number,
        margin=table.blocks.margin,
        budget_s=table.budget,
        seed=table.seed,
        binds=tuple(table.binds),
        sharings=tuple(shared),
    )
    places = {("environment", entry.record.name): entry.position for entry in environments}
    places |= {("workload", entry.record.name): entry.position for entry in workloads}
    if problems := whole_problems(campaign, providers, kinds, places):
        raise failure(source.label, problems, source.lines)
    return campaign


def _layouts(asked: Sequence[Layout] | None, shared: Sequence[Sharing]) -> tuple[Layout, ...]:
    """Those of the sharing experiments need not be asked for; one of one processor is there if nothing is."""
    found = list(asked or ())
    for sharing in shared:
        found += [layout for layout in (sharing.alone, *sharing.together) if layout not in found]
    return tuple(found) or (Layout(nodes=1, processors=1, instances=1),)
