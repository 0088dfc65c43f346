# SPDX-License-Identifier: Apache-2.0
"""How long a slice should be: a native trial of half a minute, for ``tare plan --pilot`` and ``slice = "auto"``."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from rich.table import Table

from tare.analyze.slice_lengths import slice_lengths
from tare.commands.console import PlainConsole
from tare.environments import PROVIDERS
from tare.host.scratch import scratch_folder
from tare.journal.reader import read_journal
from tare.journal.result import ResultFolder
from tare.measure.campaign import Audience, Request, measure_campaign
from tare.measure.kept import kept_campaign
from tare.nodes.provider import Provider
from tare.plan.campaign import Campaign
from tare.plan.turns import turn_s, with_slices_of
from tare.records import Outcome, SliceLength, Turns, Way, Workload
from tare.units import format_duration
from tare.workloads import KINDS, pieces_of

PIECE_S = 0.003
_ROUNDS = 1600
_TRIED: Mapping[str, Mapping[str, object]] = {
    "compute": {"pieces": ["compute"]},
    "memory": {"pieces": ["bandwidth"]},
}
_NATIVE_ARMS = 2
_WORTH = 1.1
"""A half-width less than a tenth larger is as good: the pilot's precision is no better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """What slices of each length can decide on this host now."""

    time_s: float
    """Time for each environment and metric: the duration of the campaign's turns."""
    arms: int
    metrics: Mapping[str, tuple[SliceLength, ...]]


def try_lengths(
    campaign: Campaign,
    audience: Audience,
    providers: Mapping[str, Provider] = PROVIDERS,
    image_name: str = "default",
) -> Lengths | None:
    """Measure native pieces of 3 ms; ``None`` where the campaign's slices cannot have another length."""
    turns = campaign.turns
    if turns is None or not _can_choose(campaign):
        return None
    with scratch_folder("pilot") as folder:
        request = Request(
            campaign=_pilot(campaign),
            folder=ResultFolder(folder / "result"),
            image_name=image_name,
            providers=providers,
        )
        measure_campaign(request, audience)
        outcomes = read_journal(request.folder.journal).outcomes
    arms = len(campaign.environments) + _NATIVE_ARMS
    time_s = campaign.blocks * turns.processes * turns.rounds * turn_s(turns.slice_s)
    metrics = {
        metric: slice_lengths(pieces, arms, time_s, turn_s) for metric, pieces in _pieces(outcomes).items()
    }
    return Lengths(time_s=time_s, arms=arms, metrics=metrics)


def _can_choose(campaign: Campaign) -> bool:
    """Whether lengths can be chosen; a slice that is a program's iteration would only change the shared rounds."""
    sliced = [workload for workload in campaign.workloads if workload.way is Way.SLICES]
    return bool(sliced) and not any(piece.fixed for workload in sliced for piece in pieces_of(workload))


def _pilot(campaign: Campaign) -> Campaign:
    return replace(
        campaign,
        name="pilot",
        environments=(),
        sharings=(),
        orders=(),
        layouts=campaign.layouts[:1],
        workloads=tuple(_workload(name, options) for name, options in _TRIED.items()),
        blocks=1,
        looks=(1,),
        fail_if=(),
        budget_s=None,
        auto_slice=False,
        turns=Turns(slice_s=PIECE_S, rounds=_ROUNDS, processes=1),
    )


def _workload(kind: str, said: Mapping[str, object]) -> Workload:
    options = KINDS[kind].options_model.model_validate(said).model_dump(mode="json", exclude_none=True)
    return Workload(name=kind, kind=kind, options=options, way=Way.SLICES)


def _pieces(outcomes: Sequence[Outcome]) -> dict[str, list[float]]:
    """Metric → wall times of consecutive pieces, without the luck of the processes that take turns."""
    relative: dict[str, list[tuple[int, int, float]]] = {}
    middles: dict[str, list[float]] = {}
    for outcome in outcomes:
        for name, walls_s in _walls(outcome).items():
            middle = statistics.median(walls_s.values())
            middles.setdefault(name, []).append(middle)
            places = relative.setdefault(name, [])
            places += [(number, outcome.trial.replicate, wall / middle) for number, wall in walls_s.items()]
    return {
        name: [statistics.fmean(middles[name]) * part for _, _, part in sorted(places)]
        for name, places in relative.items()
    }


def _walls(outcome: Outcome) -> dict[str, dict[int, float]]:
    """Metric → round → seconds of the whole slice."""
    count = next(iter(outcome.turns.counts.values()), 1) if outcome.turns else 1
    walls_s: dict[str, dict[int, float]] = {}
    for sample in outcome.samples:
        if sample.round is not None and not sample.instance and "(" not in sample.name:
            walls_s.setdefault(sample.name, {})[sample.round] = sample.value * count
    return walls_s


