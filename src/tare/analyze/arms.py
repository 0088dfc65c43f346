# SPDX-License-Identifier: Apache-2.0
"""Arms of a result against each other, as a paper's claim asks.

An environment against native in one cell has the overhead of its verdict. All other pairs are compared in their
common blocks: by their times themselves, or, one environment in two cells, by what it loses against native in each, as
for factors.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from tare.analyze.contrasts import against_natives, between_two, contrast_of
from tare.analyze.looks import by_block, common_reach, reach_of
from tare.analyze.order import descending_over_ascending
from tare.analyze.view_evidence import MeasuredArm, PaperArm, ViewEvidence
from tare.records import NATIVE, Cell, Estimate, OrderVerdict, SharedCell, SharingLoss
from tare.statistics.contrasts import estimate, widened
from tare.statistics.estimate import as_fraction
from tare.statistics.evidence import Reach, interval
from tare.statistics.multiplicity import ERROR
from tare.statistics.variance import variation

NO_BLOCK = "no block has both"
_TOO_BUSY = "the machine was too busy to tell"
_FEWEST_VALUES = 2


def between(
    first: MeasuredArm, second: MeasuredArm, error: float = ERROR, *, by_times: bool = False
) -> Estimate | None:
    """How much more time the first takes, as a fraction; ``None`` where no block has both.

    ``by_times``: one environment in two cells by its times: what a cell costs it may cost native too.
    """
    if second.environment == NATIVE and _in_one_place(first, second):
        return _against_native(first, error)
    return _between(first, second, error, by_times=by_times)


def withheld_of(first: MeasuredArm, second: MeasuredArm) -> str:
    """Why a comparison does not count; empty where it does."""
    return _TOO_BUSY if first.withheld or second.withheld else ""


def _in_one_place(first: MeasuredArm, second: MeasuredArm) -> bool:
    return (first.cell, first.place.metric, first.place.at) == (
        second.cell,
        second.place.metric,
        second.place.at,
    )


def _against_native(arm: MeasuredArm, error: float) -> Estimate | None:
    if arm.verdict is not None:
        overhead = arm.verdict.overhead
        if error == ERROR:
            return overhead.typical
        contrast = contrast_of(overhead.summary, set(by_block(overhead)))
        return as_fraction(interval(contrast, reach_of(overhead), error))
    blocks = sorted(arm.losses.keys() & arm.controls.keys())
    if not blocks:
        return None
    contrast = against_natives(
        tuple(arm.losses[block] for block in blocks), tuple(arm.controls[block] for block in blocks)
    )
    return as_fraction(estimate(widened(contrast), error))


def _between(first: MeasuredArm, second: MeasuredArm, error: float, *, by_times: bool) -> Estimate | None:
    apart = not by_times and first.environment == second.environment != NATIVE and first.cell != second.cell
    ours, theirs = (first.losses, second.losses) if apart else (first.times, second.times)
    blocks = sorted(ours.keys() & theirs.keys())
    if not blocks:
        return None
    contrast = widened(between_two([ours[block] - theirs[block] for block in blocks]))
    overheads = [arm.verdict.overhead for arm in (first, second) if arm.verdict is not None]
    n = len(blocks)
    reach = common_reach(overheads, n) if overheads else Reach.at_once(n)
    return as_fraction(interval(contrast, reach, error))


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPart:
    """What a result has of one part of a claim."""

    environment: str
    """Ours; the paper's name where there is none."""
    what: str
    estimate: Estimate | None
    """As a fraction; ``None``: not measured."""
    why: str = ""
    """Why there is no estimate, or none that counts."""
    deviations: tuple[str, ...] = ()
    """How it differs from the paper's own point."""
    wider: Callable[[float], Estimate | None] | None = None
    """The estimate with another chance of a miss; ``None``: there is no other."""


def missing(arm: PaperArm, why: str) -> MeasuredPart:
    """Nothing of an arm."""
    return MeasuredPart(environment=arm.role, what=arm.said, estimate=None, why=why)


