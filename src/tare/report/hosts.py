# SPDX-License-Identifier: Apache-2.0
"""The hosts of a campaign's list beside each other: a slow one is named."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from tare.drawing.artist import Artist
from tare.drawing.words import interval_percent, point_percent
from tare.foreign import one_line
from tare.records import DIFFERENT_PATHS, Analysis, HostSpeed, Outcome
from tare.report.page import MISSING, PageSection, section
from tare.report.shape import EstimateShape, JsonShape, key

TITLE = "The hosts beside each other"
EXPLANATION = (
    "Before each native trial all its hosts do the same work on all their processors at once: 320 MiB hashed by each. "
    "A slow host slows native and every environment alike, as all arms of a block are on the same hosts; the intervals "
    "hold for all hosts together."
)


class HostSpeedShape(JsonShape):
    """One object per host of the campaign's list that had native trials, the slowest first."""

    host: str = key("the host's name in the campaign")
    slower: EstimateShape = key(
        "how much more time it takes for the same work than the median of the other hosts, as a fraction"
    )
    is_slow: bool = key("whether it is certainly slower by more than 5 %")


class HostsJson(JsonShape):
    host_speeds: list[HostSpeedShape] = key(
        "how fast the campaign's hosts are; empty where it lists fewer than two", "host_speeds"
    )


def uneven_paths_said(outcomes: Iterable[Outcome]) -> str:
    """Such as "MPI's messages took another way between n2-n3: TCP over ..."; empty if all pairs of hosts are alike."""
    seen = dict.fromkeys(
        outcome.facts[DIFFERENT_PATHS] for outcome in outcomes if DIFFERENT_PATHS in outcome.facts
    )
    if not seen:
        return ""
    return (
        f"MPI's messages between some hosts went another way than between most: {one_line(' | '.join(seen))}"
    )


def slow_hosts_said(speeds: Sequence[HostSpeed]) -> str:
    """Such as "slow host: node3 takes 48-52 % longer for the work that every host does"; empty if none is slow."""
    slow = [
        f"{one_line(each.host)} takes {interval_percent(each.slower)} longer"
        for each in speeds
        if each.is_slow
    ]
    many = "s" if len(slow) > 1 else ""
    return f"slow host{many}: {', '.join(slow)} for the work that every host does" if slow else ""


def table(analysis: Analysis, console: Console, *, show_all: bool) -> None:  # noqa: ARG001 - as every topic's
    """Print a line for each host; nothing without a list of hosts."""
    if not analysis.host_speeds:
        return
    console.print(Text(TITLE, style="bold"))
    console.print(Text(EXPLANATION))
    for each in analysis.host_speeds:
        console.print(Text(_line(each)), soft_wrap=True)


def _line(speed: HostSpeed) -> str:
    mark = ", slow" if speed.is_slow else ""
    figures = f"{point_percent(speed.slower)} {interval_percent(speed.slower)}"
    return f"{one_line(speed.host)}: {figures} (n = {speed.slower.n}{mark})"


def html(analysis: Analysis, artist: Artist) -> Sequence[PageSection]:  # noqa: ARG001 - as every topic's
    """A table of the hosts."""
    if not analysis.host_speeds:
        return [MISSING]
    return [
        section(
            "hosts",
            "Hosts",
            title=TITLE,
            explanation=EXPLANATION,
            speeds=analysis.host_speeds,
            said=slow_hosts_said(analysis.host_speeds),
        )
    ]
