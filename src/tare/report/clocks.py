# SPDX-License-Identifier: Apache-2.0
"""Trials whose nodes had a wrong clock, or told more CPU time than there was; it only counts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tare.records import Cell, Outcome, Status
from tare.report.words import counted, one_line

TITLE = "Clocks of the nodes"
EXPLANATION = (
    "A trial in a node with a wrong clock counts, but by the host's clock: wall_s is what the host saw, and the "
    "program's own figures, which that clock made, are left out."
)


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


def _remarks(
    outcomes: Sequence[Outcome],
    concerned: Callable[[Outcome], bool],
    told: Callable[[Sequence[Outcome], int], str],
) -> tuple[ClockRemark, ...]:
    found: dict[tuple[str, Cell], list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.status is Status.OK:
            cell = Cell(workload=outcome.trial.workload.name, layout=outcome.trial.setting)
            found.setdefault((outcome.trial.environment.name, cell), []).append(outcome)
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
