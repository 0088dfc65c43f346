# SPDX-License-Identifier: Apache-2.0
"""Native times of each workload by the hosts that had a part in them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from tare.records import NATIVE, Cell, Outcome, Sample, Status
from tare.records.diagnostics import HostTime, HostTimes
from tare.treat.aggregate import log_time_per_work, usable
from tare.treat.pairing import blocks_left_out, cell_of

_Place = tuple[Cell, int, tuple[str, ...]]


def host_times(
    outcomes: Sequence[Outcome], primary_metrics: Mapping[str, Sequence[str]]
) -> tuple[HostTimes, ...]:
    """One record for each primary metric of a workload whose nodes are on hosts of a list.

    Both natives of a block are joined, and so are instances on the same hosts.
    """
    left_out = blocks_left_out(outcomes)
    values: dict[tuple[str, str], dict[_Place, list[float]]] = {}
    for outcome in outcomes:
        cell = cell_of(outcome)
        if not _counts(outcome) or (cell, outcome.trial.block) in left_out:
            continue
        for metric in primary_metrics.get(cell.workload, ()):
            own = values.setdefault((cell.workload, metric), {})
            for hosts, log_time in _times(outcome, metric):
                own.setdefault((cell, outcome.trial.block, hosts), []).append(log_time)
    return tuple(
        HostTimes(
            workload=workload,
            metric=metric,
            times=tuple(
                HostTime(cell=cell, block=block, hosts=hosts, log_time=fmean(times))
                for (cell, block, hosts), times in own.items()
            ),
        )
        for (workload, metric), own in values.items()
        if own
    )


def _counts(outcome: Outcome) -> bool:
    return (
        bool(outcome.trial.hosts) and outcome.trial.environment.name == NATIVE and outcome.status is Status.OK
    )


def _times(outcome: Outcome, metric: str) -> Iterator[tuple[tuple[str, ...], float]]:
    """Hosts and ln(time per work) of each steady sample."""
    parts = _hosts_by_instance(outcome)
    for sample in _steady(outcome.samples, metric):
        hosts = tuple(sorted(outcome.machines)) if sample.instance is None else parts.get(sample.instance, ())
        if hosts and usable(sample.value):
            yield hosts, log_time_per_work(sample.value, sample.direction)


def _steady(samples: Iterable[Sample], metric: str) -> Iterator[Sample]:
    """Single figures, without the first iteration, which is another metric."""
    own = (sample for sample in samples if sample.name == metric and not sample.coordinates)
    return (sample for sample in own if sample.iteration != 0)


def _hosts_by_instance(outcome: Outcome) -> Mapping[int, tuple[str, ...]]:
    layout, hosts = outcome.trial.layout.as_native, outcome.machines
    parts: dict[int, set[str]] = {}
    for node in range(layout.nodes):
        for instance in layout.instances_in(node):
            parts.setdefault(instance, set()).add(hosts[layout.host_of(node)])
    return {instance: tuple(sorted(own)) for instance, own in parts.items()}
