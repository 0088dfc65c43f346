# SPDX-License-Identifier: Apache-2.0
"""Processor time block by block: the nodes' own over their wall time, their helpers', and waits for a processor."""

import math
from collections.abc import Iterable, Iterator, Sequence

from tare.records import NATIVE, Cell, HelperSummary, Outcome, Status, TimerSummary, WaitSummary, Way
from tare.treat.pairing import cell_of

_WAITS = ("steal_s", "throttled_s")
"""Signals of time in which the node did not have a processor, in seconds summed over processors."""

_Arm = tuple[str, int]
_NATIVES: tuple[_Arm, _Arm] = ((NATIVE, 0), (NATIVE, 1))


def _by_environment(outcomes: Sequence[Outcome]) -> Iterator[tuple[Cell, str, list[Outcome]]]:
    """The ``OK`` outcomes of each cell and non-native environment, ordered by both and then by block."""
    groups: dict[tuple[Cell, str], list[Outcome]] = {}
    for outcome in sorted(outcomes, key=lambda each: each.trial.block):
        if outcome.status is Status.OK and outcome.trial.environment.name != NATIVE:
            groups.setdefault((cell_of(outcome), outcome.trial.environment.name), []).append(outcome)
    for key in sorted(groups, key=lambda key: (key[0].workload, key[0].layout, key[1])):
        yield *key, groups[key]


def _known_times(
    times_s: Iterable[tuple[float | None, float | None]],
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The known times, and the known shares, of pairs of a time and the total that contains it."""
    pairs = [(time_s, whole_s) for time_s, whole_s in times_s if time_s is not None]
    return tuple(time_s for time_s, _ in pairs), tuple(
        time_s / whole_s for time_s, whole_s in pairs if whole_s
    )


def helper_summaries(outcomes: Sequence[Outcome]) -> tuple[HelperSummary, ...]:
    """One summary per cell and environment other than native, ordered by both; only ``OK`` outcomes count."""
    return tuple(_of_helpers(*entry) for entry in _by_environment(outcomes))


def _of_helpers(cell: Cell, environment: str, outcomes: Sequence[Outcome]) -> HelperSummary:
    counts = [outcome.helpers for outcome in outcomes if outcome.helpers is not None]
    cpu_s, shares = _known_times((each.helper_cpu_s, each.cpu_s) for each in outcomes)
    return HelperSummary(
        cell=cell, environment=environment, helpers=max(counts, default=None), cpu_s=cpu_s, shares=shares
    )


def wait_summaries(outcomes: Sequence[Outcome]) -> tuple[WaitSummary, ...]:
    """One summary per cell and environment that reports waits, ordered by both; only ``OK`` outcomes count."""
    summaries = (_of_waits(*entry) for entry in _by_environment(outcomes))
    return tuple(
        wait_summary for wait_summary in summaries if wait_summary.vcpu_wait_s or wait_summary.steal_s
    )


def _of_waits(cell: Cell, environment: str, outcomes: Sequence[Outcome]) -> WaitSummary:
    waits_s, wait_shares = _known_times((each.vcpu_wait_s, _processor_time_s(each)) for each in outcomes)
    steals_s, steal_shares = _known_times((each.steal_s, _processor_time_s(each)) for each in outcomes)
    return WaitSummary(
        cell=cell,
        environment=environment,
        vcpu_wait_s=waits_s,
        vcpu_wait_shares=wait_shares,
        steal_s=steals_s,
        steal_shares=steal_shares,
    )


def _processor_time_s(outcome: Outcome) -> float | None:
    """Total time of all processors of the nodes while the command ran, by the host's clock."""
    walls_s: dict[int | None, float] = {}
    for run in outcome.instances:
        walls_s[run.iteration] = max(run.clocks.host_wall_s, walls_s.get(run.iteration, 0.0))
    layout = outcome.trial.layout
    return sum(walls_s.values()) * layout.nodes * layout.processors if walls_s else None


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
