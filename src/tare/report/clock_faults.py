# SPDX-License-Identifier: Apache-2.0
"""Trials whose nodes had a wrong clock, or reported more CPU time than there was; it only counts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tare.drawing.words import counted
from tare.foreign import one_line
from tare.records import Cell, Outcome, Status
from tare.report.shape import ArmShape, JsonShape, TrialShape, key
from tare.treat.pairing import cell_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockRemark:
    """What a reader must know of the clocks of one environment in one cell."""

    environment: str
    cell: Cell
    blocks: tuple[int, ...]
    """Those of the affected trials; native's two slots can name a block twice."""
    trials: int
    """All that ended well."""
    said: str
    """In words, with the count."""


def clock_faults(outcomes: Sequence[Outcome]) -> tuple[ClockRemark, ...]:
    """Trials that the host timed, with the first of their faults, which differ in their figures only."""
    return _remarks(outcomes, lambda outcome: outcome.clock_fault is not None, _timed_by_host)


def timer_inversions(outcomes: Sequence[Outcome]) -> tuple[ClockRemark, ...]:
    """Trials in which a node reported more CPU time than its processors had."""
    return _remarks(outcomes, lambda outcome: bool(outcome.timer_inversions), _inverted)


def _remarks(
    outcomes: Sequence[Outcome],
    concerned: Callable[[Outcome], bool],
    say: Callable[[Sequence[Outcome], int], str],
) -> tuple[ClockRemark, ...]:
    by_arm: dict[tuple[str, Cell], list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.status is Status.OK:
            by_arm.setdefault((outcome.trial.environment.name, cell_of(outcome)), []).append(outcome)
    remarks = []
    for (environment, cell), ended in by_arm.items():
        if own := [outcome for outcome in ended if concerned(outcome)]:
            remarks.append(
                ClockRemark(
                    environment=environment,
                    cell=cell,
                    blocks=tuple(sorted(outcome.trial.block for outcome in own)),
                    trials=len(ended),
                    said=one_line(say(own, len(ended))),
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


class ClockFaultShape(TrialShape):
    """One object per trial whose nodes had a wrong clock; [method.md](method.md) gives the rule.

    Its `wall_s` is the host's, and it has no other metric except `cpu_s`.
    """

    status: Status = key("how it ended; ok unless something else went wrong too")
    fault: str = key("the finding, in words", "clock_fault")


class InversionsShape(ArmShape):
    """One object per cell and environment whose nodes reported more CPU time than there was."""

    inverted: int = key(
        "the number of trials in which a node reported more CPU time than its processors had in their wall time",
        lambda of: len(of.blocks),
    )
    of: int = key("the number of trials that ended well", "trials")


class ClockFaultsJson(JsonShape):
    clock_faults: list[ClockFaultShape] = key(
        "trials in nodes with a wrong clock, timed by the host",
        lambda analysis: [outcome for outcome in analysis.outcomes if outcome.clock_fault],
    )
    timer_inversions: list[InversionsShape] = key(
        "environments whose nodes reported more CPU time than there was",
        lambda analysis: timer_inversions(analysis.outcomes),
    )
