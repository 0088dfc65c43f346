# SPDX-License-Identifier: Apache-2.0
"""One figure for several workloads: the geometric mean of their overheads only.

Fleming and Wallace, Communications of the ACM 29 (1986) 218-221: for ratios to a base, only the geometric mean does not
depend on the choice of base.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tare.analyze.contrasts import against_natives
from tare.analyze.looks import by_block, common_reach, controls_by_block
from tare.records import AcrossWorkloads, Estimate, Overhead, Verdict
from tare.statistics.contrasts import widened
from tare.statistics.estimate import as_fraction
from tare.statistics.evidence import interval
from tare.statistics.multiplicity import ERROR

_FEWEST_WORKLOADS = 2


def across_workloads(verdicts: Sequence[Verdict]) -> tuple[AcrossWorkloads, ...]:
    """One figure per environment and layout with two workloads or more, from their primary metrics.

    In each block that is complete for all workloads, log-ratios are averaged first over a workload's primary metrics,
    then over workloads, each with equal weight; the interval is over blocks. Cells with a neighbour are left out:
    company is not a workload.
    """
    groups: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in verdicts:
        summary = verdict.overhead.summary
        if summary.primary and "+" not in summary.cell.layout:
            groups.setdefault((summary.environment, summary.cell.layout), []).append(verdict)
    judged = (_judged(*key, group) for key, group in groups.items() if _workloads(group))
    return tuple(each for each in judged if each)


def _workloads(group: Sequence[Verdict]) -> tuple[str, ...]:
    """Distinct workloads of the group; empty if there are too few."""
    named = tuple(dict.fromkeys(verdict.overhead.summary.cell.workload for verdict in group))
    return named if len(named) >= _FEWEST_WORKLOADS else ()


def _judged(environment: str, layout: str, group: Sequence[Verdict]) -> AcrossWorkloads | None:
    """The figure of one group, without an interval where nothing may be claimed of one workload."""
    estimate = _across([verdict.overhead for verdict in group])
    if estimate is None:
        return None
    withheld = any(verdict.set_aside for verdict in group)
    return AcrossWorkloads(
        environment=environment,
        layout=layout,
        workloads=_workloads(group),
        overhead=replace(estimate, low=None, high=None) if withheld else estimate,
    )


def _across(group: Sequence[Overhead]) -> Estimate | None:
    values = [by_block(overhead) for overhead in group]
    common = [block for block in values[0] if all(block in other for other in values)]
    if not common:
        return None
    names = [overhead.summary.cell.workload for overhead in group]
    means = _means(names, values, common)
    controls = _means(names, [controls_by_block(overhead) for overhead in group], common)
    reach = common_reach(group, len(means))
    return as_fraction(interval(widened(against_natives(means, controls)), reach, ERROR))


def _means(
    workloads: Sequence[str], values: Sequence[Mapping[int, float]], blocks: Sequence[int]
) -> tuple[float, ...]:
    """Mean over workloads of the mean over their metrics, for each block."""
    groups = [
        [own for name, own in zip(workloads, values, strict=True) if name == workload]
        for workload in dict.fromkeys(workloads)
    ]
    return tuple(_mean(_mean(own[block] for own in group) for group in groups) for block in blocks)


def _mean(logarithms: Iterable[float]) -> float:
    values = list(logarithms)
    return math.fsum(values) / len(values)
