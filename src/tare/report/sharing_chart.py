# SPDX-License-Identifier: Apache-2.0
"""Dots with intervals: what company costs an instance, in each environment and natively."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tare.drawing.axis import Axis
from tare.drawing.canvas import Row
from tare.drawing.interval_chart import Frame, Section, interval_chart, interval_row, span, word_label
from tare.drawing.marks import CONTROL, Look
from tare.drawing.words import interval_percent, point_percent
from tare.foreign import one_line
from tare.records import NATIVE, SharingLoss, Word
from tare.report.arrange import SharedMetric, place


def loss_extent(metrics: Iterable[SharedMetric]) -> Iterator[float]:
    """All losses that a chart of ``metrics`` must have room for."""
    for metric in metrics:
        for estimate in (loss.typical for loss in metric.losses):
            yield from (value for value in (estimate.point, estimate.low, estimate.high) if value is not None)


def losses_described(metrics: Iterable[SharedMetric]) -> str:
    """The picture in words, for those who hear the page."""
    return "; ".join(
        f"{one_line(loss.summary.environment)}, {place(metric.cells.shared)}, {one_line(metric.name)}: "
        f"{point_percent(loss.typical)}, interval {interval_percent(loss.typical)}, n = {loss.typical.n}"
        for metric in metrics
        for loss in metric.losses
    )


def sharing_chart(
    metrics: Sequence[SharedMetric], looks: Mapping[str, Look], axis: Axis, margin: float, frame: Frame
) -> dict[str, Any]:
    """Describe the chart in Vega-Lite; native's own loss is shaded behind the others."""
    sections = [
        Section(
            rows=[_row(loss, looks) for loss in metric.losses],
            heading=f"{place(metric.cells.shared)}: {metric.name}",
            band=next(
                (span(one.typical) for one in metric.losses if one.summary.environment == NATIVE), None
            ),
        )
        for metric in metrics
    ]
    return interval_chart(sections, axis, margin, frame)


def _row(loss: SharingLoss, looks: Mapping[str, Look]) -> Row:
    name = loss.summary.environment
    return interval_row(
        name,
        loss.summary.metric,
        loss.typical,
        word_label(loss.said),
        CONTROL if name == NATIVE else looks[name],
        decided=loss.word is not Word.UNDECIDED,
        quiet=name == NATIVE,
    )
