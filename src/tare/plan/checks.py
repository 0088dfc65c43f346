# SPDX-License-Identifier: Apache-2.0
"""Problems that only the whole campaign shows, including its sharing experiments."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping

from tare.errors import TareError
from tare.nodes.devices import find_devices
from tare.nodes.provider import BETWEEN_HOSTS, Provider
from tare.plan.definition import Campaign, shape_of
from tare.plan.factors import least_memory_byte
from tare.plan.launching import launcher_problems
from tare.plan.problems import Problem, printable, shown
from tare.plan.schema import LEAST_MEMORY_BYTE, Host
from tare.plan.sharing import Sharing, is_fuller
from tare.plan.trials import plan_block
from tare.records import Layout, Limits, NetworkKind, Ordering, Workload
from tare.units import format_byte
from tare.workloads.kind import Job, WorkloadKind
from tare.workloads.part_used import part_used

_MOST_TRIALS = 100_000
_MOST_COMBINATIONS = 200
"""Of the levels of all factors."""


def whole_problems(
    campaign: Campaign,
    providers: Mapping[str, Provider],
    kinds: Mapping[str, WorkloadKind],
    places: Mapping[tuple[str, str], int],
) -> list[Problem]:
    """Find what is wrong between parts that are each valid.

    ``places`` maps "environment" or "workload" and a name to the table's position in the file.
    """
    combinations = math.prod(len(factor.levels) for factor in campaign.factors)
    if combinations > _MOST_COMBINATIONS:
        text = f"makes {combinations} combinations of levels, but {_MOST_COMBINATIONS} are the most allowed"
        return [Problem(("factor",), text)]
    problems = []
    if len(set(campaign.layouts)) < len(campaign.layouts):
        problems.append(Problem(("layouts",), "a layout stands there twice; keep each once"))
    quotas = [campaign.limits.cpu_quota, *(setting.limits.cpu_quota for _, setting in campaign.cells)]
    quota, most = (
        max(filter(None, quotas), default=0.0),
        max(layout.processors for layout in campaign.layouts),
    )
    if quota > most:
        text = f"{quota:g} limits nothing: the largest node has {most} processors; give less or leave it out"
        problems.append(Problem(("limits", "cpu_quota"), text))
    arms = len(campaign.environments) + 2
    trials = campaign.blocks * len(campaign.cells) * arms
    trials += sum(len(Ordering) * order.boots * (arms - 1) for order in campaign.orders)
    if trials > _MOST_TRIALS:
        problems.append(
            Problem(("blocks",), f"makes {trials} trials, but {_MOST_TRIALS} are the most allowed")
        )
    problems += _unknown_layouts(campaign, places)
    problems += _unconnected(campaign, providers, places)
    problems += _without_devices(campaign, providers, places)
    problems += sharing_problems(campaign)
    problems += _absent_devices(campaign)
    problems += _unlike_places(campaign)
    problems += _few_blocks(campaign)
    return (
        problems
        or _unfit_workloads(campaign, kinds, places)
        or list(launcher_problems(campaign, providers, kinds))
        or _unlike_work(campaign, kinds, places)
        or _cached(campaign, providers, kinds, places)
    )


def memory_problems(campaign: Campaign, host: Host) -> Iterator[Problem]:
    """Find settings whose nodes on a host have more memory together than it has."""
    for setting in (*campaign.settings, *(setting for _, setting in campaign.cells)):
        each_byte = setting.limits.node_memory_byte
        per_host = setting.layout.nodes_per_host
        if each_byte is None:
            if setting.limits.memory_byte > host.memory_byte * setting.layout.hosts:
                text = (
                    f"{format_byte(setting.limits.memory_byte)} in {setting} is more than its hosts have, "
                    f"{format_byte(host.memory_byte)} each"
                )
                yield Problem(("limits", "memory"), text)
            continue
        nodes = per_host + (setting.company.count if setting.company else 0)
        if nodes * each_byte > host.memory_byte:
            text = (
                f"{nodes} nodes of {format_byte(each_byte)} in {setting} need more than "
                f"{'this' if host.hosts == 1 else 'a'} host's {format_byte(host.memory_byte)}"
            )
            yield Problem(("limits", "memory_per_node"), text)


def _unlike_places(campaign: Campaign) -> Iterator[Problem]:
    """Find networks that join hosts where none are listed, and what has no effect on the hosts' own network."""
    for environment in campaign.environments_at_levels:
        name, kind = environment.name, environment.network
        if kind in BETWEEN_HOSTS and not campaign.hosts:
            text = f"of {name} is {kind}, which joins hosts: add [[host]] tables, or choose veth or macvlan"
            yield Problem(("network",), text)
        if campaign.hosts and kind is None and environment.rto_min_s is not None:
            text = (
                f"of {name} is of a route of the node's own, and nodes over hosts have their host's network: "
            )
            yield Problem(("rto_min",), f"{text}write its network too, such as macvlan")


