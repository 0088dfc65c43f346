# SPDX-License-Identifier: Apache-2.0
"""The campaign that a file or a preset requests, checked against this version and this host."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tare.environments import PROVIDERS
from tare.errors import CampaignError, InputError
from tare.nodes.provider import Provider
from tare.plan import entries
from tare.plan.asked_hosts import with_hosts
from tare.plan.blocks import MOST_BLOCKS, DecisionTable, parse_fail_if
from tare.plan.checks import memory_problems, whole_problems
from tare.plan.definition import Campaign, differences, shape_of
from tare.plan.experiments import orders, sharings
from tare.plan.factor_tables import FileParts, factors, layouts_of, with_least_shm
from tare.plan.fitting import BOUNDLESS, Missing, fitted, none_missing, set_aside
from tare.plan.host_layouts import written_out
from tare.plan.hosts import Sizes, hosts_of, smallest
from tare.plan.problems import Problem, failure, nearest, number_problems, printable
from tare.plan.schema import LARGEST_SEED, CampaignTable, Host, stated_host
from tare.plan.sharing import Sharing
from tare.plan.source import CampaignSource, is_preset, preset_names, preset_source, read_source
from tare.records import Environment, FailIf, Layout, NamedHost, check_user
from tare.workloads import KINDS
from tare.workloads.kind import WorkloadKind

__all__ = [
    "Campaign",
    "as_written",
    "asked_user",
    "campaign_of",
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
    """Read a campaign file (docs/campaign.md); ``CampaignError`` lists every problem, one per line."""
    return _build(read_source(path), Host(host_processors, host_memory_byte), providers, kinds)


def load_preset(
    name: str,
    *,
    host_processors: int,
    host_memory_byte: int,
    providers: Mapping[str, Provider] = PROVIDERS,
    kinds: Mapping[str, WorkloadKind] = KINDS,
) -> Campaign:
    """Read one of ``preset_names()``; ``CampaignError`` if it does not exist or does not fit the host."""
    return _build(preset_source(name), Host(host_processors, host_memory_byte), providers, kinds)


def as_written(name: str) -> Campaign:
    """A preset as hosts that hold all of it would measure it, without what no host can have (``set_aside``)."""
    source = preset_source(name)
    data, _ = set_aside(source.data, PROVIDERS)
    return _built(replace(source, data=data), BOUNDLESS, [], PROVIDERS, KINDS)


def resolve(  # noqa: PLR0913 - a host, three tables of what there is, and what a command line says
    text: str,
    *,
    host_processors: int,
    host_memory_byte: int,
    providers: Mapping[str, Provider] = PROVIDERS,
    kinds: Mapping[str, WorkloadKind] = KINDS,
    sizes: Sizes | None = None,
    asked_hosts: str | None = None,
    budget_s: float | None = None,
    missing: Missing = none_missing,
) -> Campaign:
    """Read a preset by its name, else a file by its path; ``./NAME`` is always a file.

    ``sizes`` reaches the hosts that the campaign names, or ``asked_hosts`` in their place; ``HostError`` from there.
    For ``fit = true``: ``budget_s``, what the campaign may take in place of its own budget, and ``missing``, which of
    its environments take none of it.
    """
    if is_preset(text):
        source = preset_source(text)
    elif _names_nothing(text):
        raise CampaignError(
            f"{printable(text)}: there is no such preset or file{nearest(text, preset_names())}"
        )
    else:
        source = read_source(Path(text), text)
    if asked_hosts is not None:
        source = with_hosts(source, asked_hosts, providers)
    host = Host(host_processors, host_memory_byte)
    return _build(source, host, providers, kinds, sizes, budget_s, missing)


def campaign_of(
    source: CampaignSource, *, host_processors: int, host_memory_byte: int, sizes: Sizes | None = None
) -> Campaign:
    """The campaign of tables that were read; raises as ``resolve``."""
    return _build(source, Host(host_processors, host_memory_byte), PROVIDERS, KINDS, sizes)


def with_overrides(
    campaign: Campaign,
    *,
    blocks: int | None = None,
    budget_s: float | None = None,
    seed: int | None = None,
    fail_if: Sequence[str] = (),
    undecided_fails: bool | None = None,
    user: str | None = None,
) -> Campaign:
    """Replace what the command line sets; ``None`` or nothing leaves a value. ``InputError`` if one is wrong.

    ``blocks`` means a single look after that many blocks.
    """
    if blocks is not None and not 1 <= blocks <= MOST_BLOCKS:
        raise InputError(f"blocks must be 1 to {MOST_BLOCKS}, but are {blocks}")
    if budget_s is not None and not 0 < budget_s < math.inf:
        raise InputError(f"the budget must be a finite time above 0, but is {budget_s:g} s")
    if seed is not None and not 0 <= seed <= LARGEST_SEED:
        raise InputError(f"the seed must be 0 to {LARGEST_SEED}, but is {seed}")
    return dataclasses.replace(
        campaign,
        user=campaign.user if user is None else asked_user(user),
        blocks=campaign.blocks if blocks is None else blocks,
        looks=campaign.looks if blocks is None else (blocks,),
        fail_if=_conditions(fail_if, campaign) or campaign.fail_if,
        undecided_fails=campaign.undecided_fails if undecided_fails is None else undecided_fails,
        budget_s=campaign.budget_s if budget_s is None else budget_s,
        seed=campaign.seed if seed is None else seed,
    )


def asked_user(text: str) -> str:
    """The user of ``--as``; ``InputError`` if it names no user."""
    try:
        return check_user(text)
    except ValueError as error:
        raise InputError(f"--as: {error}") from error


def _conditions(texts: Sequence[str], campaign: Campaign) -> tuple[FailIf, ...]:
    names = [environment.name for environment in campaign.environments]
    try:
        conditions = tuple(parse_fail_if(text, names) for text in texts)
    except ValueError as error:
        raise InputError(f"--fail-if: {error}") from error
    if any(condition.loss for condition in conditions) and not campaign.sharings:
        raise InputError(f"--fail-if: {_NO_COMPANY}")
    return conditions


_NO_COMPANY = (
    "a loss is of an instance with company, and the campaign has no [[sharing]]: ask about the overhead"
)


def _names_nothing(text: str) -> bool:
    """Whether the text is a bare word and not a file: most likely a preset was meant."""
    if "/" in text or text.endswith(".toml"):
        return False
    try:
        return not Path(text).exists()
    except (OSError, ValueError):
        return True


def _build(
    source: CampaignSource,
    host: Host,
    providers: Mapping[str, Provider],
    kinds: Mapping[str, WorkloadKind],
    sizes: Sizes | None = None,
    budget_s: float | None = None,
    missing: Missing = none_missing,
) -> Campaign:
    host = stated_host(host, source.data)
    problems = number_problems(source.data)
    hosts = [] if problems else hosts_of(source.data, providers, problems)
    if problems:
        raise failure(source.label, problems, source.lines)
    host = stated_host(smallest(host, hosts, sizes), source.data)
    if source.data.get("fit") is not True:
        return _built(source, host, hosts, providers, kinds)
    data, aside = set_aside(source.data, providers)
    asked = _built(replace(source, data=data), BOUNDLESS, hosts, providers, kinds)
    aside = (*source.remarks, *aside)
    campaign = fitted(asked, host, aside=aside, budget_s=budget_s, missing=missing, kinds=kinds)
    if problems := list(memory_problems(campaign, host)):
        raise failure(source.label, problems, source.lines)
    return campaign


def _built(
    source: CampaignSource,
    host: Host,
    hosts: Sequence[NamedHost],
    providers: Mapping[str, Provider],
    kinds: Mapping[str, WorkloadKind],
) -> Campaign:
    """The campaign exactly as its tables say."""
    problems: list[Problem] = []
    has_list = bool(hosts) or host is BOUNDLESS
    data, over_hosts = written_out(source.data, host, problems, has_list=has_list)
    if problems:
        raise failure(source.label, problems, source.lines)
    table = entries.validated(CampaignTable, data, (), host, problems)
    networks = table.networks or () if table else ()
    environments = entries.environments(data, networks, providers, problems)
    workloads = entries.workloads(data, kinds, problems)
    shared = sharings(data, host, environments, workloads, problems)
    varied = factors(data, FileParts(host, environments, workloads, providers, kinds, over_hosts), problems)
    layouts = _layouts((*((table and table.layouts) or ()), *layouts_of(varied)), shared)
    ordered = orders(data, host, workloads, layouts, kinds, problems)
    if table is not None and table.turns.turns is None:
        problems += entries.whole_run_problems(workloads)
    if table is None or problems:
        raise failure(source.label, problems, source.lines)
    campaign = Campaign(
        name=table.name,
        environments=tuple(entry.record for entry in environments if entry.measured),
        layouts=layouts,
        workloads=tuple(entry.record for entry in workloads if entry.measured),
        limits=with_least_shm(
            table.limits.limits(host, max(layout.nodes for layout in layouts)), table.limits, varied
        ),
        blocks=table.blocks.planned[-1],
        looks=table.blocks.planned,
        precise_absolute=table.blocks.precision.absolute,
        precise_relative=table.blocks.precision.relative,
        fail_if=_declared(table.decision, environments, problems),
        undecided_fails=table.decision.undecided == "fail",
        margin=table.blocks.margin,
        budget_s=table.budget,
        seed=table.seed,
        user=table.user,
        binds=tuple(table.binds),
        devices=tuple(dict.fromkeys(table.devices)),
        sharings=tuple(shared),
        orders=tuple(ordered),
        factors=tuple(varied),
        hosts=tuple(hosts),
        subnet=table.subnet,
        mpi_launcher=table.mpi_launcher,
        exclude=table.exclude.rules(),
        turns=table.turns.turns,
        auto_slice=table.turns.auto_slice,
    )
    if any(condition.loss for condition in campaign.fail_if) and not shared:
        problems.append(Problem(("decision", "fail_if"), _NO_COMPANY))
    if problems:
        raise failure(source.label, problems, source.lines)
    places = {("environment", entry.record.name): entry.position for entry in environments}
    places |= {("workload", entry.record.name): entry.position for entry in workloads}
    if problems := [*memory_problems(campaign, host), *whole_problems(campaign, providers, kinds, places)]:
        raise failure(source.label, problems, source.lines)
    return campaign


def _declared(
    table: DecisionTable, environments: Sequence[entries.Entry[Environment]], problems: list[Problem]
) -> tuple[FailIf, ...]:
    """The conditions of ``[decision]``; faults in them are added to ``problems``."""
    names = [entry.record.name for entry in environments if entry.measured]
    declared = []
    for text in table.fail_if:
        try:
            declared.append(parse_fail_if(text, names))
        except ValueError as error:
            problems.append(Problem(("decision", "fail_if"), str(error)))
    return tuple(declared)


def _layouts(asked: Sequence[Layout], shared: Sequence[Sharing]) -> tuple[Layout, ...]:
    """The layouts, including those of sharing experiments; one of a single processor if nothing is asked."""
    layouts = list(asked)
    for sharing in shared:
        layouts += [layout for layout in (sharing.alone, *sharing.together) if layout not in layouts]
    return tuple(layouts) or (Layout(nodes=1, processors=1, instances=1),)
