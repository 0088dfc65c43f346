# SPDX-License-Identifier: Apache-2.0
"""CPU time of the environments' own helpers on the host, for a terminal."""

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.records import Analysis, HelperCost
from tare.report import arrange
from tare.report.words import interval_percent, one_line, point_percent, quantity, quantity_interval

TITLE = "CPU time of the environment's own helpers on the host"


def print_helpers(analysis: Analysis, console: Console) -> None:
    """Print a table per cell; nothing where no trial tells of helpers."""
    costs = arrange.told_helper_costs(analysis)
    if not costs:
        return
    console.print(Text(f"\n{TITLE}", style="bold"))
    console.print(
        Text("The share is of the trial's own CPU time, which counts none of them but gVisor's kernel.")
    )
    for cell in dict.fromkeys(cost.summary.cell for cost in costs):
        console.print(Text(f"\n{arrange.place(cell)}", style="bold"))
        console.print(_table([cost for cost in costs if cost.summary.cell == cell]))


def _table(costs: list[HelperCost]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1))
    table.add_column("environment", overflow="fold", width=16)
    for title in ("per trial", "interval", "share", "interval", "n"):
        table.add_column(title, justify="right", no_wrap=True)
    for cost in costs:
        table.add_row(Text(one_line(cost.summary.environment)), *_figures(cost))
    return table


def _figures(cost: HelperCost) -> tuple[str, ...]:
    time, share = cost.cpu_s, cost.share
    if time is None:
        return (arrange.helpers_said(cost),)
    shares = (point_percent(share).removeprefix("+"), interval_percent(share)) if share else ("", "")
    return quantity(time.point, "s"), quantity_interval(time, "s"), *shares, str(time.n)
