# SPDX-License-Identifier: Apache-2.0
"""Announcement before a run's first trial: how its arms take turns, and how finely that can decide."""

import math
from collections.abc import Sequence
from pathlib import Path

from tare.commands.noise import History, kept_histories
from tare.drawing.words import counted
from tare.plan.budget import half_width
from tare.plan.campaign import Campaign
from tare.plan.sharing import Setting
from tare.plan.trials import turns_of
from tare.records import Turns, Way, Workload
from tare.statistics.blocks import LEAST_BLOCKS
from tare.units import format_duration
from tare.workloads import pieces_of, primary_metrics

_Cell = tuple[Workload, Setting]


def ways_said(
    campaign: Campaign, blocks: int, learn: str | None = None, results: Path = Path("results")
) -> list[str]:
    """One line for each way of measuring in the campaign.

    ``blocks``: the most that there will be; ``learn``: the command that measures the noise of this host.
    """
    cells: dict[Way, list[_Cell]] = {}
    for cell in campaign.cells:
        way = cell[0].way if turns_of(campaign, *cell) else Way.WHOLE
        cells.setdefault(way, []).append(cell)
    histories = kept_histories(results)
    lines = []
    for way, own in cells.items():
        most = "up to " if len(campaign.looks) > 1 else ""
        expected = _expected_said(campaign, own, blocks, histories, learn)
        lines.append(
            f"{_way_said(way, own, campaign.turns or Turns())}: {most}{counted(blocks, 'block')}"
            f"{_rounds_said(way, campaign.turns or Turns())}; {expected}"
        )
    return lines


def _way_said(way: Way, cells: Sequence[_Cell], turns: Turns) -> str:
    count = sum(len(primary_metrics(workload)) for workload, _ in cells)
    own_slices = f"slices of {format_duration(turns.slice_s)}"
    if all(piece.fixed for workload, _ in cells for piece in pieces_of(workload)):
        own_slices = "iterations of their own length"
    metrics, takes = counted(count, "metric"), "takes" if count == 1 else "take"
    match way:
        case Way.SLICES:
            return f"{metrics} {takes} turns by {own_slices}"
        case Way.FREEZER:
            return f"{metrics} {takes} turns by the freezer, where all environments can be frozen"
        case Way.WHOLE:
            return f"{metrics} of whole runs, one after the other"


def _rounds_said(way: Way, turns: Turns) -> str:
    return f" of {turns.processes * turns.rounds} rounds" if way is Way.SLICES else ""


def _expected_said(
    campaign: Campaign, cells: Sequence[_Cell], blocks: int, histories: Sequence[History], learn: str | None
) -> str:
    if blocks < LEAST_BLOCKS:
        return f"fewer than {LEAST_BLOCKS} blocks give no interval"
    known = ((history, _half_widths(campaign, cells, blocks, history)) for history in histories)
    history, widths = next((pair for pair in known if pair[1]), (None, []))
    if history is None:
        unknown = "nothing is known yet of this host's noise with them"
        return f"{unknown}: `{learn}` measures it and says what can be decided" if learn else unknown
    narrow, wide = (f"{100 * width:.2g}" for width in (min(widths), max(widths)))
    between = f"\N{PLUS-MINUS SIGN}{narrow}" if narrow == wide else f"\N{PLUS-MINUS SIGN}{narrow} to {wide}"
    return f"at the noise of {history.name} expect 95 % intervals of about {between} %"


def _half_widths(campaign: Campaign, cells: Sequence[_Cell], blocks: int, history: History) -> list[float]:
    """Half-widths of the 95 % intervals of all arms and metrics with known noise."""
    arms = (
        arm
        for workload, setting in cells
        for environment in campaign.environments
        for arm in history.alike(
            workload, turns_of(campaign, workload, setting), str(setting), environment.name
        )
    )
    widths = (half_width(blocks, arm.spread / math.sqrt(2)) for arm in arms)
    return [width for width in widths if width is not None]
