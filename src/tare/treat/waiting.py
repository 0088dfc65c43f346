# SPDX-License-Identifier: Apache-2.0
"""How long the processors of virtual machines waited in each block for one of the host's."""

from collections.abc import Sequence

from tare.records import Cell, Outcome, WaitSummary
from tare.treat.beside import by_environment, known_times


def wait_summaries(outcomes: Sequence[Outcome]) -> tuple[WaitSummary, ...]:
    """One summary per cell and environment that tells of any, ordered by both; only ``OK`` outcomes count."""
    found = (_summary(*one) for one in by_environment(outcomes))
    return tuple(one for one in found if one.vcpu_wait_s or one.steal_s)


def _summary(cell: Cell, environment: str, outcomes: Sequence[Outcome]) -> WaitSummary:
    waits_s, wait_shares = known_times((each.vcpu_wait_s, _processor_time_s(each)) for each in outcomes)
    steals_s, steal_shares = known_times((each.steal_s, _processor_time_s(each)) for each in outcomes)
    return WaitSummary(
        cell=cell,
        environment=environment,
        vcpu_wait_s=waits_s,
        vcpu_wait_shares=wait_shares,
        steal_s=steals_s,
        steal_shares=steal_shares,
    )


def _processor_time_s(outcome: Outcome) -> float | None:
    """The time that all processors of the nodes had while the command ran, by the host's clock."""
    walls_s: dict[int | None, float] = {}
    for run in outcome.instances:
        walls_s[run.iteration] = max(run.clocks.host_wall_s, walls_s.get(run.iteration, 0.0))
    layout = outcome.trial.layout
    return sum(walls_s.values()) * layout.nodes * layout.processors if walls_s else None
