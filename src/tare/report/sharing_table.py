# SPDX-License-Identifier: Apache-2.0
"""What company costs an instance, for a terminal."""

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.drawing.table import add_name_column, name_cell, name_width, ruled_table
from tare.drawing.words import (
    MARK,
    STYLE,
    counted,
    index,
    index_interval,
    interval_percent,
    least_level,
    point_percent,
)
from tare.foreign import one_line
from tare.records import Analysis
from tare.report import arrange
from tare.report.arrange import SharedMetric

EXPLANATION = (
    "How much more time the same work takes an instance with company than by itself, "
    "in the same environment and block"
)
_FAIRNESS = (
    "Spread: (most - least) / mean of the instances' times per work; Jain's index is 1 when all rates are equal; "
    "noise alone makes some spread. Skew: median and longest start of an instance after the first."
)
_FIGURES_WIDTH = 64
"""What all but the names take in the wider of the tables."""


def print_sharing(analysis: Analysis, console: Console, *, show_all: bool) -> None:
    """Print the losses by primary metrics, with ``show_all`` by all; nothing without a sharing experiment."""
    metrics = arrange.shared_metrics(analysis)
    if not metrics:
        return
    console.print(Text("\nSharing", style="bold"))
    console.print(Text(f"{EXPLANATION}."))
    shown = [metric for metric in metrics if show_all or metric.primary]
    for metric in shown:
        width = name_width((one.summary.environment for one in metric.losses), console.width - _FIGURES_WIDTH)
        console.print(_title(metric), _losses(metric, width), *_beyond_native(metric), sep="\n")
        if metric.several:
            console.print("", _fairness(metric, width), sep="\n")
    if any(metric.several for metric in shown):
        console.print(Text(f"\n{_FAIRNESS}", style="dim"))
    if hidden := len(metrics) - len(shown):
        told = f"sharing by {counted(hidden, 'other metric')} hidden; --all shows every row"
        console.print(Text(f"\n{told}", style="dim"))


def _title(metric: SharedMetric) -> Text:
    cells = metric.cells
    title = Text(f"\n{arrange.place(cells.shared)}", style="bold")
    title.append(f", {one_line(metric.name)}", style="bold")
    title.append(
        f" ({arrange.company_note(cells)}; alone: {cells.alone.layout})",
        style="not bold",
    )
    return title


def _losses(metric: SharedMetric, width: int) -> Table:
    table = _table(width)
    level = least_level(loss.typical for loss in metric.losses)
    table.add_column("loss", justify="right", no_wrap=True, width=8)
    table.add_column(f"interval (≥ {level})", justify="right", no_wrap=True, min_width=18)
    table.add_column("verdict", overflow="fold", width=19)
    table.add_column("n", justify="right", no_wrap=True, min_width=3)
    for loss in metric.losses:
        word = Text(f"{MARK[loss.word]} {loss.said}", style=STYLE[loss.word])
        figures = (point_percent(loss.typical), interval_percent(loss.typical))
        table.add_row(name_cell(loss.summary.environment, width), *figures, word, str(loss.typical.n))
    return table


def _beyond_native(metric: SharedMetric) -> Iterable[Text]:
    for loss in metric.losses:
        if beyond := loss.beyond_native:
            figures = f"{point_percent(beyond)}, interval {interval_percent(beyond)} (n = {beyond.n})"
            name = one_line(loss.summary.environment)
            yield Text(f" {name} beyond native's loss: {figures}", style="dim")


def _fairness(metric: SharedMetric, width: int) -> Table:
    table = _table(width)
    for title in ("spread", "Jain's index", "skew in ms"):
        table.add_column(title, justify="right", no_wrap=True)
    for loss in metric.losses:
        if loss.spread and loss.jain_index:
            table.add_row(
                name_cell(loss.summary.environment, width),
                f"{point_percent(loss.spread).removeprefix('+')} ({interval_percent(loss.spread)})",
                f"{index(loss.jain_index.point)} ({index_interval(loss.jain_index)})",
                arrange.skew_said(loss),
            )
    return table


def _table(width: int) -> Table:
    table = ruled_table()
    add_name_column(table, "environment", width)
    return table
