# SPDX-License-Identifier: Apache-2.0
"""Where the time of profiled programs went, arranged for a reader, and as tables for a terminal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.drawing.marks import Look
from tare.drawing.table import ruled_table
from tare.drawing.words import interval_percent, least_level, point_percent, quantity, quantity_interval
from tare.foreign import one_line
from tare.records import Activity, ActivityEstimate, ActivitySplit, Analysis, Cell, Estimate
from tare.report import arrange

TITLE = "Where the time goes"
EXPLANATION = (
    "What the ranks of a profiled program are at between MPI_Init and MPI_Finalize, in the mean over the ranks; figures"
    " are medians over blocks, so that their shares may add up to a little more or less than 100 %"
)
AGAINST = "What is said against native is no more than a hint, as of any metric that is not primary"
NAMES = {
    Activity.INIT: "init",
    Activity.COMPUTE: "compute",
    Activity.COMMUNICATION: "communication",
    Activity.IO: "I/O",
}
WHOLE = "all"
LOOKS = {
    Activity.INIT: Look("square", "var(--control)"),
    Activity.COMPUTE: Look("square", "var(--e0)"),
    Activity.COMMUNICATION: Look("square", "var(--e1)"),
    Activity.IO: Look("square", "var(--e3)"),
}


def splits_by_cell(analysis: Analysis) -> dict[Cell, list[ActivitySplit]]:
    found: dict[Cell, list[ActivitySplit]] = {}
    for split in analysis.activities:
        found.setdefault(split.summary.cell, []).append(split)
    return found


def told_activities(analysis: Analysis) -> tuple[Activity, ...]:
    """Those that took any time anywhere, in their order."""
    seen = {
        activity
        for split in analysis.activities
        for activity, times_s in split.summary.times_s.items()
        if any(times_s)
    }
    return tuple(activity for activity in Activity if activity in seen)


def unseen_said(analysis: Analysis) -> str:
    """Such as "No time at all went into I/O", empty where all took some."""
    told = told_activities(analysis)
    names = [NAMES[activity] for activity in Activity if activity not in told]
    return f"No time at all went into {' and '.join(names)}" if names else ""


def of(split: ActivitySplit, told: Iterable[Activity]) -> list[ActivityEstimate]:
    """The activities to show, in their order."""
    shown = set(told)
    return [one for one in split.activities if one.activity in shown]


def share_said(share: Estimate) -> str:
    return point_percent(share).removeprefix("+")


def activities_described(cells: Mapping[Cell, Sequence[ActivitySplit]], told: Sequence[Activity]) -> str:
    """The picture in words, for those who hear the page."""
    return "; ".join(
        f"{one_line(split.summary.environment)}, {arrange.place(cell)}: "
        + ", ".join(f"{NAMES[one.activity]} {share_said(one.share)}" for one in of(split, told))
        + f", n = {split.whole_s.n}"
        for cell, splits in cells.items()
        for split in splits
    )


def print_activities(analysis: Analysis, console: Console) -> None:
    """Print a table per cell; nothing where nothing was profiled."""
    if not analysis.activities:
        return
    told = told_activities(analysis)
    console.print(Text(f"\n{TITLE}", style="bold"))
    for sentence in filter(None, (EXPLANATION, AGAINST, unseen_said(analysis))):
        console.print(Text(f"{sentence}."))
    for cell, splits in splits_by_cell(analysis).items():
        console.print(Text(f"\n{arrange.place(cell)}", style="bold"))
        console.print(_table(splits, told), *_against_native(splits, told), sep="\n")


def _table(splits: Sequence[ActivitySplit], told: Sequence[Activity]) -> Table:
    level = least_level(split.whole_s for split in splits)
    table = ruled_table()
    table.add_column("", overflow="fold", width=16)
    for title in ("share", f"interval (≥ {level})", "time", "interval"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True, min_width=3)
    for split in splits:
        table.add_row(Text(one_line(split.summary.environment), style="bold"))
        for one in of(split, told):
            shares = (share_said(one.share), interval_percent(one.share))
            table.add_row(f"  {NAMES[one.activity]}", *shares, *_time(one.time_s))
        table.add_row(f"  {WHOLE}", "", "", *_time(split.whole_s))
    return table


def _time(time_s: Estimate) -> tuple[str, str, str]:
    return quantity(time_s.point, "s"), quantity_interval(time_s, "s"), str(time_s.n)


def _against_native(splits: Iterable[ActivitySplit], told: Sequence[Activity]) -> Iterator[Text]:
    for split in splits:
        parts = [
            f"{NAMES[one.activity]} {point_percent(one.overhead)}, interval {interval_percent(one.overhead)}"
            for one in of(split, told)
            if one.overhead
        ]
        if parts:
            name = one_line(split.summary.environment)
            yield Text(f" {name} against native: {'; '.join(parts)}", style="dim")
