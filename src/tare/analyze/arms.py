# SPDX-License-Identifier: Apache-2.0
"""What a result has of an environment and a place that a paper names, and two such arms against each other.

An environment against native in one cell has the overhead of its verdict. All other pairs are compared in their
common blocks: by their times themselves, or, one environment in two cells, by what it loses against native in each, as
for factors.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from tare.analyze.contrasts import against_natives, between_two, contrast_of
from tare.analyze.looks import by_block, common_reach, reach_of
from tare.analyze.papers import all_replications
from tare.analyze.roles import ROLES, deviations_of, emulated_environments, in_role
from tare.records import (
    NATIVE,
    Analysis,
    Cell,
    CurveEstimate,
    Direction,
    Environment,
    Estimate,
    OptionValue,
    Overhead,
    Place,
    Replication,
    Scaled,
    Short,
    Treatment,
    Trial,
    Verdict,
)
from tare.statistics.contrasts import estimate, widened
from tare.statistics.estimate import as_fraction
from tare.statistics.evidence import Reach, interval
from tare.statistics.multiplicity import ERROR
from tare.statistics.variance import variation
from tare.treat.pairing import cell_of

_UNSET = "unset"
"""As an option's value: the campaign must not give it."""
_TOO_BUSY = "the machine was too busy to tell"
NO_BLOCK = "no block has both"
_FEWEST_VALUES = 2
Logs = Mapping[int, float]
"""Block → ln(time per work)."""


@dataclass(frozen=True, slots=True)
class Arm:
    """An environment of a paper in a place."""

    role: str
    place: Place

    @property
    def said(self) -> str:
        return f"{self.role}, {self.place.metric} of {' or '.join(self.place.kinds)} on {self.place.layout}"


@dataclass(frozen=True, slots=True)
class OwnArm:
    """An environment of a result in a cell that has the metric."""

    role: str
    place: Place
    environment: str
    cell: Cell
    verdict: Verdict | None
    """``None``: native, or the metric is a curve."""
    curve: CurveEstimate | None
    """``None``: the metric is a single figure."""
    times: Logs
    losses: Logs
    """The same against native; empty for native."""
    controls: Logs
    """Native against native."""
    deviations: tuple[str, ...]

    @property
    def said(self) -> str:
        return f"{self.environment}, {self.place.metric} of {self.cell.workload} on {self.cell.layout}"

    def said_beside(self, other: "OwnArm") -> str:
        """In as many words as it needs beside another arm."""
        words = [self.environment] if self.environment != other.environment else []
        words += [self.place.metric] if self.place.metric != other.place.metric else []
        if self.cell.workload != other.cell.workload:
            words += [f"{self.cell.workload} on {self.cell.layout}"]
        elif self.cell != other.cell:
            words += [self.cell.layout]
        return ", ".join(words)


