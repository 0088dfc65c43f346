# SPDX-License-Identifier: Apache-2.0
"""CPU time as nodes report it over the wall time of their processors, block by block."""

import math
from collections.abc import Sequence

from tare.records import NATIVE, Cell, Outcome, Status, TimerSummary, Way
from tare.treat.pairing import cell_of

_WAITS = ("steal_s", "throttled_s")
"""Signals of time in which the node did not have a processor, in seconds summed over processors."""

_Arm = tuple[str, int]
_NATIVES: tuple[_Arm, _Arm] = ((NATIVE, 0), (NATIVE, 1))


def timer_summaries(outcomes: Sequence[Outcome]) -> tuple[TimerSummary, ...]:
    """One per cell and non-native environment with a complete block, ordered by both; only ``OK`` outcomes count."""
    cells: dict[Cell, dict[_Arm, dict[int, float]]] = {}
    for outcome in outcomes:
        log_rho = _log_rho(outcome) if outcome.status is Status.OK else None
        if log_rho is not None:
            arm = outcome.trial.environment.name, outcome.trial.replicate
            cells.setdefault(cell_of(outcome), {}).setdefault(arm, {})[outcome.trial.block] = log_rho
    summaries = [
        _summary(cell, name, cells[cell])
        for cell in sorted(cells, key=lambda each: (each.workload, each.layout))
        for name, _ in sorted(cells[cell].keys() - set(_NATIVES))
    ]
    return tuple(summary for summary in summaries if summary.log_ratios)


def _summary(cell: Cell, name: str, arms: dict[_Arm, dict[int, float]]) -> TimerSummary:
    first, second, own = (arms.get(arm, {}) for arm in (*_NATIVES, (name, 0)))
    blocks = sorted(first.keys() & second.keys() & own.keys())
    return TimerSummary(
        cell=cell,
        environment=name,
        log_ratios=tuple(own[block] - (first[block] + second[block]) / 2 for block in blocks),
        control_log_ratios=tuple(second[block] - first[block] for block in blocks),
    )


def _log_rho(outcome: Outcome) -> float | None:
    """``None`` when a time is not above 0. Unknown waits are not subtracted.

    Where an instance spans several nodes, the timed command is the launcher, which computes nothing. A resident
    program's wall time contains the turns of all arms.
    """
    by_slices = outcome.turns is not None and outcome.turns.way is Way.SLICES
    if outcome.trial.layout.cooperative or by_slices:
        return None
    processors = outcome.trial.layout.total_processors / outcome.trial.layout.instances
    had_s = processors * sum(run.clocks.wall_s for run in outcome.instances)
    waited_s = sum(signal.value for signal in outcome.signals if signal.name in _WAITS)
    used_s = sum(run.user_s + run.system_s for run in outcome.instances)
    left_s = had_s - waited_s
    return math.log(used_s / left_s) if used_s > 0 and left_s > 0 else None
