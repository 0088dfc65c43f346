# SPDX-License-Identifier: Apache-2.0
"""How often the measured program failed, run by run."""

from collections.abc import Iterable

from tare.records import Cell, FailureCount, Outcome, Status
from tare.treat.pairing import cell_of


def failure_counts(outcomes: Iterable[Outcome]) -> tuple[FailureCount, ...]:
    """Count the runs of each arm, and the failed ones; a run of several instances fails if one of them does.

    A trial that a limit, a clock or a busy machine took out says nothing about the program.
    """
    runs: dict[tuple[Cell, str], int] = {}
    failed: dict[tuple[Cell, str], int] = {}
    for outcome in outcomes:
        if outcome.status is Status.INVALID or outcome.trial.series is not None:
            continue
        arm = cell_of(outcome), outcome.trial.environment.name
        well: dict[int | None, bool] = {}
        for run in outcome.instances:
            well[run.iteration] = well.get(run.iteration, True) and run.ended_well
        runs[arm] = runs.get(arm, 0) + len(well)
        failed[arm] = failed.get(arm, 0) + sum(not ended for ended in well.values())
    return tuple(
        FailureCount(cell=cell, environment=name, runs=count, failed=failed[cell, name])
        for (cell, name), count in runs.items()
        if count
    )