def loss_of(evidence: ViewEvidence, arm: PaperArm, alone: str) -> Iterator[MeasuredPart]:
    """What company costs in this place, against the layout ``alone``."""
    own = [
        loss
        for loss in evidence.analysis.sharing
        if loss.summary.environment in evidence.named(arm.role)
        and loss.summary.metric == arm.place.metric
        and loss.summary.cells.shared in evidence.cells(arm.place)
        and _is_alone(evidence, loss.summary.cells.alone, alone)
    ]
    for loss in own:
        cells, name = loss.summary.cells, loss.summary.environment
        where = f"{cells.shared.workload}: {cells.shared.layout} over {cells.alone.layout}"
        yield MeasuredPart(
            environment=name,
            what=f"{name}, {arm.place.metric} of {where}",
            estimate=loss.typical,
            why=_TOO_BUSY if loss.withheld else "",
            deviations=_of_both(evidence, arm, name, cells, alone),
            wider=_loss_at(loss),
        )
    if not own:
        _, why = evidence.of(arm) if arm.role != NATIVE else ((), "")
        yield missing(arm, why or f"no experiment of {alone} and {arm.place.layout} in this result")


def _is_alone(evidence: ViewEvidence, cell: Cell, layout: str) -> bool:
    trial = evidence.trials.get(cell)
    return trial is not None and evidence.is_layout(layout, trial)


def spread_of(evidence: ViewEvidence, arm: PaperArm) -> Iterator[MeasuredPart]:
    """The coefficient of variation of an environment's runs, from block to block.

    Without the highest and the lowest, as in the papers that print one.
    """
    arms, why = evidence.of(arm)
    for own in arms:
        values = _without_extremes(evidence.runs(own).values())
        spread = variation(values) if len(values) >= _FEWEST_VALUES else None
        too_few = "" if spread else "too few blocks for a spread without the extremes"
        yield MeasuredPart(
            environment=own.environment,
            what=f"{own.said}, spread",
            estimate=spread,
            why=too_few or withheld_of(own, own),
            deviations=own.deviations,
            wider=_spread_at(values),
        )
    if not arms:
        yield missing(arm, why)


def _without_extremes(values: Iterable[float]) -> tuple[float, ...]:
    return tuple(sorted(values)[1:-1])


def _spread_at(values: Sequence[float]) -> Callable[[float], Estimate | None]:
    return lambda error: variation(values, 1 - error) if len(values) >= _FEWEST_VALUES else None


def _loss_at(loss: SharingLoss) -> Callable[[float], Estimate | None]:
    contrast = between_two([fmean(losses) for losses in loss.summary.log_losses])
    return lambda error: as_fraction(estimate(contrast, error))


def _of_both(
    evidence: ViewEvidence, arm: PaperArm, name: str, cells: SharedCell, alone: str
) -> tuple[str, ...]:
    """How the place with company or the one without differs from the paper's own."""
    there = replace(arm, place=replace(arm.place, layout=alone))
    both = (evidence.deviations(arm, name, cells.shared), evidence.deviations(there, name, cells.alone))
    return tuple(dict.fromkeys(each for own in both for each in own))


def _order_at(verdict: OrderVerdict, value: float) -> Callable[[float], Estimate | None]:
    return lambda error: descending_over_ascending(verdict.summary.blocks, value, 1 - error)


def order_of(evidence: ViewEvidence, arm: PaperArm, value: float | None) -> Iterator[MeasuredPart]:
    """The run with this value in descending order over the same in ascending order."""
    names = evidence.named(arm.role)
    own = [
        (verdict, contrast)
        for verdict in evidence.analysis.orders
        if verdict.summary.environment in names
        and verdict.summary.metric == arm.place.metric
        and verdict.summary.cell.layout == arm.place.layout
        for contrast in verdict.contrasts
        if contrast.value == value
    ]
    for verdict, contrast in own:
        name = verdict.summary.environment
        where = f"{verdict.summary.option} = {contrast.value:g}"
        yield MeasuredPart(
            environment=name,
            what=f"{name}, {arm.place.metric} at {where}, descending over ascending",
            estimate=descending_over_ascending(verdict.summary.blocks, contrast.value),
            why=_TOO_BUSY if verdict.withheld else "",
            deviations=evidence.order_deviations(arm, name, verdict.summary.cell),
            wider=_order_at(verdict, contrast.value),
        )
    if not own:
        absent = "" if names else f"no {arm.role} in this result"
        left = evidence.left_out(arm.place.layout, f"{value:g}")
        yield missing(arm, absent or left or f"no order experiment with the value {value:g} in this result")
