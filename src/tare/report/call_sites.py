# SPDX-License-Identifier: Apache-2.0
"""A profile for a terminal: the shares of each rank, and which places in the program its calls come from."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from rich.console import Console
from rich.text import Text

from tare.drawing.table import figures_table, ruled_table
from tare.drawing.words import NO_VALUE, counted, quantity, share_percent
from tare.foreign import one_line
from tare.records import Activity
from tare.records.profiled import CallPlace, CallSite, ProfiledRun
from tare.report.activities import NAMES

TITLE = "Where MPI is called from"
EXPLANATION = "Time in the calls per rank, and as a share of the time from MPI_Init to MPI_Finalize."
_ALL_OTHERS = "places beyond the 768 that are kept"
_MOST_RANKS = 64


def print_ranks(profiled: ProfiledRun, console: Console) -> None:
    """Print the times of each rank, at most so many as fit a screen or two."""
    ranks = counted(len(profiled.ranks), "rank")
    console.print(Text(f"{one_line(profiled.program)}, {ranks}, {one_line(profiled.library)}", style="bold"))
    if profiled.partial:
        missing = f", and nothing is known of {counted(profiled.missing, 'rank')}" if profiled.missing else ""
        console.print(Text(f"The run did not come to its end{missing}."))
    shown = profiled.ranks[:_MOST_RANKS]
    rows = [
        (f"rank {rank.rank}", *(quantity(rank.times_s[activity], "s") for activity in Activity))
        for rank in shown
    ]
    console.print(figures_table(["", *(NAMES[activity] for activity in Activity)], rows))
    if len(profiled.ranks) > len(shown):
        console.print(Text(f"{len(profiled.ranks) - len(shown)} more ranks are in the file."))
    console.print(Text(f"\n{TITLE}", style="bold"))


def print_sites(
    sites: Sequence[CallSite], lines: Mapping[tuple[str, int], str], known: int, console: Console
) -> None:
    """Print them in their order; ``lines`` has the lines of source that are known, ``known`` counts all sites."""
    if not sites:
        console.print(
            Text("The profile does not say: it is of a program that calls nothing, or of an older profiler.")
        )
        return
    console.print(Text(EXPLANATION))
    table = ruled_table()
    table.add_column("call", no_wrap=True)
    table.add_column("from", overflow="fold", min_width=20)
    for title in ("calls", "mean", "largest", "share"):
        table.add_column(title, justify="right", no_wrap=True)
    for site in sites:
        table.add_row(
            one_line(site.place.call or "others"),
            place_said(site.place, lines),
            str(site.count),
            quantity(site.mean_s, "s"),
            quantity(site.largest_s, "s"),
            share_percent(site.share),
        )
    console.print(table)
    if known > len(sites):
        console.print(Text(f"{counted(known - len(sites), 'more place')}: --all shows them."))


def place_said(place: CallPlace, lines: Mapping[tuple[str, int], str]) -> str:
    """Such as ``solve at solve.c:12 in model``: all of it that is known."""
    if place.call is None:
        return _ALL_OTHERS
    if place.module is None or place.offset is None:
        return NO_VALUE
    line = lines.get((place.module, place.offset))
    module = PurePosixPath(place.module).name
    where = f" at {line}" if line is not None else ""
    exactly = module if line is not None else f"{module}+{place.offset:#x}"
    return one_line(f"{place.function}{where} in {exactly}" if place.function else f"{exactly}{where}")
