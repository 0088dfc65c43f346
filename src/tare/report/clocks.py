# SPDX-License-Identifier: Apache-2.0
"""Trials whose nodes had a wrong clock, or told more CPU time than there was; it only counts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tare.drawing.words import counted, interval_percent, point_percent
from tare.foreign import one_line
from tare.records import Cell, ClockQuality, ClockTest, Outcome, Status, TimerAgreement
from tare.treat.pairing import cell_of

TITLE = "Clocks of the nodes"
EXPLANATION = (
    "A trial in a node with a wrong clock counts, but by the host's clock: wall_s is what the host saw, and the "
    "program's own figures, which that clock made, are left out."
)


_ENOUGH_EXCHANGES = 1000
"""On a busy host the two threads seldom run at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockRemark:
    """What is to be said of the clocks of one environment in one cell."""

    environment: str
    cell: Cell
    blocks: tuple[int, ...]
    """Of the trials that it is about; a block may stand twice, with native's two slots."""
    trials: int
    """All that ended well."""
    told: str
    """In words, the count included."""


def clock_faults(outcomes: Sequence[Outcome]) -> tuple[ClockRemark, ...]:
    """Trials that were timed by the host; of the faults, which differ in their figures, the first is told."""
    return _remarks(outcomes, lambda outcome: outcome.clock_fault is not None, _timed_by_host)


def timer_inversions(outcomes: Sequence[Outcome]) -> tuple[ClockRemark, ...]:
    """Trials in which a node told more CPU time than its processors had."""
    return _remarks(outcomes, lambda outcome: bool(outcome.timer_inversions), _inverted)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockTold:
    """What the clocks of an environment's nodes are, in words."""

    environment: str
    told: tuple[str, ...]
    """Each once, however often it was found."""
    alarming: bool
    """Whether one of them went backward."""


def clocks_told(outcomes: Sequence[Outcome]) -> tuple[ClockTold, ...]:
    """By environment, in the order in which they were tested."""
    found: dict[str, list[ClockQuality]] = {}
    for outcome in outcomes:
        found.setdefault(outcome.trial.environment.name, []).extend(outcome.clock_quality)
    return tuple(
        ClockTold(
            environment=name,
            told=tuple(dict.fromkeys(told for quality in own for told in quality_told(quality))),
            alarming=any(map(_is_backward, own)),
        )
        for name, own in found.items()
        if own
    )


def _is_backward(quality: ClockQuality) -> bool:
    steps = any(clock.backward_steps for clock in quality.clocks.values())
    return bool(quality.backward_exchanges or steps)


def quality_told(quality: ClockQuality) -> tuple[str, ...]:
    """What one node's clocks are, how fine they are, and whether they ever went backward."""
    whose = "a clock of its own" if quality.own_clock else "the host's clock"
    source = "source not shown" if quality.source is None else f"source {one_line(quality.source)}"
    raw = quality.clocks.get("CLOCK_MONOTONIC_RAW")
    return (
        f"{whose}, {source}, {_counter_told(quality)}",
        *([f"CLOCK_MONOTONIC_RAW: {_steps_told(raw)}"] if raw else []),
        *(
            f"{one_line(name)} went backward in {clock.backward_steps} of {clock.readings} readings in one thread"
            for name, clock in quality.clocks.items()
            if clock.backward_steps
        ),
        _exchanges_told(quality),
    )


def _counter_told(quality: ClockQuality) -> str:
    invariant = {True: "invariant", False: "not invariant", None: "not known to be invariant"}
    flags = quality.tsc_flags
    listed = "no flags listed" if flags is None else ", ".join(flags) or "none of its flags listed"
    return f"time stamp counter {invariant[quality.invariant_tsc]} ({listed})"


def _steps_told(clock: ClockTest) -> str:
    resolution = "not told" if clock.resolution_ns is None else f"{clock.resolution_ns} ns"
    least = "none seen" if clock.least_step_ns is None else f"{clock.least_step_ns} ns"
    return f"resolution {resolution}, smallest step {least}"


def _exchanges_told(quality: ClockQuality) -> str:
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
    """Environment, cell and words for each that stands apart from native."""
    return tuple(
        (one_line(one.summary.environment), one.summary.cell, _timers_told(one))
        for one in agreements
        if one.disagrees
    )


def _timers_told(one: TimerAgreement) -> str:
    own = f"{point_percent(one.difference)} ({interval_percent(one.difference)}, n = {one.difference.n})"
    return (
        f"CPU time over wall time, as the node tells both, differs from native's by {own}, and native's from itself by "
        f"{interval_percent(one.band)}; steal and throttling are taken off where they are known"
    )


def _remarks(
    outcomes: Sequence[Outcome],
    concerned: Callable[[Outcome], bool],
    told: Callable[[Sequence[Outcome], int], str],
) -> tuple[ClockRemark, ...]:
    found: dict[tuple[str, Cell], list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.status is Status.OK:
            found.setdefault((outcome.trial.environment.name, cell_of(outcome)), []).append(outcome)
    remarks = []
    for (environment, cell), ended in found.items():
        if own := [outcome for outcome in ended if concerned(outcome)]:
            remarks.append(
                ClockRemark(
                    environment=environment,
                    cell=cell,
                    blocks=tuple(sorted(outcome.trial.block for outcome in own)),
                    trials=len(ended),
                    told=one_line(told(own, len(ended))),
                )
            )
    return tuple(remarks)


def _timed_by_host(own: Sequence[Outcome], trials: int) -> str:
    such_as = "such as " if len(own) > 1 else ""
    return (
        f"{len(own)} of {counted(trials, 'trial')} timed by the host, without the program's own figures: "
        f"{such_as}{own[0].clock_fault}"
    )


def _inverted(own: Sequence[Outcome], trials: int) -> str:
    return (
        f"in {len(own)} of {counted(trials, 'trial')} the node told more CPU time than its processors had: "
        f"{own[0].facts.get('CPU time over wall time', 'by how much is not known')}"
    )
