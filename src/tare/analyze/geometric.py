# SPDX-License-Identifier: Apache-2.0
"""One figure for several workloads: the geometric mean of their overheads, and of nothing else.

Fleming and Wallace, Communications of the ACM 29 (1986) 218-221: of ratios to one base only the geometric mean
does not depend on which arm is the base.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tare.analyze.contrasts import Blocks
from tare.analyze.diagnostics import holds_together
from tare.analyze.estimation import as_fraction
from tare.analyze.evidence import Reach, by_block, controls_by_block, interval
from tare.analyze.means import Quantity, arithmetic_mean
from tare.analyze.multiplicity import ERROR
from tare.records import AcrossWorkloads, Overhead, Verdict

_FEWEST_WORKLOADS = 2


def across_workloads(verdicts: Sequence[Verdict]) -> tuple[AcrossWorkloads, ...]:
    """One figure per environment and layout in which it has two workloads or more, from their primary metrics.

    In each block that is complete for all of the workloads their log-ratios are averaged; the interval is over
    blocks, each workload counting alike. Cells with a neighbour are left out: company is not a workload.
    """
    groups: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in verdicts:
        summary = verdict.overhead.summary
        if summary.primary and "+" not in summary.cell.layout:
            groups.setdefault((summary.environment, summary.cell.layout), []).append(verdict)
    found = (_judged(*key, group) for key, group in groups.items() if len(group) >= _FEWEST_WORKLOADS)
    return tuple(each for each in found if each)


def _judged(environment: str, layout: str, group: Sequence[Verdict]) -> AcrossWorkloads | None:
    """Without an interval where nothing may be claimed of one of the workloads."""
    mean = _across(environment, layout, [verdict.overhead for verdict in group])
    if mean is None or not any(verdict.withheld for verdict in group):
        return mean
    return replace(mean, overhead=replace(mean.overhead, low=None, high=None))


def _across(environment: str, layout: str, group: Sequence[Overhead]) -> AcrossWorkloads | None:
    values = [by_block(overhead) for overhead in group]
    common = [block for block in values[0] if all(block in other for other in values)]
    if not common:
        return None
    means, controls = _means(values, common), _means([controls_by_block(one) for one in group], common)
    estimate = as_fraction(interval(Blocks(means, controls), Reach.common(group, len(means)), ERROR))
    return AcrossWorkloads(
        environment=environment,
        layout=layout,
        workloads=tuple(overhead.summary.cell.workload for overhead in group),
        overhead=estimate if holds_together(means) else replace(estimate, low=None, high=None),
    )


def _means(values: Sequence[Mapping[int, float]], blocks: Sequence[int]) -> tuple[float, ...]:
    """Over workloads, for each of the blocks."""
    return tuple(arithmetic_mean([own[block] for own in values], Quantity.LOGARITHM) for block in blocks)
