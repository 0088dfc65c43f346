# SPDX-License-Identifier: Apache-2.0
"""A synthetic campaign as the preset ``quick`` makes them: several workloads, some with several primary metrics."""

from dataclasses import replace

from tare.analyze import controls, in_families, verdicts
from tare.records import Analysis, Direction
from tare.treat import summaries
from tests.report.report_example import MARGIN, Figure, example, with_verdicts

QUICK = ("docker", "lxc", "systemd-nspawn", "bubblewrap")
WORKLOADS = {
    "compute": (Figure("compute", 2.1e9, "op/s", Direction.MORE, 0.004, (0.001, 0, 0.002, 0, 0)),),
    "memory": (
        Figure("memory bandwidth", 2.4e10, "B/s", Direction.MORE, 0.01, (0.002, 0, 0.001, 0, 0)),
        Figure("random access", 3.2e7, "update/s", Direction.MORE, 0.2, (0.08, 0.01, 0.05, -0.02, 0)),
    ),
    "os": (
        Figure("system calls", 2e-7, "s", Direction.LESS, 0.004, (0.04, 0.0, 0.0, 0.0, 0)),
        Figure("process start", 9e-4, "s", Direction.LESS, 0.02, (0.12, 0.03, 0.02, 0.0, 0)),
    ),
    "messages": (
        Figure("message latency", 2.3e-7, "s", Direction.LESS, 0.01, (0.004, 0, 0, 0, 0)),
        Figure("message bandwidth", 9.1e9, "B/s", Direction.MORE, 0.03, (0.35, 0, 0, 0, 0)),
    ),
}
PRIMARIES = tuple(figure.name for figures in WORKLOADS.values() for figure in figures)


def quick(blocks: int = 16, environments: tuple[str, ...] = QUICK) -> Analysis:
    parts = [
        example(blocks=blocks, figures=figures, environments=environments, workload=name, losing=False)
        for name, figures in WORKLOADS.items()
    ]
    outcomes = tuple(outcome for part in parts for outcome in part.outcomes)
    treated = [
        replace(each, primary=True) for each in summaries(outcomes, dict.fromkeys(WORKLOADS, PRIMARIES[:1]))
    ]
    judged = in_families(verdicts(treated, MARGIN))
    return with_verdicts(
        parts[0],
        judged,
        controls=controls(treated),
        outcomes=outcomes,
        planned_trials=len(outcomes),
    )
