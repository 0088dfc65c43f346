# SPDX-License-Identifier: Apache-2.0
"""Measurements of other tools as tables for other programs."""

from tare.drawing.words import interval_percent, point_percent
from tare.records import ImportedComparison, ImportedDifference
from tare.report.exports import Row, TextTable
from tare.report.imported_sentence import difference_said


def difference_rows(comparison: ImportedComparison) -> list[Row]:
    """One row for each arm, subject and metric; changes are fractions, empty where there is no interval."""
    return [
        {
            "reference": each.reference,
            "arm": each.arm,
            "subject": each.subject,
            "metric": each.metric,
            "unit": each.unit,
            "direction": each.direction.value,
            "before": each.before.point,
            "after": each.after.point,
            "change": each.change.point,
            "low": each.change.low,
            "high": each.change.high,
            "level": each.change.level,
            "n_before": each.before.n,
            "n_after": each.after.n,
            "verdict": each.word.value,
            "lacks": " ".join(comparison.lacks),
        }
        for each in comparison.differences
    ]


def value_rows(comparison: ImportedComparison) -> list[Row]:
    """One row for each value."""
    return [
        {
            "arm": series.arm,
            "subject": series.subject,
            "metric": series.metric,
            "number": number,
            "value": value,
            "unit": series.unit,
            "direction": series.direction.value,
        }
        for series in (figure.series for figure in comparison.figures)
        for number, value in enumerate(series.values)
    ]


def difference_table(comparison: ImportedComparison) -> TextTable:
    """One row for each arm, subject and metric."""
    columns = ("arm", "subject", "metric", "more time", "interval", "n", "verdict")
    return TextTable(columns, tuple(_cells(each) for each in comparison.differences))


def _cells(difference: ImportedDifference) -> tuple[str, ...]:
    return (
        difference.arm,
        difference.subject,
        difference.metric,
        point_percent(difference.change),
        "none" if difference.change.low is None else interval_percent(difference.change),
        f"{difference.before.n}, {difference.after.n}",
        difference_said(difference),
    )
