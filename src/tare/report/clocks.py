# SPDX-License-Identifier: Apache-2.0
"""The clocks of the nodes: wrong ones, their quality, and CPU time over wall time."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from tare.drawing.artist import Artist
from tare.drawing.words import counted, interval_percent, point_percent
from tare.foreign import one_line
from tare.records import Analysis, Cell, ClockQuality, ClockTest, Outcome, TimerAgreement
from tare.report.arrange import place
from tare.report.clock_faults import clock_faults, timer_inversions
from tare.report.page import MISSING, PageSection, section
from tare.report.shape import EstimateShape, JsonShape, SummaryShape, key

TITLE = "Clocks of the nodes"
EXPLANATION = (
    "A trial in a node with a wrong clock counts, but by the host's clock: wall_s is what the host saw, and the "
    "program's own figures, which that clock made, are left out."
)
_ENOUGH_EXCHANGES = 1000
"""On a busy host the two threads seldom run at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentClocks:
    """The clocks of an environment's nodes, in words."""

    environment: str
    said: tuple[str, ...]
    """Each sentence once."""
    alarming: bool
    """Whether one of them went backward."""


def clocks_said(outcomes: Sequence[Outcome]) -> tuple[EnvironmentClocks, ...]:
    """By environment, in the order in which they were tested."""
    by_environment: dict[str, list[ClockQuality]] = {}
    for outcome in outcomes:
        by_environment.setdefault(outcome.trial.environment.name, []).extend(outcome.clock_quality)
    return tuple(
        EnvironmentClocks(
            environment=name,
            said=tuple(dict.fromkeys(said for quality in own for said in quality_said(quality))),
            alarming=any(map(_is_backward, own)),
        )
        for name, own in by_environment.items()
        if own
    )


def _is_backward(quality: ClockQuality) -> bool:
    steps = any(clock.backward_steps for clock in quality.clocks.values())
    return bool(quality.backward_exchanges or steps)


def quality_said(quality: ClockQuality) -> tuple[str, ...]:
    """Source, resolution and backward steps of one node's clocks."""
    whose = "a clock of its own" if quality.own_clock else "the host's clock"
    source = "source not shown" if quality.source is None else f"source {one_line(quality.source)}"
    raw = quality.clocks.get("CLOCK_MONOTONIC_RAW")
    return (
        f"{whose}, {source}, {_counter_said(quality)}",
        *([f"CLOCK_MONOTONIC_RAW: {_steps_said(raw)}"] if raw else []),
        *(
            f"{one_line(name)} went backward in {clock.backward_steps} of {clock.readings} readings in one thread"
            for name, clock in quality.clocks.items()
            if clock.backward_steps
        ),
        _exchanges_said(quality),
    )


def _counter_said(quality: ClockQuality) -> str:
    invariant = {True: "invariant", False: "not invariant", None: "not known to be invariant"}
    flags = quality.tsc_flags
    listed = "no flags listed" if flags is None else ", ".join(flags) or "none of its flags listed"
    return f"time stamp counter {invariant[quality.invariant_tsc]} ({listed})"


def _steps_said(clock: ClockTest) -> str:
    resolution = "not told" if clock.resolution_ns is None else f"{clock.resolution_ns} ns"
    least = "none seen" if clock.least_step_ns is None else f"{clock.least_step_ns} ns"
    return f"resolution {resolution}, smallest step {least}"


def _exchanges_said(quality: ClockQuality) -> str:
    if not quality.exchanges:
        return "not compared between processors: the node has one, or threads cannot be pinned there"
    pairs = counted(quality.pairs, "pair")
    if not quality.backward_exchanges:
        few = quality.exchanges < _ENOUGH_EXCHANGES
        agree = "too few to show that processors agree" if few else "processors agree"
        return f"{agree}: none of {quality.exchanges} readings passed within {pairs} went backward"
    return (
        f"BACKWARD between processors: {quality.backward_exchanges} of {quality.exchanges} readings, by up to "
        f"{quality.worst_backward_ns} ns"
    )


