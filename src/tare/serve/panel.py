# SPDX-License-Identifier: Apache-2.0
"""The samples behind a point: block by block, each arm described, and one trial with all of its samples."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tare.drawing.axis import Axis, value_axis
from tare.drawing.marks import MarkStyle
from tare.drawing.words import prefixed, quantity
from tare.foreign import one_line
from tare.records import NATIVE, Outcome, Sample, Verdict
from tare.report import arrange
from tare.serve.arrays import ArmSamples
from tare.serve.book import Book
from tare.serve.chart import block_said
from tare.serve.choice import ViewChoice

BLOCKS = 60
"""Blocks on one page, in the picture and in the table."""
SAMPLES = 100
"""Samples of a trial on one page."""
HEIGHT_PX = 150.0
_EDGE_PX = 10.0
_LEFT = 9.0
"""Per cent of the width, for the labels of the values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockRow:
    """One block; ``x`` is in per cent of the picture's width, each ``y`` in its px."""

    block: int
    native: tuple[str, str]
    environment: str
    difference: str
    trials: tuple[str, str, str]
    """Of both natives and the environment; empty where there is none."""
    x: float
    native_y: tuple[float, float]
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplesPanel:
    """What is shown of one point."""

    verdict: Verdict
    place: str
    look: MarkStyle
    arms: tuple[ArmSamples, ...] | None
    """``None``: the samples are still being read."""
    rows: tuple[BlockRow, ...]
    ticks: tuple[tuple[float, str], ...]
    unit: str
    blocks: int
    page: int
    pages: int
    joined: bool


def panel(book: Book, choice: ViewChoice) -> SamplesPanel | None:
    """The point that was chosen; ``None`` if there is none, or no longer."""
    verdict = book.points.get(choice.point)
    if verdict is None:
        return None
    summary = verdict.overhead.summary
    pairs = [
        (value, math.expm1(ratio))
        for value, ratio in zip(summary.blocks, summary.log_ratios, strict=True)
        if choice.block in {None, value.block}
    ]
    pages = max(1, math.ceil(len(pairs) / BLOCKS))
    page = min(choice.rows, pages)
    shown = pairs[(page - 1) * BLOCKS : page * BLOCKS]
    values = [number for value, _ in shown for number in (*value.native, value.environment)]
    factor, unit = prefixed(max(values, key=abs), one_line(summary.unit)) if values else (1.0, summary.unit)
    axis = value_axis([number / factor for number in values] or [1.0])

    def of_arm(block: int, environment: str, replicate: int) -> str:
        return book.beside.get((*_cell(verdict), block, environment, replicate), "")

    rows = tuple(
        BlockRow(
            block=value.block,
            native=(quantity(value.native[0], summary.unit), quantity(value.native[1], summary.unit)),
            environment=quantity(value.environment, summary.unit),
            difference=block_said(overhead),
            trials=(
                of_arm(value.block, NATIVE, 0),
                of_arm(value.block, NATIVE, 1),
                of_arm(value.block, summary.environment, 0),
            ),
            x=round(_LEFT + (100 - _LEFT) * (number + 0.5) / len(shown), 2),
            native_y=(_y(axis, value.native[0] / factor), _y(axis, value.native[1] / factor)),
            y=_y(axis, value.environment / factor),
        )
        for number, (value, overhead) in enumerate(shown)
    )
    return SamplesPanel(
        verdict=verdict,
        place=arrange.place(summary.cell),
        look=book.looks[summary.environment],
        arms=None if book.kept else book.arrays.of_point(summary, choice.block),
        rows=rows,
        ticks=tuple((_y(axis, tick), label) for tick, label in zip(axis.ticks, axis.labels, strict=True)),
        unit=unit,
        blocks=len(pairs),
        page=page,
        pages=pages,
        joined=book.joined,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialPage:
    """One trial, with a page of its samples."""

    outcome: Outcome
    samples: Sequence[Sample]
    first: int
    every: int
    page: int
    pages: int


def trial_page(book: Book, choice: ViewChoice) -> TrialPage | None:
    """The chosen trial; ``None`` if the result has no such trial."""
    outcome = book.trials.get(choice.trial)
    if outcome is None:
        return None
    pages = max(1, math.ceil(len(outcome.samples) / SAMPLES))
    page = min(choice.rows, pages)
    first = (page - 1) * SAMPLES
    return TrialPage(
        outcome=outcome,
        samples=outcome.samples[first : first + SAMPLES],
        first=first,
        every=len(outcome.samples),
        page=page,
        pages=pages,
    )


def _cell(verdict: Verdict) -> tuple[str, str]:
    cell = verdict.overhead.summary.cell
    return cell.workload, cell.layout


def _y(axis: Axis, value: float) -> float:
    """From the picture's top."""
    return round(HEIGHT_PX - _EDGE_PX - (HEIGHT_PX - 2 * _EDGE_PX) * axis.position(value), 1)
