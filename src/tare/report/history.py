# SPDX-License-Identifier: Apache-2.0
"""A history of results: a line for each overhead and result, the answers to ``--fail-if``, and the JSON."""

from typing import Any

from rich.console import Console
from rich.text import Text

from tare.drawing.words import interval_percent, moment, point_percent
from tare.foreign import one_line
from tare.records import HistorySeries, ResultHistory, Ruling
from tare.report.across_results import IncomparableShape, print_incomparable
from tare.report.shape import (
    ByName,
    CellShape,
    EstimateShape,
    JsonShape,
    MetricShape,
    Versioned,
    key,
    printed,
)
from tare.report.stops import MARK

_STYLE = {Ruling.EXCEEDED: "red", Ruling.KEPT: "green", Ruling.UNDECIDED: "yellow"}


def print_history(history: ResultHistory, console: Console, *, verbose: bool) -> None:
    """Print the series of primary metrics, or with ``verbose`` of all, then the answers."""
    for series in history.series:
        if series.primary or verbose:
            _print_series(series, console)
    for regression in history.regressions:
        asked, answer = one_line(regression.condition.text), one_line(regression.sentence)
        words = f"fail if {asked}: {MARK[regression.ruling]}: {answer}"
        console.print(Text(words, style=_STYLE[regression.ruling]))
    print_incomparable(history.incomparable, console, verbose=verbose)
    for words in history.unreadable:
        console.print(Text(f"left out: {one_line(words)}", style="yellow"))


def _print_series(series: HistorySeries, console: Console) -> None:
    cell = series.cell
    title = f"{series.environment}: overhead on {series.metric} ({cell.workload} on {cell.layout})"
    console.print(Text(one_line(title), style="bold"))
    for point in series.points:
        figures = f"{point_percent(point.overhead):>9}  {interval_percent(point.overhead)}"
        console.print(
            Text(f"  {moment(point.started_utc)}  {figures}  {one_line(point.result)}"), soft_wrap=True
        )


class HistoryPointShape(JsonShape):
    """An overhead in one result."""

    result: str = key("the result's folder")
    started_utc: str = key("when its first session began")
    overhead: EstimateShape = key("the typical overhead as a fraction")


class HistorySeriesShape(MetricShape):
    """One overhead in all results that have it."""

    primary: bool = key("whether it was declared before the start")
    points: list[HistoryPointShape] = key("one for each result, the earliest first")


class RegressionShape(JsonShape):
    """The answer to one condition of `--fail-if` on one overhead."""

    condition: str = key("the condition as written", "condition.text")
    threshold: float = key("its threshold as a fraction, where 0.02 is 2 points", "condition.threshold")
    cell: CellShape = key("the cell")
    environment: str = key("its name in the campaign")
    metric: str = key("the sample's name")
    reference: str = key(
        "the earlier result whose overhead is the median of the earlier ones, of `days` if any"
    )
    days: list[str] = key(
        "the earlier results on different days, the earliest first: of several within twelve hours the last; none of "
        "a busy host, and none without an interval"
    )
    missing_days: int = key("how many more of them it takes; until then the answer is undecided")
    newest: str = key("the newest result")
    ruling: ByName[Ruling] = key("the answer; kept: it is not worse by more than the threshold")
    increase: EstimateShape = key(
        "of the overhead, against the mean of `days` and with room for their differences; while days are missing, "
        "against `reference` alone and without that room"
    )
    sentence: str = key("the answer in words")


class PrintedHistory(Versioned):
    """The object that `tare history DIR --json` prints."""

    results: list[str] = key("the result folders, the earliest first")
    series: list[HistorySeriesShape] = key("one object for each environment, cell and metric")
    regressions: list[RegressionShape] = key("the answers to `--fail-if`; empty without a condition")
    incomparable: list[IncomparableShape] = key("what the newest result cannot be compared on, and why")
    unreadable: list[str] = key("a sentence for each result folder that could not be read")


def history_json(history: ResultHistory) -> dict[str, Any]:
    """Give what ``json.dumps`` takes; a missing or not finite number is ``None``, never 0."""
    return printed(PrintedHistory, history)
