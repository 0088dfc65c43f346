# SPDX-License-Identifier: Apache-2.0
"""What a result has of an environment and a place that a paper names."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from tare.analyze.looks import by_block
from tare.analyze.otherwise import OTHERWISE, UNSET, cell_differs, environment_differs, has_option
from tare.analyze.papers import all_replications
from tare.analyze.roles import ROLES, deviations_of, emulated_environments, in_role
from tare.records import (
    NATIVE,
    Analysis,
    Cell,
    CurveEstimate,
    Direction,
    Environment,
    OptionValue,
    Overhead,
    Replication,
    Treatment,
    Trial,
    Verdict,
    Withheld,
)
from tare.records.published import ClaimPlace, PresetMatrix
from tare.records.scaled import Scaled, Short
from tare.treat.pairing import cell_of

_ONLINE = "processors online"
"""A host's fact, such as "2 (0-1)"."""
_CLASS = "problem_class"
"""The option with the size of NPB's problems."""
_SIZES = frozenset({Short.MEMORY, Short.TIME})
"""What makes problems smaller."""
Logs = Mapping[int, float]
"""Block → ln(time per work)."""


@dataclass(frozen=True, slots=True)
class PaperArm:
    """An environment of a paper in a place."""

    role: str
    place: ClaimPlace

    @property
    def said(self) -> str:
        return f"{self.role}, {self.place.metric} of {' or '.join(self.place.kinds)} on {self.place.layout}"


@dataclass(frozen=True, slots=True)
class MeasuredArm:
    """An environment of a result in a cell that has the metric."""

    role: str
    place: ClaimPlace
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
    withheld: bool = False
    """Whether the machine was too busy for any claim; of native: in what others were compared with it."""

    @property
    def said(self) -> str:
        return f"{self.environment}, {self.place.metric} of {self.cell.workload} on {self.cell.layout}"

    def said_beside(self, other: "MeasuredArm") -> str:
        """In as many words as it needs beside another arm."""
        words = [self.environment] if self.environment != other.environment else []
        words += [self.place.metric] if self.place.metric != other.place.metric else []
        if self.cell.workload != other.cell.workload:
            words += [f"{self.cell.workload} on {self.cell.layout}"]
        elif self.cell != other.cell:
            words += [self.cell.layout]
        return ", ".join(words)


