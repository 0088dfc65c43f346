# SPDX-License-Identifier: Apache-2.0
"""The synthetic analyses with all that sets claims, environments and levels against each other."""

from tare.analyze import across_workloads, arm_spreads, diagnosed, in_families, rankings
from tare.records import Analysis, Cell, Estimate, VarianceSplit
from tare.treat import predecessors
from tests.report.report_example import with_verdicts


def compared(analysis: Analysis) -> Analysis:
    """As the pipeline does it; the levels of noise are made up, as these samples have one iteration each."""
    judged = in_families(diagnosed(analysis.verdicts, predecessors(analysis.outcomes)))
    return with_verdicts(
        analysis,
        judged,
        rankings=rankings(judged),
        across_workloads=across_workloads(judged),
        spreads=arm_spreads([verdict.overhead.summary for verdict in judged]),
        variances=(split(),),
    )


def split(best: int | None = 7) -> VarianceSplit:
    def of(point: float) -> Estimate:
        return Estimate(point=point, low=0.0, high=4e-4, level=0.95, n=10)

    return VarianceSplit(
        cell=Cell(workload="hpcc", layout="1c2p1i"),
        environment="docker",
        metric="hpl_flop_per_s",
        between_blocks=of(1e-4),
        between_starts=of(-1e-6),
        between_iterations=of(1e-4),
        iterations=5.0,
        best_iterations=best,
        start_cost_s=30.0 if best else None,
        iteration_cost_s=10.0 if best else None,
    )
