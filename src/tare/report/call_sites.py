# SPDX-License-Identifier: Apache-2.0
"""From where profiled programs call MPI, in every output; and one profile for a terminal, with each rank's shares."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from rich.console import Console
from rich.text import Text

from tare.drawing.artist import Artist
from tare.drawing.table import figures_table, ruled_table
from tare.drawing.words import NO_VALUE, counted, quantity, share_percent
from tare.foreign import one_line
from tare.records import Activity, Analysis
from tare.records.profiled import CallPlace, CallSite, ProfiledArm, ProfiledRun
from tare.report.activities import NAMES
from tare.report.arrange import place
from tare.report.page import MISSING, PageSection, section
from tare.report.shape import ArmShape, JsonShape, key

TITLE = "Where MPI is called from"
EXPLANATION = "Time in the calls per rank, and as a share of the time from MPI_Init to MPI_Finalize."
OF_ALL = "Calls of all ranks in all runs."
_ALL_OTHERS = "places beyond the 768 that are kept"
_MOST_RANKS = 64
_MOST_SITES = 10
"""Shown unless all are asked for."""


def shown_sites(sites: Sequence[CallSite], *, show_all: bool = False) -> Sequence[CallSite]:
    """Those that cost most, or all."""
    return sites if show_all else sites[:_MOST_SITES]


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
    _print_rows(sites, lines, known, console)


def _print_rows(
    sites: Sequence[CallSite], lines: Mapping[tuple[str, int], str], known: int, console: Console
) -> None:
    printed = ruled_table()
    printed.add_column("call", no_wrap=True)
    printed.add_column("from", overflow="fold", min_width=20)
    for title in ("calls", "mean", "largest", "share"):
        printed.add_column(title, justify="right", no_wrap=True)
    for site in sites:
        printed.add_row(*_cells(site, lines))
    console.print(printed)
    if known > len(sites):
        console.print(Text(f"{counted(known - len(sites), 'more place')}: --all shows them."))


def _cells(site: CallSite, lines: Mapping[tuple[str, int], str]) -> tuple[str, ...]:
    return (
        one_line(site.place.call or "others"),
        place_said(site.place, lines),
        str(site.count),
        quantity(site.mean_s, "s"),
        quantity(site.largest_s, "s"),
        share_percent(site.share),
    )


def place_said(place: CallPlace, lines: Mapping[tuple[str, int], str]) -> str:
    """Such as ``solve at solve.c:12 in model``: all of it that is known."""
    if place.call is None:
        return _ALL_OTHERS
    if place.module is None or place.offset is None:
        return NO_VALUE
    line = _line(place, lines)
    module = PurePosixPath(place.module).name
    where = f" at {line}" if line is not None else ""
    exactly = module if line is not None else f"{module}+{place.offset:#x}"
    return one_line(f"{place.function}{where} in {exactly}" if place.function else f"{exactly}{where}")


def _line(place: CallPlace, lines: Mapping[tuple[str, int], str]) -> str | None:
    if place.module is None or place.offset is None:
        return None
    return lines.get((place.module, place.offset))


class CallSiteShape(JsonShape):
    """A place that calls MPI, and what its calls took; the object of all places without room has `null`s."""

    call: str | None = key("such as `MPI_Wait`", "place.call")
    module: str | None = key("path of the program or library in the node", "place.module")
    offset: int | None = key(
        "in the addresses of that file, the place to which the call returns", "place.offset"
    )
    function: str | None = key(
        "by the file's table of symbols; `null` if that was stripped", "place.function"
    )
    line: str | None = key(
        "file and line of source, of the 50 that cost most; `null` unless this host has that build with debug data"
    )
    count: int = key("calls in all ranks and runs")
    mean_s: float = key("seconds in these calls, in the mean over ranks and runs")
    largest_s: float = key("seconds in these calls of any rank in any run")
    share: float = key("of the ranks' time from MPI_Init to MPI_Finalize, in the mean over runs")


class ProfiledArmShape(ArmShape):
    """One object per cell and environment, native included, whose trials' profiles are still there."""

    runs: int = key("number of profiles")
    sites: list[CallSiteShape] = key(
        "the place that took longest first", lambda of: [_site_shape(site, of.lines) for site in of.sites]
    )


def _site_shape(site: CallSite, lines: Mapping[tuple[str, int], str]) -> CallSiteShape:
    return CallSiteShape.model_validate(CallSiteShape.taken(site, line=_line(site.place, lines)))


class CallSitesJson(JsonShape):
    call_sites: list[ProfiledArmShape] = key(
        "from where profiled programs called MPI; empty where nothing was profiled, or the profiles are gone"
    )


def table(analysis: Analysis, console: Console, *, show_all: bool) -> None:
    """Print, for each environment that was profiled, which places in its programs cost most, over all its trials."""
    if analysis.call_sites:
        console.print(Text(f"\n{TITLE}", style="bold"))
        console.print(Text(f"{EXPLANATION} {OF_ALL}"))
    for arm in analysis.call_sites:
        console.print(Text(f"\n{_arm_said(arm)}", style="bold"))
        _print_rows(shown_sites(arm.sites, show_all=show_all), arm.lines, len(arm.sites), console)


def _arm_said(arm: ProfiledArm) -> str:
    return f"{one_line(arm.environment)}, {place(arm.cell)}, mean over {counted(arm.runs, 'run')}"


def html(analysis: Analysis, artist: Artist) -> Sequence[PageSection]:  # noqa: ARG001 - as every topic's
    """A table for each environment."""
    if not analysis.call_sites:
        return [MISSING]
    arms = [
        (_arm_said(arm), [_cells(site, arm.lines) for site in shown_sites(arm.sites)], len(arm.sites))
        for arm in analysis.call_sites
    ]
    return [section("call-sites", TITLE, title=TITLE, explanation=f"{EXPLANATION} {OF_ALL}", arms=arms)]
