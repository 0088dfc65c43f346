# SPDX-License-Identifier: Apache-2.0
"""CPU time of the environments' helpers and waiting times of virtual processors, block by block."""

from collections.abc import Iterable, Iterator, Sequence

from tare.records import NATIVE, Cell, HelperSummary, Outcome, Status, WaitSummary
from tare.treat.pairing import cell_of


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
