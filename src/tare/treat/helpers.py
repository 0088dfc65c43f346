# SPDX-License-Identifier: Apache-2.0
"""What the environments' own processes on the host used in each block, beside the trials that they served."""

from collections.abc import Sequence

from tare.records import NATIVE, Cell, HelperSummary, Outcome, Status
from tare.treat.pairing import cell_of


def helper_summaries(outcomes: Sequence[Outcome]) -> tuple[HelperSummary, ...]:
    """One summary per cell and environment other than native, ordered by both; only ``OK`` outcomes count."""
    found: dict[tuple[Cell, str], list[Outcome]] = {}
    for outcome in sorted(outcomes, key=lambda each: each.trial.block):
        if outcome.status is Status.OK and outcome.trial.environment.name != NATIVE:
            found.setdefault((cell_of(outcome), outcome.trial.environment.name), []).append(outcome)
    keys = sorted(found, key=lambda key: (key[0].workload, key[0].layout, key[1]))
    return tuple(_summary(*key, found[key]) for key in keys)


def _summary(cell: Cell, environment: str, outcomes: Sequence[Outcome]) -> HelperSummary:
    counts = [outcome.helpers for outcome in outcomes if outcome.helpers is not None]
    return HelperSummary(
        cell=cell,
        environment=environment,
        helpers=max(counts, default=None),
        cpu_s=tuple(each.helper_cpu_s for each in outcomes if each.helper_cpu_s is not None),
        shares=tuple(
            each.helper_cpu_s / each.cpu_s
            for each in outcomes
            if each.helper_cpu_s is not None and each.cpu_s
        ),
    )
