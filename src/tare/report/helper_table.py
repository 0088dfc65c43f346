# SPDX-License-Identifier: Apache-2.0
"""Times beside the trials' own, for a terminal: of the environments' helpers, and waiting for a processor."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.drawing.table import add_name_column, name_cell, name_width, ruled_table
from tare.drawing.words import interval_percent, point_percent, quantity, quantity_interval
from tare.records import Analysis, Cell, Estimate, HelperCost, TimeEstimate, WaitCost
from tare.report import arrange

TITLE = "CPU time of the environment's own helpers on the host"
WAITING_TITLE = "Time in which virtual processors waited for one of the host's"
_HELPERS_SHARE = (
    "The share is of the trial's own CPU time, which counts none of them but those in the node's own group: gVisor's "
    "kernel, a virtual machine's monitor."
)
WAITING_SHARE = (
    "The share is of the time that the nodes' processors had. Host: the threads that are the processors, runnable and "
    "not running, a quota's doing included. Guest: what its kernel calls steal."
)
_FIGURES_WIDTH = 64
"""What all but the names take, with the longest of the usual figures."""

_Row = tuple[str, Sequence[str]]


def print_helpers(analysis: Analysis, console: Console) -> None:
    """Print a table per cell; nothing where no trial tells of helpers."""
    rows: dict[Cell, list[_Row]] = {}
    for cost in arrange.told_helper_costs(analysis):
        rows.setdefault(cost.summary.cell, []).append((cost.summary.environment, _helper_figures(cost)))
    _print(TITLE, _HELPERS_SHARE, rows, console)


def print_waiting(analysis: Analysis, console: Console) -> None:
    """Print a table per cell; nothing where no trial tells of virtual processors."""
    rows: dict[Cell, list[_Row]] = {}
    for cost in analysis.wait_costs:
        rows.setdefault(cost.summary.cell, []).extend(
            (f"{cost.summary.environment} ({who})", _figures(time.time_s, time.share) if time else (said,))
            for who, time, said in waits(cost)
        )
    _print(WAITING_TITLE, WAITING_SHARE, rows, console)


def waits(cost: WaitCost) -> Iterable[tuple[str, TimeEstimate | None, str]]:
    """Who counted, what, and what to say if nothing."""
    return (("host", cost.vcpu_wait, "not known"), ("guest", cost.steal, "not counted"))


def _print(title: str, share: str, rows: dict[Cell, list[_Row]], console: Console) -> None:
    if not rows:
        return
    console.print(Text(f"\n{title}", style="bold"))
    console.print(Text(share))
    for cell, own in rows.items():
        console.print(Text(f"\n{arrange.place(cell)}", style="bold"))
        console.print(_table(own, console.width))


def _table(rows: Sequence[_Row], console_width: int) -> Table:
    width = name_width((name for name, _ in rows), console_width - _FIGURES_WIDTH)
    table = ruled_table()
    add_name_column(table, "environment", width)
    for title in ("per trial", "interval", "share", "interval", "n"):
        table.add_column(title, justify="right", no_wrap=True)
    for name, figures in rows:
        table.add_row(name_cell(name, width), *figures)
    return table


def _helper_figures(cost: HelperCost) -> Sequence[str]:
    if cost.cpu_s is None:
        return (arrange.helpers_said(cost),)
    return _figures(cost.cpu_s, cost.share)


def _figures(time_s: Estimate, share: Estimate | None) -> Sequence[str]:
    shares = (point_percent(share).removeprefix("+"), interval_percent(share)) if share else ("", "")
    return quantity(time_s.point, "s"), quantity_interval(time_s, "s"), *shares, str(time_s.n)
