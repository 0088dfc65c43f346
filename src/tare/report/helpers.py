# SPDX-License-Identifier: Apache-2.0
"""Times beside the trials' own: of the environments' helpers, and of waiting for one of the host's processors."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.drawing.artist import Artist
from tare.drawing.table import add_name_column, name_cell, name_width, ruled_table
from tare.drawing.words import interval_percent, point_percent, quantity, quantity_interval
from tare.records import Analysis, Cell, Estimate, HelperCost, TimeEstimate, WaitCost
from tare.report import in_json
from tare.report.arrange import place
from tare.report.page import MISSING, PageSection, section

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


def told_helper_costs(analysis: Analysis) -> tuple[HelperCost, ...]:
    """All of them, or none where no trial tells of helpers."""
    known = any(cost.cpu_s or cost.summary.helpers is not None for cost in analysis.helper_costs)
    return analysis.helper_costs if known else ()


def _missing_said(cost: HelperCost) -> str:
    """In place of a CPU time that is missing: whether there was anything to measure."""
    return "none" if cost.summary.helpers == 0 else "not known"


def json(analysis: Analysis) -> dict[str, Any]:
    """The parts of ``tare show --json`` that are about helpers and waiting, as docs/json.md describes them."""
    return {
        "helper_cost": [_helper_cost(cost) for cost in analysis.helper_costs],
        "waiting": [_wait_cost(cost) for cost in analysis.wait_costs],
    }


def _helper_cost(cost: HelperCost) -> dict[str, Any]:
    return {
        "cell": in_json.cell(cost.summary.cell),
        "environment": cost.summary.environment,
        "helpers": cost.summary.helpers,
        "cpu_s": cost.cpu_s and in_json.estimate(cost.cpu_s, "s"),
        "share": cost.share and in_json.estimate(cost.share),
    }


def _wait_cost(cost: WaitCost) -> dict[str, Any]:
    return {
        "cell": in_json.cell(cost.summary.cell),
        "environment": cost.summary.environment,
        "vcpu_wait_s": cost.vcpu_wait and in_json.estimate(cost.vcpu_wait.time_s, "s"),
        "vcpu_wait_share": cost.vcpu_wait and cost.vcpu_wait.share and in_json.estimate(cost.vcpu_wait.share),
        "steal_s": cost.steal and in_json.estimate(cost.steal.time_s, "s"),
        "steal_share": cost.steal and cost.steal.share and in_json.estimate(cost.steal.share),
    }


def table(analysis: Analysis, console: Console, *, show_all: bool) -> None:  # noqa: ARG001 - as every topic's
    """Print a table per cell; nothing where no trial tells of helpers or of virtual processors."""
    _print_helpers(analysis, console)
    _print_waiting(analysis, console)


def html(analysis: Analysis, artist: Artist) -> Sequence[PageSection]:  # noqa: ARG001 - as every topic's
    """A table of helpers, and one of waiting."""
    return [_helpers_section(told_helper_costs(analysis)), _waiting_section(analysis.wait_costs)]


def _helpers_section(costs: Sequence[HelperCost]) -> PageSection:
    if not costs:
        return MISSING
    return section("helpers", "Helpers", title=TITLE, costs=costs, missing_said=_missing_said)


def _waiting_section(costs: Sequence[WaitCost]) -> PageSection:
    if not costs:
        return MISSING
    return section(
        "waiting", "Waiting", title=WAITING_TITLE, explanation=WAITING_SHARE, costs=costs, waits=waits
    )


def _print_helpers(analysis: Analysis, console: Console) -> None:
    rows: dict[Cell, list[_Row]] = {}
    for cost in told_helper_costs(analysis):
        rows.setdefault(cost.summary.cell, []).append((cost.summary.environment, _helper_figures(cost)))
    _print(TITLE, _HELPERS_SHARE, rows, console)


def _print_waiting(analysis: Analysis, console: Console) -> None:
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
        console.print(Text(f"\n{place(cell)}", style="bold"))
        console.print(_times(own, console.width))


def _times(rows: Sequence[_Row], console_width: int) -> Table:
    width = name_width((name for name, _ in rows), console_width - _FIGURES_WIDTH)
    printed = ruled_table()
    add_name_column(printed, "environment", width)
    for title in ("per trial", "interval", "share", "interval", "n"):
        printed.add_column(title, justify="right", no_wrap=True)
    for name, figures in rows:
        printed.add_row(name_cell(name, width), *figures)
    return printed


def _helper_figures(cost: HelperCost) -> Sequence[str]:
    if cost.cpu_s is None:
        return (_missing_said(cost),)
    return _figures(cost.cpu_s, cost.share)


def _figures(time_s: Estimate, share: Estimate | None) -> Sequence[str]:
    shares = (point_percent(share).removeprefix("+"), interval_percent(share)) if share else ("", "")
    return quantity(time_s.point, "s"), quantity_interval(time_s, "s"), *shares, str(time_s.n)
