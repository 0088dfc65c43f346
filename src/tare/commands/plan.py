# SPDX-License-Identifier: Apache-2.0
"""``tare plan``: show what a campaign would do, without doing it."""

from __future__ import annotations

import dataclasses
import json
import math
import secrets
from itertools import groupby
from typing import TYPE_CHECKING, Any

from tare.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tare.commands.slice_lengths import Lengths
    from tare.plan.budget import BudgetPlan
    from tare.plan.campaign import Campaign
    from tare.records import Foresight, Skipped, Trial

_SHOWN_BLOCKS = 2


def run_plan(
    campaign: str,
    seed: int | None,
    as_json: bool,
    history: Path | None = None,
    pilot: bool = False,
    hosts: str | None = None,
    budget: str | None = None,
) -> ExitCode:
    """Print cells, arms, order, time and what the looks can decide; raises ``CampaignError`` or ``HostError``.

    The last needs this host's noise: from the result ``history``, from a ``pilot`` of a minute or two, else from the
    newest results in ``./results``.
    """
    from tare.commands.run import budget_s, missing_here
    from tare.host.facts import memory_byte, online_processors
    from tare.measure.devices import require_devices
    from tare.measure.hosts import sizes
    from tare.plan.campaign import resolve, with_overrides

    asked = resolve(
        campaign,
        host_processors=len(online_processors()),
        host_memory_byte=memory_byte(),
        sizes=sizes,
        asked_hosts=hosts,
        budget_s=budget_s(budget),
        missing=missing_here,
    )
    require_devices(asked)
    return show_plan(with_overrides(asked, seed=seed, budget_s=budget_s(budget)), as_json, history, pilot)


def show_plan(asked: Campaign, as_json: bool, history: Path | None = None, pilot: bool = False) -> ExitCode:
    """Print the plan of a campaign; as ``run_plan``."""
    from tare.plan.budget import fits
    from tare.plan.trials import plan_trials

    chosen = secrets.randbelow(2**31) if asked.seed is None else asked.seed
    lengths = _lengths(asked) if pilot else None
    if asked.auto_slice and lengths is not None:
        asked = _with_chosen(asked, lengths)
    trials = plan_trials(asked, chosen)
    missing = _missing(asked)
    absent = {each.environment for each in missing}
    measured = [trial for trial in trials if trial.environment.name not in absent]
    budget = fits(asked, measured, (), asked.budget_s)
    foresights = _foresights(asked, history, pilot)
    if as_json:
        from tare.commands.slice_lengths import lengths_to_json

        machine = _machine(asked, chosen, trials, budget, foresights) | {
            "skipped": [dataclasses.asdict(skipped) for skipped in missing]
        }
        tried = lengths and asked.turns and lengths_to_json(lengths, asked.turns)
        print(json.dumps({**machine, "slice_lengths": tried}, indent=2))
        return ExitCode.DONE
    _print_words(asked, chosen, trials, budget, foresights, missing)
    if lengths is not None and asked.turns is not None:
        from tare.commands.slice_lengths import print_lengths

        print_lengths(lengths, asked.turns)
    return ExitCode.DONE


def _with_chosen(campaign: Campaign, lengths: Lengths) -> Campaign:
    from tare.commands.slice_lengths import with_chosen

    return with_chosen(campaign, lengths)


def _lengths(campaign: Campaign) -> Lengths | None:
    from tare.commands.audience import PilotProgress
    from tare.commands.slice_lengths import try_lengths

    progress = PilotProgress()
    lengths = try_lengths(campaign, progress)
    progress.finish()
    return lengths


def _foresights(campaign: Campaign, history: Path | None, pilot: bool) -> Sequence[Foresight]:
    from tare.commands import noise
    from tare.commands.audience import Progress

    if not pilot:
        return noise.foresights(campaign, noise.histories(history))
    progress = Progress()
    foresights = noise.foresights(campaign, [noise.pilot(campaign, progress)])
    progress.finish()
    if not foresights:
        progress.says(
            "the pilot could not run six blocks in a minute and a half, so it says nothing of the noise"
        )
    return foresights