def _few_blocks(campaign: Campaign) -> list[Problem]:
    """Find order experiments that need more blocks than there are."""
    return [
        Problem(("order", position, "boots"), f"{order.boots} starts need as many blocks; raise blocks")
        for position, order in enumerate(campaign.orders)
        if order.boots > campaign.blocks
    ]


def _unknown_layouts(campaign: Campaign, places: Mapping[tuple[str, str], int]) -> list[Problem]:
    """Find workloads that would run in a layout that the campaign lacks."""
    known = [str(layout) for layout in campaign.layouts]
    return [
        Problem(
            ("workload", places["workload", workload.name], "layouts"),
            f"{shown(text)} is none of the campaign's layouts; they are {', '.join(known)}",
        )
        for workload in campaign.workloads
        for text in workload.layouts or ()
        if text not in known
    ]


def _unconnected(
    campaign: Campaign, providers: Mapping[str, Provider], places: Mapping[tuple[str, str], int]
) -> list[Problem]:
    """Find environments whose nodes could not reach each other, though an instance spans them."""
    spanning = next((layout for layout in campaign.layouts if layout.cooperative), None)
    if spanning is None:
        return []
    problems = []
    for environment in campaign.environments:
        where = ("environment", places["environment", environment.name])
        if environment.network is NetworkKind.NONE:
            text = f"{environment.name} has no network, and in {spanning} nodes cooperate"
            problems.append(Problem(where, text))
        complaints = providers[environment.technology].check_spanning(environment.options)
        for option, words in complaints.items():
            problems.append(Problem((*where, option), f"{words}: in {spanning} nodes cooperate"))
    return problems


def _without_devices(
    campaign: Campaign, providers: Mapping[str, Provider], places: Mapping[tuple[str, str], int]
) -> Iterator[Problem]:
    """Find environments whose nodes could not get the devices that all arms are to have."""
    for environment in campaign.needed_environments if campaign.devices else ():
        if why := providers[environment.technology].refuse_devices(environment.options):
            text = f"{environment.name} cannot have {', '.join(campaign.devices)}: {why}"
            yield Problem(("environment", places["environment", environment.name]), text)


def _absent_devices(campaign: Campaign) -> Iterator[Problem]:
    """Find devices that this host has not; other hosts are asked by whoever reaches them."""
    for asked in () if campaign.hosts else campaign.devices:
        try:
            find_devices(asked)
        except ValueError as error:
            yield Problem(("devices",), str(error))


def _unfit_workloads(
    campaign: Campaign, kinds: Mapping[str, WorkloadKind], places: Mapping[tuple[str, str], int]
) -> list[Problem]:
    return [
        Problem(("workload", places["workload", workload.name]), f"{where}: {printable(str(error))}")
        for where, workload, layout, limits in _jobs(campaign)
        if (error := _misfit(kinds[workload.kind], workload, layout, limits))
    ]


def _cached(
    campaign: Campaign,
    providers: Mapping[str, Provider],
    kinds: Mapping[str, WorkloadKind],
    places: Mapping[tuple[str, str], int],
) -> list[Problem]:
    """Find workloads whose files are to pass every cache by, in environments that cache them all the same."""
    caching = {
        environment.name: why
        for environment in campaign.environments_at_levels
        if (why := providers[environment.technology].refuse_uncached(environment.options))
    }
    asked = {
        (workload.name, option): None
        for _, workload, layout, limits in (_jobs(campaign) if caching else ())
        for option, is_asked in _uncached(_job(kinds[workload.kind], workload, layout, limits))
        if is_asked
    }
    return [
        Problem(
            ("workload", places["workload", workload]),
            f"{option} = true is not possible in {name}, so leave one of them out: {why}",
        )
        for workload, option in asked
        for name, why in caching.items()
    ]


def _uncached(job: Job) -> Iterator[tuple[str, bool]]:
    yield "direct", job.direct
    yield "cold", job.cold