class ViewEvidence:
    """An analysis, ready to be asked for arms."""

    def __init__(self, analysis: Analysis, asked: PresetMatrix | None = None) -> None:
        """``asked``: the paper's own points, with which all is compared; ``None``: the caller knows that all are."""
        self.analysis = analysis
        self._asked = asked
        self._replications: dict[Treatment, tuple[Replication, ...]] = {}
        self.trials: dict[Cell, Trial] = {}
        self._series: dict[Cell, Trial] = {}
        self.environments: dict[str, Environment] = {}
        for outcome in analysis.outcomes:
            trial = outcome.trial
            self.environments.setdefault(trial.environment.name, trial.environment)
            if trial.series is not None:
                cell = Cell(workload=trial.workload.name, layout=str(trial.layout))
                self._series.setdefault(cell, trial)
            elif trial.neighbour is None:
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

    def cells(self, place: ClaimPlace) -> tuple[Cell, ...]:
        """The cells that are such a place, as the paper has it or as this host could."""
        return tuple(cell for cell, trial in self.trials.items() if self._is_place(place, trial))

    def of(self, arm: PaperArm) -> tuple[tuple[MeasuredArm, ...], str]:
        """What stands for it; without any, why."""
        names, cells = self.named(arm.role), self.cells(arm.place)
        if not names:
            return (), self._why_no_environment(arm.role)
        if not cells:
            return (), self._why_no_cell(arm.place)
        own = tuple(
            measured
            for cell in cells
            for name in names
            if (measured := self._own_arm(arm, cell, name)) is not None
        )
        return own, "" if own else f"{arm.place.metric} has no complete block of {arm.role}"

    def deviations(self, arm: PaperArm, environment: str, cell: Cell) -> tuple[str, ...]:
        """How this cell differs from the paper's own point."""
        trial = self.trials[cell]
        points = tuple(point for point in self._scaled if _concerns(point, trial))
        return self._all_deviations(arm, environment, trial, points)

    def runs(self, arm: MeasuredArm) -> Logs:
        """The times of single runs: of native's two in a block the first, as their mean varies less than a run."""
        if arm.environment != NATIVE:
            return arm.times
        verdicts = self._verdicts.get((arm.cell, arm.place.metric), {}).values()
        blocks = (block for each in verdicts for block in each.overhead.summary.blocks)
        return {block.block: math.log(block.native[0]) for block in blocks} or arm.times

    def order_deviations(self, arm: PaperArm, environment: str, cell: Cell) -> tuple[str, ...]:
        """How the cell of an order experiment differs, whose trials are each a whole series."""
        points = tuple(
            point
            for point in self._scaled
            if (not point.workloads or cell.workload in point.workloads)
            and (not point.layouts or cell.layout in point.layouts)
        )
        return self._all_deviations(arm, environment, self._series.get(cell), points)

    def _all_deviations(
        self, arm: PaperArm, environment: str, trial: Trial | None, scaled: tuple[Scaled, ...]
    ) -> tuple[str, ...]:
        """From the preset, by the environment itself, and by what was scaled."""
        named, asked = self.environments.get(environment), self._asked
        own = deviations_of(arm.role, named, self._emulated) if named else ()
        points = (*(point.sentence for point in scaled), *self._crowd(trial, scaled))
        if named is None or trial is None or asked is None:
            return (*own, *points)
        differs = environment_differs(arm.role, named, trial, asked)
        differs += cell_differs(arm.place, trial, asked, is_scaled=bool(points))
        otherwise = (OTHERWISE + ", ".join(differs),) if differs else ()
        return (*otherwise, *own, *points)

    def _crowd(self, trial: Trial | None, scaled: tuple[Scaled, ...]) -> Iterator[str]:
        """That processors are shared, in a campaign that asked for it: a layout's own would not fit this host."""
        if (
            trial is None
            or trial.layout.hosts > 1
            or any(point.short_of is Short.PROCESSORS for point in scaled)
        ):
            return
        host = self.analysis.sessions[0].host if self.analysis.sessions else {}
        online, wanted = host.get(_ONLINE, "").partition(" ")[0], trial.layout.as_native.processors
        if online.isdigit() and wanted > int(online):
            yield f"{trial.layout}: {wanted} processors as {online}"

    def _own_arm(self, arm: PaperArm, cell: Cell, name: str) -> MeasuredArm | None:
        deviations = self.deviations(arm, name, cell)
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
            busy = any(each.set_aside is Withheld.BUSY for each in verdicts.values())
            return MeasuredArm(arm.role, place, name, cell, None, None, times, {}, {}, deviations, busy)
        if name not in verdicts:
            return None
        overhead = verdicts[name].overhead
        losses, native = by_block(overhead), _native_times(overhead)
        times = {block: native[block] + loss for block, loss in losses.items()}
        own, busy = verdicts[name], verdicts[name].set_aside is not None
        return MeasuredArm(arm.role, place, name, cell, own, None, times, losses, {}, deviations, busy)

    def _curve_arm(
        self, arm: PaperArm, cell: Cell, name: str, deviations: tuple[str, ...]
    ) -> MeasuredArm | None:
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
        busy = curve.withheld is not None
        return MeasuredArm(
            arm.role, arm.place, name, cell, None, curve, times, losses, controls, deviations, busy
        )

    def _is_place(self, place: ClaimPlace, trial: Trial) -> bool:
        return (
            trial.workload.kind in place.kinds
            and self.is_layout(place.layout, trial)
            and all(has_option(self._as_asked(trial), key, value) for key, value in place.options.items())
        )

    def _as_asked(self, trial: Trial) -> Mapping[str, OptionValue]:
        """The options of a trial's workload with the class that was asked for, where a smaller one was measured."""
        classes = (
            point.asked
            for point in self._scaled
            if point.workloads
            and point.short_of in _SIZES
            and _CLASS in trial.workload.options
            and _concerns(point, trial)
        )
        asked = next(classes, None)
        return trial.workload.options if asked is None else {**trial.workload.options, _CLASS: asked}

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

    def left_out(self, layout: str, value: str = "") -> str:
        """What left out this layout, or a value in it, as a sentence; empty: nothing did."""
        own = (each for each in self._left_out if layout in each.layouts)
        return next((each.sentence for each in own if not value or value in each.asked.split(", ")), "")

    def _why_no_cell(self, place: ClaimPlace) -> str:
        if left := self.left_out(place.layout):
            return left
        options = "".join(f" {key} = {value}" for key, value in place.options.items() if value != UNSET)
        return f"no {' or '.join(place.kinds)}{options} on {place.layout} in this result"


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
