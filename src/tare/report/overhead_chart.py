# SPDX-License-Identifier: Apache-2.0
"""Dots with intervals: the overhead of each environment, metric by metric, over what counts as no difference."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tare.analyze.qualification import word_said
from tare.drawing.axis import Axis
from tare.drawing.canvas import Row
from tare.drawing.interval_chart import Frame, Section, interval_chart, interval_row, span, word_label
from tare.drawing.marks import CONTROL, MarkStyle
from tare.records import Estimate, Overhead, Word
from tare.report.arrange import MetricSection


@dataclass(frozen=True, slots=True)
class HeadedMetric:
    """A metric and the heading above its rows; nothing is drawn for an empty one."""

    metric: MetricSection
    heading: str = ""


def extent(metrics: Iterable[MetricSection]) -> Iterator[float]:
    """All overheads that a chart of ``metrics`` must have room for."""
    for metric in metrics:
        estimates = [verdict.shown for verdict in metric.verdicts]
        estimates.append(metric.reference.noise_floor)
        for estimate in estimates:
            yield from (value for value in (estimate.point, estimate.low, estimate.high) if value is not None)


def overhead_chart(
    groups: Sequence[HeadedMetric], looks: Mapping[str, MarkStyle], axis: Axis, margin: float, frame: Frame
) -> dict[str, Any]:
    """Describe the chart in Vega-Lite; the axis is of fractions, the margin one of them.

    Shaded is what native against native leaves open.
    """
    sections = [
        Section(
            rows=tuple(_rows(group.metric, looks)),
            heading=group.heading,
            band=span(group.metric.reference.noise_floor),
        )
        for group in groups
    ]
    return interval_chart(sections, axis, margin, frame)


def answer_chart(
    groups: Sequence[HeadedMetric], looks: Mapping[str, MarkStyle], axis: Axis, margin: float, frame: Frame
) -> dict[str, Any]:
    """Describe the same for all primary metrics together; shaded is the margin, the noise has rows of its own."""
    sections = [
        Section(rows=tuple(_rows(group.metric, looks)), heading=group.heading, band=(-margin, margin))
        for group in groups
    ]
    return interval_chart(sections, axis, margin, frame)


def _rows(metric: MetricSection, looks: Mapping[str, MarkStyle]) -> Iterator[Row]:
    for verdict in metric.verdicts:
        look = looks[verdict.overhead.summary.environment]
        decided = verdict.word is not Word.UNDECIDED
        yield _row(verdict.overhead, verdict.shown, word_label(word_said(verdict)), look, decided=decided)
    if metric.control:
        yield _row(metric.control, metric.control.typical, "noise floor", CONTROL, decided=False)


def _row(overhead: Overhead, shown: Estimate, word: str, look: MarkStyle, *, decided: bool) -> Row:
    summary, quiet = overhead.summary, look is CONTROL
    return interval_row(summary.environment, summary.metric, shown, word, look, decided=decided, quiet=quiet)