def _jobs(campaign: Campaign) -> Iterator[tuple[str, Workload, Layout, Limits]]:
    """Everything to run, with its place in words."""
    for workload, setting in campaign.cells:
        yield f"in layout {setting}", workload, setting.layout, setting.limits
    for order in campaign.orders:
        for value in order.values:
            yield (
                f"with {order.option} = {value}",
                order.runs(value),
                order.layout,
                campaign.limits.of(order.layout),
            )
    settings = {str(own): own for own in (*campaign.settings, *(setting for _, setting in campaign.cells))}
    for setting in settings.values():
        if setting.company:
            yield f"as neighbour in {setting}", setting.company.workload, *setting.neighbour_node


def _unlike_work(
    campaign: Campaign, kinds: Mapping[str, WorkloadKind], places: Mapping[tuple[str, str], int]
) -> list[Problem]:
    """Find workloads that would do something else in a fuller node, because an instance has fewer processors there."""
    limits = {own.layout: own.limits for own in campaign.settings if own.company is None}
    pairs = [
        (sharing, sharing.alone, layout)
        for sharing in campaign.sharings
        for layout in sharing.together
        if is_fuller(layout, sharing.alone)
    ]
    return [
        Problem(
            ("workload", places["workload", workload.name]),
            f"an instance has {alone.ranks} processors in {alone} and {layout.ranks} in {layout}, and would do "
            "something else there: give it ranks = 1, or the layouts that it is to run in",
        )
        for workload in campaign.workloads
        for sharing, alone, layout in pairs
        if sharing.concerns(workload.name) and workload.runs_in(alone) and workload.runs_in(layout)
        if _work(kinds[workload.kind], workload, alone, limits[alone])
        != _work(kinds[workload.kind], workload, layout, limits[layout])
    ]


def _work(kind: WorkloadKind, workload: Workload, layout: Layout, limits: Limits) -> tuple[object, ...]:
    """All of an instance's job that could depend on its processors."""
    job = _job(kind, workload, layout, limits)
    return job.argv, dict(job.files), dict(job.variables)


def _misfit(kind: WorkloadKind, workload: Workload, layout: Layout, limits: Limits) -> TareError | None:
    try:
        _job(kind, workload, layout, limits)
    except TareError as error:
        return error
    return None


def _job(kind: WorkloadKind, workload: Workload, layout: Layout, limits: Limits) -> Job:
    options = kind.options_model.model_validate(dict(workload.options))
    return kind.job(options, part_used(options, shape_of(layout, limits)))


def sharing_problems(campaign: Campaign) -> Iterator[Problem]:
    """Find instances that would get too little or unequal parts, and trials that could not be told apart."""
    memory_byte = least_memory_byte(campaign.factors, campaign.limits)
    for position, sharing in enumerate(campaign.sharings):
        path = ("sharing", position)
        if any(setting.limits.node_memory_byte is not None for _, setting in campaign.cells):
            yield from _uneven_memory(sharing, path)
            continue
        alone = sharing.alone
        share_byte = sharing.instance_memory_byte(memory_byte) * alone.instances // alone.nodes
        if share_byte < LEAST_MEMORY_BYTE:
            text = (
                f"leaves each node {format_byte(share_byte)} of the memory of "
                f"{format_byte(memory_byte)}; raise limits.memory"
            )
            yield Problem(path, text)
        if campaign.has_quota and (uneven := _uneven_nodes(sharing)):
            text = (
                f"limits.cpu_quota is of a node, so an instance would get less of it in {uneven} than in "
                f"{sharing.alone}; leave it out or give the instances nodes of their own"
            )
            yield Problem(path, text)
    if name := _repeated_name(campaign):
        yield Problem(
            ("sharing",) if campaign.sharings else ("factor",),
            f"two trials would be called {name}; rename an environment or a workload",
        )


def _uneven_memory(sharing: Sharing, path: tuple[str | int, ...]) -> Iterator[Problem]:
    if uneven := _uneven_nodes(sharing):
        text = (
            f"limits.memory_per_node is of a node, so an instance would get less of it in {uneven} than in "
            f"{sharing.alone}; give limits.memory, or the instances nodes of their own"
        )
        yield Problem(path, text)


def _uneven_nodes(sharing: Sharing) -> str | None:
    """The first layout with more instances in a node than alone."""
    alone = sharing.alone
    uneven = (own for own in sharing.together if own.instances * alone.nodes != alone.instances * own.nodes)
    return next(map(str, uneven), None)


def _repeated_name(campaign: Campaign) -> str | None:
    """Find a repeated name: names may contain their separator, so ``a`` and ``b-c`` read like ``a-b`` and ``c``."""
    counts = Counter(
        trial.identity for trial in plan_block(campaign, 0, 0) if trial.neighbour or trial.levels
    )
    return next((name for name, count in counts.items() if count > 1), None)
