# SPDX-License-Identifier: Apache-2.0
"""Times beside the trials' own: of the environments' helpers, and of waiting for one of the host's processors."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.drawing.artist import Artist
from tare.drawing.table import add_name_column, name_cell, name_width, ruled_table
from tare.drawing.words import interval_percent, point_percent, quantity, quantity_interval
from tare.records import Analysis, Cell, Estimate, HelperCost, TimeEstimate, WaitCost
from tare.report.arrange import place
from tare.report.page import MISSING, PageSection, section
from tare.report.shape import EstimateShape, JsonShape, Seconds, SummaryShape, key

TITLE = "CPU time of the environment's own helpers on the host"
WAITING_TITLE = "Time that virtual processors waited for a processor of the host"
_HELPERS_SHARE = (
    "The share is relative to the trial's own CPU time, which includes only those helpers that run in the node's own "
    "group, such as gVisor's kernel or a virtual machine's monitor."
)
WAITING_SHARE = (
    "The share is relative to the time that the nodes' processors had. Host: the virtual processors' threads were "
    "runnable but did not run, also because of a quota. Guest: steal time, as its kernel counts it."
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


class HelperCostShape(SummaryShape):
    """One object per cell and environment other than native.

    The threads of a virtual machine's monitor that are the machine's processors do not count as a helper's time.
    """

    helpers: int | None = key(
        "how many processes served the nodes from outside; 0 means that the environment has none, `null` that it is "
        "not known",
        "summary.helpers",
    )
    cpu_s: Seconds | None = key(
        "median over blocks of their CPU time per trial; `null` where there are none or it is not known"
    )
    share: EstimateShape | None = key(
        "median over blocks of that time as a fraction of the trial's own CPU time, in which it is not counted except "
        "for gVisor's kernel and a virtual machine's monitor, which are in the node's own group"
    )


class WaitCostShape(SummaryShape):
    """One object per cell and environment whose nodes are virtual machines.

    Left out where the host cannot distinguish their processors and no guest counts steal.
    """

    vcpu_wait_s: Seconds | None = key(
        "median over blocks of the time per trial in which the threads that are the nodes' processors were runnable "
        "and did not run, all together, as the host counts it; `null` where it is not known",
        lambda of: of.vcpu_wait and of.vcpu_wait.time_s,
    )
    vcpu_wait_share: EstimateShape | None = key(
        "median over blocks of that time as a fraction of the time that the nodes' processors had",
        lambda of: of.vcpu_wait and of.vcpu_wait.share,
    )
    steal_s: Seconds | None = key(
        "the same as `vcpu_wait_s`, as the guests' kernels count it; `null` if one of them never counted any",
        lambda of: of.steal and of.steal.time_s,
    )
    steal_share: EstimateShape | None = key(
        "the same as `vcpu_wait_share`, as the guests' kernels count it",
        lambda of: of.steal and of.steal.share,
    )


class HelpersJson(JsonShape):
    helper_cost: list[HelperCostShape] = key("CPU time of the environments' own helpers", "helper_costs")
    waiting: list[WaitCostShape] = key(
        "how long virtual processors waited for a processor of the host; empty without virtual machines",
        "wait_costs",
    )


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
