# SPDX-License-Identifier: Apache-2.0
"""``tare plan``: what a campaign would do, without doing it."""

from __future__ import annotations

import dataclasses
import json
import secrets
from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tare.plan.budget import BudgetPlan
    from tare.plan.campaign import Campaign
    from tare.records import Trial

_SHOWN_BLOCKS = 2


def run_plan(campaign: str, seed: int | None, as_json: bool) -> int:
    """Print cells, arms, order, time and what the sample sizes can decide; raises ``CampaignError``."""
    from tare.host.facts import memory_byte, online_processors
    from tare.plan.budget import fits
    from tare.plan.campaign import resolve, with_overrides
    from tare.plan.trials import plan_trials

    asked = resolve(campaign, host_processors=len(online_processors()), host_memory_byte=memory_byte())
    asked = with_overrides(asked, seed=seed)
    chosen = secrets.randbelow(2**31) if asked.seed is None else asked.seed
    trials = plan_trials(asked, chosen)
    budget = fits(asked, trials, (), asked.budget_s)
    if as_json:
        print(json.dumps(_machine(asked, chosen, trials, budget), indent=2))
    else:
        _print_words(asked, chosen, trials, budget)
    return 0


def _machine(campaign: Campaign, seed: int, trials: Sequence[Trial], budget: BudgetPlan) -> dict[str, Any]:
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
        "precision": [dataclasses.asdict(entry) for entry in budget.precision],
        "warnings": list(budget.warnings),
    }


def _print_words(campaign: Campaign, seed: int, trials: Sequence[Trial], budget: BudgetPlan) -> None:
    drawn = f", drawn now; --seed {seed} gives this order again" if campaign.seed is None else ""
    print(f"Campaign {campaign.name} (seed {seed}{drawn})\n")
    _print_cells(campaign)
    for block in range(min(_SHOWN_BLOCKS, campaign.blocks)):
        print(f"\nOrder of block {block}:")
        for line in _order([trial for trial in trials if trial.block == block]):
            print(f"  {line}")
    print(f"\n{budget.sentence[:1].upper()}{budget.sentence[1:]}.\n")
    _print_precision(budget)
    for warning in budget.warnings:
        print(f"Warning: {warning}.")


def _print_cells(campaign: Campaign) -> None:
    from rich.console import Console
    from rich.table import Table

    from tare.plan.budget import short_duration
    from tare.records import NATIVE
    from tare.units import format_byte

    arms = ", ".join([f"{NATIVE} twice", *(environment.name for environment in campaign.environments)])
    table = Table(
        "workload", "layout", "memory", "in each block", box=None, pad_edge=False, header_style="bold"
    )
    for workload, setting in campaign.cells:
        table.add_row(workload.name, str(setting), format_byte(setting.limits.memory_byte), arms)
    Console(highlight=False).print(table)
    limits = campaign.limits
    quota = "no CPU quota" if limits.cpu_quota is None else f"{limits.cpu_quota:g} processors' CPU time"
    sizes = f"{format_byte(limits.shm_byte)} of /dev/shm in each node, {quota}"
    print(f"\nEach trial: {sizes}, at most {short_duration(limits.time_s)}.")
    _print_oversubscription(campaign)


def _print_oversubscription(campaign: Campaign) -> None:
    """Say where nodes must share processors: their slowness is then no property of an environment."""
    from tare.host.facts import online_processors

    here = len(online_processors())
    for setting in campaign.settings:
        beside = setting.company.count * setting.layout.processors if setting.company else 0
        wanted = setting.layout.total_processors + beside
        if wanted > here:
            print(
                f"Oversubscribed: {setting} asks for {wanted} processors, and {here} are here; nodes share them."
            )


def _print_precision(budget: BudgetPlan) -> None:
    from rich.console import Console
    from rich.table import Table

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
    Console(highlight=False).print(table)


def _order(block: Sequence[Trial]) -> Iterator[str]:
    for (workload, layout), cell in groupby(block, key=lambda trial: (trial.workload.name, trial.setting)):
        yield f"{workload} {layout}: " + ", ".join(trial.environment.name for trial in cell)