class Evidence:
    """An analysis, ready to be asked for arms."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self._replications: dict[Treatment, tuple[Replication, ...]] = {}
        self.trials: dict[Cell, Trial] = {}
        self.environments: dict[str, Environment] = {}
        for outcome in analysis.outcomes:
            trial = outcome.trial
            self.environments.setdefault(trial.environment.name, trial.environment)
            if trial.neighbour is None and trial.series is None:
                self.trials.setdefault(cell_of(outcome), trial)
        self._emulated = emulated_environments(analysis.outcomes)
        self._scaled = tuple(filter(_is_smaller, analysis.scaled))
        self._left_out = tuple(each for each in analysis.scaled if each.here is None)
        self._verdicts: dict[tuple[Cell, str], dict[str, Verdict]] = {}
        for verdict in analysis.verdicts:
            summary = verdict.overhead.summary
            own = self._verdicts.setdefault((summary.cell, summary.metric), {})
            own[summary.environment] = verdict
        self._curves = {
            (each.curve.cell, each.curve.metric, each.curve.environment): each for each in analysis.curves
        }

    def replications(self, treatment: Treatment) -> tuple[Replication, ...]:
        """All runs as a paper treated its own, computed once."""
        if treatment not in self._replications:
            self._replications[treatment] = all_replications(self.analysis, treatment)
        return self._replications[treatment]

    def named(self, role: str) -> tuple[str, ...]:
        """The environments that stand for a role."""
        return tuple(name for name, each in self.environments.items() if in_role(role, each))

    def cells(self, place: Place) -> tuple[Cell, ...]:
        """The cells that are such a place, as the paper has it or as this host could."""
        return tuple(cell for cell, trial in self.trials.items() if self._is_place(place, trial))

    def of(self, arm: Arm) -> tuple[tuple[OwnArm, ...], str]:
        """What stands for it; without any, why."""
        names, cells = self.named(arm.role), self.cells(arm.place)
        if not names:
            return (), self._why_no_environment(arm.role)
        if not cells:
            return (), self._why_no_cell(arm.place)
        own = tuple(
            found for cell in cells for name in names if (found := self._own_arm(arm, cell, name)) is not None
        )
        return own, "" if own else f"{arm.place.metric} has no complete block of {arm.role}"

    def deviations(self, role: str, environment: str, cell: Cell) -> tuple[str, ...]:
        """How this cell differs from the paper's own point."""
        trial = self.trials[cell]
        points = (point.sentence for point in self._scaled if _concerns(point, trial))
        return (*self.own_deviations(role, environment), *points)

    def own_deviations(self, role: str, environment: str) -> tuple[str, ...]:
        """How an environment differs from the paper's, wherever it runs."""
        named = self.environments.get(environment)
        return deviations_of(role, named, self._emulated) if named else ()

    def _own_arm(self, arm: Arm, cell: Cell, name: str) -> OwnArm | None:
        deviations = self.deviations(arm.role, name, cell)
        place = arm.place
        if place.at is not None:
            return self._curve_arm(arm, cell, name, deviations)
        verdicts = self._verdicts.get((cell, place.metric), {})
        if name == NATIVE:
            times = {
                key: value
                for each in verdicts.values()
                for key, value in _native_times(each.overhead).items()
            }
            if not times:
                return None
            return OwnArm(arm.role, place, name, cell, None, None, times, {}, {}, deviations)
        if name not in verdicts:
            return None
        overhead = verdicts[name].overhead
        losses, native = by_block(overhead), _native_times(overhead)
        times = {block: native[block] + loss for block, loss in losses.items()}
        return OwnArm(arm.role, place, name, cell, verdicts[name], None, times, losses, {}, deviations)

    def _curve_arm(self, arm: Arm, cell: Cell, name: str, deviations: tuple[str, ...]) -> OwnArm | None:
        curve = self._curves.get((cell, arm.place.metric, name))
        if curve is None:
            return None
        sign = 1 if curve.curve.direction is Direction.LESS else -1
        points = [point for point in curve.curve.points if _lies_in(curve, point.at, arm.place.at or {})]
        if not points:
            return None
        rows = [
            [
                {
                    block: sign * math.log(value)
                    for block, value in zip(point.blocks, point.values, strict=True)
                }
                for point in points
            ],
            [dict(zip(point.blocks, point.log_ratios, strict=False)) for point in points],
            [dict(zip(point.blocks, point.control_log_ratios, strict=False)) for point in points],
        ]
        times, losses, controls = map(_averaged, rows)
        return OwnArm(arm.role, arm.place, name, cell, None, curve, times, losses, controls, deviations)

    def _is_place(self, place: Place, trial: Trial) -> bool:
        return (
            trial.workload.kind in place.kinds
            and self.is_layout(place.layout, trial)
            and all(_has(trial.workload.options, key, value) for key, value in place.options.items())
        )

    def is_layout(self, layout: str, trial: Trial) -> bool:
        """Whether it is this layout, on as many hosts or on fewer for want of hosts."""
        own = str(trial.layout)
        return own == layout or any(
            layout in point.what.split(", ") and own in point.layouts
            for point in self._scaled
            if point.short_of is Short.HOSTS
        )

    def _why_no_environment(self, role: str) -> str:
        words = {role, *ROLES[role].technologies}
        skipped = next((each for each in self.analysis.skipped if words & {each.environment}), None)
        if skipped is None:
            skipped = next(
                (
                    each
                    for each in self.analysis.skipped
                    if each.environment.startswith(tuple(ROLES[role].technologies))
                ),
                None,
            )
        return f"no {role} in this result" if skipped is None else f"{role}: {skipped.reason}"

    def _why_no_cell(self, place: Place) -> str:
        left = next((each for each in self._left_out if place.layout in each.layouts), None)
        if left is not None:
            return left.sentence
        options = "".join(f" {key} = {value}" for key, value in place.options.items() if value != _UNSET)
        return f"no {' or '.join(place.kinds)}{options} on {place.layout} in this result"


def between(first: OwnArm, second: OwnArm, error: float = ERROR) -> Estimate | None:
    """How much more time the first takes, as a fraction; ``None`` where no block has both."""
    if second.environment == NATIVE and _in_one_place(first, second):
        return _against_native(first, error)
    return _between(first, second, error)


def withheld_of(first: OwnArm, second: OwnArm) -> str:
    """Why a comparison does not count; empty where it does."""
    busy = any(arm.verdict is not None and arm.verdict.withheld for arm in (first, second))
    return _TOO_BUSY if busy else ""


def _in_one_place(first: OwnArm, second: OwnArm) -> bool:
    return (first.cell, first.place.metric, first.place.at) == (
        second.cell,
        second.place.metric,
        second.place.at,
    )


