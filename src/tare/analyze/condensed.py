# SPDX-License-Identifier: Apache-2.0
"""What remains unchecked in a result with too many samples to keep them all."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from tare.records import Verdict

UNSEEN = (
    "too many samples to look at iterations one by one: whether starts reached a steady state was not checked"
)


def with_unseen_iterations(verdicts: Sequence[Verdict], repeated: Collection[str]) -> tuple[Verdict, ...]:
    """Warn where a workload has several iterations; ``repeated``: the names of these workloads."""
    return tuple(
        replace(verdict, warnings=(*verdict.warnings, UNSEEN))
        if verdict.overhead.summary.cell.workload in repeated
        else verdict
        for verdict in verdicts
    )