def _machine(
    campaign: Campaign,
    seed: int,
    trials: Sequence[Trial],
    budget: BudgetPlan,
    foresights: Sequence[Foresight],
) -> dict[str, Any]:
    from tare.commands.foresight import to_json
    from tare.plan.scans import open_scans

    return {
        "schema": 1,
        "campaign": campaign.to_json(),
        "seed": seed,
        "trials": [
            {
                "identity": trial.identity,
                "block": trial.block,
                "slot": trial.slot,
                "workload": trial.workload.name,
                "layout": trial.setting,
                "environment": trial.environment.name,
                "replicate": trial.replicate,
            }
            for trial in trials
        ],
        "expected_s": budget.expected_s,
        "budget_s": budget.budget_s,
        "fitting_blocks": budget.fitting_blocks,
        "sentence": budget.sentence,
        "looks": list(campaign.looks),
        "precision": [dataclasses.asdict(entry) for entry in budget.precision],
        "foresight": to_json(foresights),
        "scans": [
            {
                "workload": wanted.workload.name,
                "processors": wanted.processors,
                **dataclasses.asdict(wanted.scan),
                "expected_s": wanted.expected_s,
            }
            for wanted in open_scans(campaign)
        ],
        "warnings": list(budget.warnings),
    }


def _print_words(
    campaign: Campaign,
    seed: int,
    trials: Sequence[Trial],
    budget: BudgetPlan,
    foresights: Sequence[Foresight],
    missing: Sequence[Skipped],
) -> None:
    from tare.plan.scans import open_scans
    from tare.units import format_duration

    drawn = f", drawn now; --seed {seed} gives this order again" if campaign.seed is None else ""
    print(f"Campaign {campaign.name} (seed {seed}{drawn})\n")
    _print_points(campaign, missing)
    _print_cells(campaign)
    for block in range(min(_SHOWN_BLOCKS, campaign.blocks)):
        print(f"\nOrder of block {block}:")
        for line in _order([trial for trial in trials if trial.block == block]):
            print(f"  {line}")
    print(f"\n{budget.sentence[:1].upper()}{budget.sentence[1:]}.\n")
    if campaign.auto_slice and campaign.turns is not None:
        length = format_duration(campaign.turns.slice_s)
        print(
            f"Slices are counted as of {length}: `tare run` chooses their length first, from half a minute of native "
            "slices (`tare plan --pilot` does so now), with rounds that take as much time.\n"
        )
    for wanted in open_scans(campaign):
        print(f"First: {wanted.sentence}, unless this host has kept an earlier choice.\n")
    _print_looks(campaign)
    if foresights:
        from tare.commands.foresight import print_foresights

        print_foresights(foresights, campaign)
    if len(foresights) < len(campaign.cells) * len(campaign.environments):
        _print_precision(budget)
    for warning in budget.warnings:
        print(f"Warning: {warning}.")


def _missing(campaign: Campaign) -> Sequence[Skipped]:
    """The environments that do not run here now, of a campaign that leaves out what the host cannot do."""
    if not campaign.fit or campaign.hosts:
        return ()
    from tare.environments import PROVIDERS
    from tare.measure.usable import missing_now

    return missing_now(campaign.environments_at_levels, PROVIDERS)


def _print_points(campaign: Campaign, missing: Sequence[Skipped]) -> None:
    """What is not as the file asks, point by point."""
    points = [point.sentence for point in campaign.scaled]
    points += [f"{each.environment}: skipped: {each.reason}; to get it: {each.remedy}" for each in missing]
    if points:
        print("Not as asked, as this host cannot:")
        for sentence in points:
            print(f"  {sentence}")
        print()


def _print_looks(campaign: Campaign) -> None:
    """Say when an arm may stop, and which looks cannot stop an arm."""
    for condition in campaign.fail_if:
        print(f"Fails if: {condition.text}{'' if campaign.undecided_fails else '; undecided passes'}.")
    if len(campaign.looks) == 1:
        return
    print(
        f"An environment may stop after {', '.join(map(str, campaign.looks[:-1]))} blocks: {_reasons(campaign)}."
    )
    if campaign.design.whole:
        print("What sharing experiments or the levels of factors compare runs all blocks.")
    for look in _too_early(campaign):
        print(f"Warning: a look after {look} of {campaign.blocks} blocks is too early for any interval.")
    print()


def _reasons(campaign: Campaign) -> str:
    relative, absolute = campaign.precise_relative * 100, campaign.precise_absolute * 100
    precise = f"its interval is within ±{absolute:g} points, or ±{relative:g} % of the overhead"
    usual = f"when {precise}, or shows that the overhead is within ±{campaign.margin * 100:g} %"
    if not campaign.design.fail_if:
        return usual
    asked = {condition.environment for condition in campaign.design.fail_if}
    answered = "as soon as what it is asked for is decided"
    return answered if None in asked else f"{', '.join(sorted(map(str, asked)))} {answered}, others {usual}"