def _against_native(arm: OwnArm, error: float) -> Estimate | None:
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


def _between(first: OwnArm, second: OwnArm, error: float) -> Estimate | None:
    apart = first.environment == second.environment != NATIVE and first.cell != second.cell
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
class Shown:
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


def missing(arm: Arm, why: str) -> Shown:
    """Nothing of an arm."""
    return Shown(environment=arm.role, what=arm.said, estimate=None, why=why)


def loss_of(evidence: Evidence, arm: Arm, alone: str) -> Iterator[Shown]:
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
        yield Shown(
            environment=name,
            what=f"{name}, {arm.place.metric} of {where}",
            estimate=loss.typical,
            why=_TOO_BUSY if loss.withheld else "",
            deviations=evidence.deviations(arm.role, name, cells.shared),
        )
    if not own:
        _, why = evidence.of(arm) if arm.role != NATIVE else ((), "")
        yield missing(arm, why or f"no experiment of {alone} and {arm.place.layout} in this result")


def _is_alone(evidence: Evidence, cell: Cell, layout: str) -> bool:
    trial = evidence.trials.get(cell)
    return trial is not None and evidence.is_layout(layout, trial)


def spread_of(evidence: Evidence, arm: Arm) -> Iterator[Shown]:
    """The coefficient of variation of an environment's runs, from block to block."""
    arms, why = evidence.of(arm)
    for own in arms:
        values = tuple(own.times.values())
        found = variation(values) if len(values) >= _FEWEST_VALUES else None
        yield Shown(
            environment=own.environment,
            what=f"{own.said}, spread",
            estimate=found,
            why="" if found else "one block has no spread",
            deviations=own.deviations,
        )
    if not arms:
        yield missing(arm, why)


def order_of(evidence: Evidence, arm: Arm, value: float | None) -> Iterator[Shown]:
    """The run with this value late in a start over the same early in one."""
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
        yield Shown(
            environment=name,
            what=f"{name}, {arm.place.metric} at {where}, late over early",
            estimate=contrast.late_over_early,
            deviations=evidence.own_deviations(arm.role, name),
        )
    if not own:
        why = "" if names else f"no {arm.role} in this result"
        yield missing(arm, why or f"no order experiment with the value {value:g} in this result")


def timer_of(evidence: Evidence, arm: Arm) -> Iterator[Shown]:
    """CPU time over wall time of an environment's nodes, against native's."""
    cells, names = evidence.cells(arm.place), evidence.named(arm.role)
    own = [
        each
        for each in evidence.analysis.timers
        if each.summary.environment in names and each.summary.cell in cells
    ]
    for each in own:
        name, cell = each.summary.environment, each.summary.cell
        yield Shown(
            environment=name,
            what=f"{name}, CPU time over wall time of {cell.workload} on {cell.layout}",
            estimate=each.difference,
            deviations=evidence.deviations(arm.role, name, cell),
        )
    if not own:
        _, why = evidence.of(arm)
        yield missing(arm, why or "no CPU time is known for it")


def _native_times(overhead: Overhead) -> dict[int, float]:
    summary = overhead.summary
    sign = 1 if summary.direction is Direction.LESS else -1
    return {block.block: sign * fmean(map(math.log, block.native)) for block in summary.blocks}


def _averaged(points: Sequence[Logs]) -> Logs:
    """Per block that all points have, their mean."""
    common = set.intersection(*(set(point) for point in points)) if points else set()
    return {block: fmean(point[block] for point in points) for block in sorted(common)}


def _lies_in(
    curve: CurveEstimate, at: Sequence[float], bounds: Mapping[str, tuple[float | None, float | None]]
) -> bool:
    for dimension, value in zip(curve.curve.dimensions, at, strict=True):
        least, most = bounds.get(dimension.name, (None, None))
        if (least is not None and value < least) or (most is not None and value > most):
            return False
    return True


def _has(options: Mapping[str, OptionValue], key: str, wanted: OptionValue) -> bool:
    if wanted == _UNSET:
        return options.get(key) is None
    value = options.get(key)
    if isinstance(value, str) and isinstance(wanted, str):
        return value.casefold() == wanted.casefold()
    return value == wanted


def _is_smaller(point: Scaled) -> bool:
    """Whether something is measured otherwise: not left out, and no list that merely lost some of its members."""
    if point.here is None or point.short_of is Short.OTHER:
        return False
    return not set(point.here.split(", ")) < set(point.asked.split(", "))


def _concerns(point: Scaled, trial: Trial) -> bool:
    layouts = {str(trial.layout), trial.setting}
    return (not point.workloads or trial.workload.name in point.workloads) and (
        not point.layouts or bool(layouts & set(point.layouts))
    )
