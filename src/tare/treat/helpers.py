# SPDX-License-Identifier: Apache-2.0
"""What the environments' own processes on the host used in each block, beside the trials that they served."""

from collections.abc import Sequence

from tare.records import Cell, HelperSummary, Outcome
from tare.treat.beside import by_environment, known_times


def helper_summaries(outcomes: Sequence[Outcome]) -> tuple[HelperSummary, ...]:
    """One summary per cell and environment other than native, ordered by both; only ``OK`` outcomes count."""
    return tuple(_summary(*one) for one in by_environment(outcomes))


def _summary(cell: Cell, environment: str, outcomes: Sequence[Outcome]) -> HelperSummary:
    counts = [outcome.helpers for outcome in outcomes if outcome.helpers is not None]
    cpu_s, shares = known_times((each.helper_cpu_s, each.cpu_s) for each in outcomes)
    return HelperSummary(
        cell=cell, environment=environment, helpers=max(counts, default=None), cpu_s=cpu_s, shares=shares
    )