def timers_said(agreements: Sequence[TimerAgreement]) -> tuple[tuple[str, Cell, str], ...]:
    """Environment, cell and words for each that differs from native."""
    return tuple(
        (one_line(each.summary.environment), each.summary.cell, _timers_said(each))
        for each in agreements
        if each.disagrees
    )


def _timers_said(timers: TimerAgreement) -> str:
    own = f"{point_percent(timers.difference)} ({interval_percent(timers.difference)}, n = {timers.difference.n})"
    return (
        f"CPU time over wall time, as the node tells both, differs from native's by {own}, and native's from itself by "
        f"{interval_percent(timers.band)}; steal and throttling are taken off where they are known"
    )


class TimersShape(SummaryShape):
    """One object per cell and environment: CPU time over wall time, as the node reports both."""

    difference: EstimateShape = key("against native's; above 0 is more CPU time")
    band: EstimateShape = key("the same for native against native")
    disagrees: bool = key("true when the interval of the difference lies outside the band")


class ClockTestShape(JsonShape):
    """A clock that one thread read repeatedly."""

    resolution_ns: int | None = key("as the system claims; `null`: it makes no claim")
    least_step_ns: int | None = key("smallest difference between two readings; `null`: all were equal")
    readings: int = key("how many")
    backward_steps: int = key("how many of them were below the one before")


class ClockQualityShape(JsonShape):
    """A test of a node's clocks, once per environment, layout and session."""

    trial: str = key("the trial's identity")
    environment: str = key("the trial's environment")
    node: int = key("its place among the trial's nodes, from 0")
    own_clock: bool = key("whether the node keeps a clock of its own")
    source: str | None = key("its kernel's clock source; `null` if none is shown")
    tsc_flags: list[str] | None = key("what its kernel reports about the time stamp counter; `null`: nothing")
    invariant_tsc: bool | None = key(
        "what its processor reports about the time stamp counter; `null`: nothing"
    )
    clocks: dict[str, ClockTestShape] = key("name, such as `CLOCK_MONOTONIC` \N{RIGHTWARDS ARROW} its test")
    pairs: int = key("how many pairs of processors passed readings to each other")
    exchanges: int = key("how many readings they passed; 0: they could not")
    backward_exchanges: int = key("how many of these were below the reading that was passed on")
    worst_backward_ns: int = key("by how many nanoseconds at most")


def _qualities(outcome: Outcome) -> Iterator[dict[str, Any]]:
    trial = outcome.trial
    for quality in outcome.clock_quality:
        yield ClockQualityShape.taken(quality, trial=trial.identity, environment=trial.environment.name)


class ClocksJson(JsonShape):
    cpu_over_wall: list[TimersShape] = key("whether CPU time over wall time agrees with native", "timers")
    clock_tests: list[ClockQualityShape] = key(
        "what the clocks of nodes are, tested once per environment, layout and session",
        lambda analysis: [quality for outcome in analysis.outcomes for quality in _qualities(outcome)],
    )


def remarks(analysis: Analysis) -> Iterable[Text]:
    """The lines at the end of a terminal's tables."""
    faults = clock_faults(analysis.outcomes)
    if faults:
        yield Text(EXPLANATION)
    for remark in (*faults, *timer_inversions(analysis.outcomes)):
        yield Text(f"{one_line(remark.environment)} ({place(remark.cell)}): {remark.said}", style="red")
    for environment, cell, words in timers_said(analysis.timers):
        yield Text(f"{environment} ({place(cell)}): {words}")
    for clocks in clocks_said(analysis.outcomes):
        if clocks.alarming:
            yield Text(f"{one_line(clocks.environment)}: {'; '.join(clocks.said)}", style="red")


def html(analysis: Analysis, artist: Artist) -> Sequence[PageSection]:  # noqa: ARG001 - as every topic's
    """One section: wrong clocks, and the tests of each environment's clocks."""
    shown = {
        "faults": clock_faults(analysis.outcomes),
        "inversions": timer_inversions(analysis.outcomes),
        "timers": timers_said(analysis.timers),
        "clocks": clocks_said(analysis.outcomes),
    }
    if not any(shown.values()):
        return [MISSING]
    return [section("clocks", "Clocks", title=TITLE, explanation=EXPLANATION, **shown)]