def with_slices(request: Request, audience: Audience) -> Request:
    """Choose the slice length where the campaign leaves it to Tare: a begun result's own, else by the pilot."""
    campaign = request.campaign
    if not campaign.auto_slice:
        return request
    if request.folder.exists():
        return replace(request, campaign=_as_kept(campaign, kept_campaign(request.folder)))
    lengths = try_lengths(campaign, audience, request.providers, request.image_name)
    chosen = with_chosen(campaign, lengths)
    if lengths is not None and chosen.turns is not None:
        audience.says(_chosen_said(lengths, chosen.turns))
    return replace(request, campaign=chosen)


def _as_kept(campaign: Campaign, kept: Campaign) -> Campaign:
    turns = campaign.turns
    if turns is not None and kept.turns is not None:
        turns = replace(turns, slice_s=kept.turns.slice_s, rounds=kept.turns.rounds)
    return replace(campaign, turns=turns, auto_slice=False)


def with_chosen(campaign: Campaign, lengths: Lengths | None) -> Campaign:
    """The campaign with the slices that decide most; unchanged where nothing was tried."""
    turns = campaign.turns
    if turns is not None and lengths is not None:
        turns = recommended(turns, lengths)
    return replace(campaign, turns=turns, auto_slice=False)


def recommended(turns: Turns, lengths: Lengths) -> Turns:
    """The slices that decide most in the same time; ``turns`` if within a tenth of them."""
    widths = {
        tried.length_s: width
        for row in lengths.metrics.values()
        for tried in row
        if (width := expected_half_width(lengths, tried.length_s)) is not None
    }
    own = expected_half_width(lengths, turns.slice_s)
    best_s = min(widths, key=widths.__getitem__, default=turns.slice_s)
    if own is None or own <= _WORTH * widths[best_s]:
        return turns
    return with_slices_of(turns, best_s)


def _chosen_said(lengths: Lengths, turns: Turns) -> str:
    expected = expected_half_width(lengths, turns.slice_s)
    slices = f"slices of {format_duration(turns.slice_s)} in {turns.rounds} rounds"
    if expected is None:
        return f"the pilot measured too little to choose: {slices} are used"
    return f"{slices} decide most on this host now: about ±{100 * expected:.2g} % of each comparison at 95 %"


def expected_half_width(lengths: Lengths, slice_s: float) -> float | None:
    """Half-width of the noisier metric at the nearest tried length; ``None`` without one."""
    nearest = [
        min(row, key=lambda each: abs(math.log(each.length_s / slice_s))).half_width
        for row in lengths.metrics.values()
        if row
    ]
    return max(nearest, default=None)


def print_lengths(lengths: Lengths, turns: Turns) -> None:
    """Print the table, the length that decides most, and the campaign line for it."""
    console = PlainConsole()
    console.print(
        f"What {format_duration(lengths.time_s)} of turns in each of {lengths.arms} arms decide at the noise of "
        "this host now (native pieces of 3 ms, joined; 95 % half-widths):"
    )
    console.print(_table(lengths))
    console.print(f"{_recommended_said(lengths, turns)}\n")


def _table(lengths: Lengths) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("slices of about", justify="right")
    for metric in lengths.metrics:
        table.add_column(metric, justify="right")
    for tried in zip_longest(*lengths.metrics.values()):
        length_s = next(each.length_s for each in tried if each is not None)
        widths = ("" if each is None else f"±{100 * each.half_width:.2g} %" for each in tried)
        table.add_row(format_duration(_rounded(length_s)), *widths)
    return table


def _recommended_said(lengths: Lengths, turns: Turns) -> str:
    best = recommended(turns, lengths)
    own = expected_half_width(lengths, turns.slice_s)
    expected = expected_half_width(lengths, best.slice_s)
    if own is None or expected is None:
        return "The pilot had too few slices to recommend a length."
    if best == turns:
        return f"This campaign's slices of {format_duration(turns.slice_s)} decide most here: about ±{100 * own:.2g} %."
    return (
        f"On this host slices of {format_duration(best.slice_s)} decide most: about ±{100 * expected:.2g} %, and this "
        f"campaign's {format_duration(turns.slice_s)} ±{100 * own:.2g} % in the same time. Write:\n\n"
        f'[turns]\nslice = "{1000 * best.slice_s:.0f}ms"\nrounds = {best.rounds}\nprocesses = {best.processes}'
    )


def _rounded(length_s: float) -> float:
    return round(length_s, 3) if length_s < 1 else round(length_s, 1)


def lengths_to_json(lengths: Lengths, turns: Turns) -> dict[str, Any]:
    """The table as JSON."""
    return dataclasses.asdict(lengths) | {"recommended": dataclasses.asdict(recommended(turns, lengths))}
