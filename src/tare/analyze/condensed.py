# SPDX-License-Identifier: Apache-2.0
"""What is not looked at in a result with too many samples to keep each."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from tare.records import Verdict

UNSEEN = (
    "too many samples to look at iterations one by one: whether starts reached a steady state was not checked"
)


def with_unseen_iterations(verdicts: Sequence[Verdict], repeated: Collection[str]) -> tuple[Verdict, ...]:
    """Warn of it where a workload has several iterations; ``repeated``: the names of those workloads."""
    return tuple(
        replace(verdict, warnings=(*verdict.warnings, UNSEEN))
        if verdict.overhead.summary.cell.workload in repeated
        else verdict
        for verdict in verdicts
    )