def _too_early(campaign: Campaign) -> list[int]:
    from tare.statistics.boundary import boundary, spending

    levels = boundary(campaign.looks, tuple(spending(look, campaign.blocks) for look in campaign.looks))
    return [look for look, nominal in zip(campaign.looks, levels, strict=True) if nominal <= 0]


def _print_cells(campaign: Campaign) -> None:
    from rich.table import Table

    from tare.commands.console import PlainConsole
    from tare.plan.budget import short_duration
    from tare.records import NATIVE, MpiLauncher
    from tare.units import format_byte

    arms = ", ".join([f"{NATIVE} twice", *(environment.name for environment in campaign.environments)])
    table = Table(
        "workload", "layout", "memory", "in each block", box=None, pad_edge=False, header_style="bold"
    )
    for workload, setting in campaign.cells:
        table.add_row(workload.name, str(setting), format_byte(setting.limits.memory_byte), arms)
    once = ", ".join([NATIVE, *(environment.name for environment in campaign.environments)])
    for order in campaign.orders:
        name = f"{order.workload.name} by {order.option}"
        description = f"{once}, each in three orders ({order.boots} blocks)"
        table.add_row(
            name, str(order.layout), format_byte(campaign.limits.of(order.layout).memory_byte), description
        )
    PlainConsole().print(table)
    limits = campaign.limits
    quota = "no CPU quota" if limits.cpu_quota is None else f"{limits.cpu_quota:g} processors' CPU time"
    sizes = f"{format_byte(limits.shm_byte)} of /dev/shm in each node, {quota}"
    print(f"\nEach trial: {sizes}, at most {short_duration(limits.time_s)}.")
    if campaign.mpi_launcher is not MpiLauncher.TARE:
        print(f"MPI processes over hosts are started by {campaign.mpi_launcher}, in every arm.")
    _print_factors(campaign)
    _print_oversubscription(campaign)


def _print_factors(campaign: Campaign) -> None:
    """Say what varies, in whom, and how much it makes of the campaign."""
    for factor in campaign.factors:
        whose = f" of {', '.join(factor.names)}" if factor.names else ""
        print(f"Factor {factor.key}{whose}: {', '.join(level.text for level in factor.levels)}.")
        others = [each.name for each in campaign.environments if each.name not in factor.names]
        if factor.of in {"network", "environment"} and others:
            print(f"  native, {', '.join(others)} stay as they are at each level.")
    if campaign.factors:
        count = math.prod(len(factor.levels) for factor in campaign.factors)
        print(f"{count} combinations of levels make {len(campaign.cells)} cells; native runs in each.")


def _print_oversubscription(campaign: Campaign) -> None:
    """Say where nodes must share processors, which makes them slow in any environment."""
    from tare.measure.placement import sharing_said

    here, where = _processors(campaign), " on each host" if campaign.hosts else ""
    for setting in campaign.settings:
        beside = setting.company.count * setting.layout.processors if setting.company else 0
        wanted = setting.layout.as_native.processors + beside
        if wanted > here:
            print(f"Oversubscribed{where}: {setting}: {sharing_said(wanted, here)}.")


def _processors(campaign: Campaign) -> int:
    """Of the smallest host that has nodes."""
    from tare.host.facts import online_processors
    from tare.measure.hosts import sizes

    known = sizes(campaign.hosts).values()
    return min((host.processors for host in known), default=len(online_processors()))


def _print_precision(budget: BudgetPlan) -> None:
    from rich.table import Table

    from tare.commands.console import PlainConsole

    margin = f"{budget.margin * 100:g} %"
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in (
        "if runs vary by",
        f"{budget.final_blocks} blocks give a 95 % interval of about",
        f"for ±{margin} it takes",
    ):
        table.add_column(title)
    for entry in budget.precision:
        width = "none" if entry.half_width is None else f"±{entry.half_width * 100:.2g} %"
        table.add_row(f"{entry.variation * 100:g} %", width, f"{entry.blocks_for_margin} blocks")
    PlainConsole().print(table)


def _order(block: Sequence[Trial]) -> Iterator[str]:
    for (workload, layout), cell in groupby(block, key=lambda trial: (trial.workload.name, trial.setting)):
        yield f"{workload} {layout}: " + ", ".join(trial.environment.name for trial in cell)
